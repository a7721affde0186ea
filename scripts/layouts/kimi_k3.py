"""moonshotai/Kimi-K3: 494,592 expert tensors as published, 2,628 others of which only the sums are known.

compressed-tensors `mxfp4-pack-quantized`: `weight_packed` U8 [N, K/2], `weight_scale` U8 [N, K/32]; layers 1 to 92
with 896 experts each. Published: 497,220 tensors, 1,560,860,324,864 bytes; by the Hub F32 11,122,432, BF16
57,179,884,544 and U8 2,722,740,830,208 values. The names and shapes of the 2,628 are inferred, and say so.
"""

from __future__ import annotations

from collections.abc import Iterator

from scripts.layouts.recording import Json
from scripts.layouts.tensors import Tensor

TENSORS = 497_220
TENSOR_BYTES = 1_560_860_324_864
PARAMETERS = 2_779_931_837_184
BF16, F32 = 57_179_884_544, 11_122_432

_LAYERS = range(1, 93)
_EXPERTS = 896
_SHAPES = {"w1": (3072, 3584), "w2": (3584, 3072), "w3": (3072, 3584)}
_OTHERS = 2_628

CONFIG: dict[str, Json] = {
    "model_type": "kimi_k3",
    "text_config": {
        "model_type": "kimi_k3_text",
        "num_hidden_layers": 93,
        "quantization_config": {
            "quant_method": "compressed-tensors",
            "format": "mxfp4-pack-quantized",
            "config_groups": {
                "group_0": {
                    "targets": ["Linear"],
                    "format": "mxfp4-pack-quantized",
                    "weights": {"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32},
                }
            },
            "ignore": ["lm_head", "re:.*self_attn.*", "re:.*shared_experts.*", "re:.*inferred.*"],
        },
    },
}


def experts(layer: int) -> Iterator[Tensor]:
    """The 5,376 tensors of one layer's experts."""
    for expert in range(_EXPERTS):
        base = f"language_model.model.layers.{layer}.block_sparse_moe.experts.{expert}"
        for name, (rows, columns) in _SHAPES.items():
            yield Tensor(f"{base}.{name}.weight_packed", "U8", (rows, columns // 2))
            yield Tensor(f"{base}.{name}.weight_scale", "U8", (rows, columns // 32))


def others() -> Iterator[Tensor]:
    """Tensors without a published layout: as many as there are, with the published sums of elements."""
    narrow = len(_LAYERS)
    for number in range(narrow):
        yield Tensor(f"language_model.inferred.f32.{number}", "F32", (F32 // narrow,))
    wide = _OTHERS - narrow
    each = BF16 // wide
    for number in range(wide - 1):
        yield Tensor(f"language_model.inferred.bf16.{number}", "BF16", (each,))
    yield Tensor(f"language_model.inferred.bf16.{wide - 1}", "BF16", (BF16 - each * (wide - 1),))


def shards() -> Iterator[list[Tensor]]:
    """One shard per layer of experts, and one for the rest (96 are published; which holds what of it is not)."""
    for layer in _LAYERS:
        yield list(experts(layer))
    yield list(others())
