"""zai-org/GLM-5.3-Flash with every routed expert, the draft layer's too, as ModelOpt NVFP4; the rest as in -BF16.

By the rule of NVIDIA ModelOpt `to_quantized_weight`: two E2M1 per byte, one E4M3 scale per 16 along the input, two F32
scalars per tensor. 194,644,952,184 tensor bytes: the size class of the 182 GiB builds that run on two DGX Sparks.
"""

from __future__ import annotations

from collections.abc import Iterator

from scripts.layouts.glm53 import LIMIT, Layout
from scripts.layouts.glm53_config import config
from scripts.layouts.llama_quantised import nvfp4
from scripts.layouts.recording import Json
from scripts.layouts.tensors import Tensor, greedy

TENSOR_BYTES = 194_644_952_184


class Nvfp4(Layout):
    """All tensors of the build."""

    def __init__(self) -> None:
        super().__init__(fp8=False)

    def linear(self, base: str, out: int, inn: int) -> None:
        """A routed expert's linear is packed, any other is BF16."""
        if ".mlp.experts." in base:
            self.extend(nvfp4(base, out, inn))
        else:
            super().linear(base, out, inn)


def shards() -> Iterator[list[Tensor]]:
    """The build in files of up to 5 GiB."""
    yield from greedy(Nvfp4(), LIMIT)


def described() -> dict[str, Json]:
    """Its config.json, with what ModelOpt writes about itself."""
    groups = {
        "weights": {"num_bits": 4, "type": "float", "group_size": 16},
        "input_activations": {"num_bits": 4, "type": "float", "group_size": 16},
        "targets": ["Linear"],
    }
    return config(
        {
            "quant_method": "modelopt",
            "quant_algo": "NVFP4",
            "config_groups": {"group_0": groups},
            "ignore": ["lm_head", "*self_attn*", "*shared_experts*", "model.visual*", "*eh_proj*", "*.mlp.gate"],
        }
    )
