"""Llama-3.1-8B as five quantisers write it: real dimensions, layouts by the rules of their writers.

Linear layers [N, K] of attention and MLP are packed; embeddings, norms and head stay BF16 (F16 for AWQ and GPTQ)
except in MLX, which packs the first and the last too. Sources: AutoAWQ `WQLinear_GEMM`, GPTQModel
`_register_gptq_buffers`, bitsandbytes `QuantState.as_dict(packed=True)`, mlx `quantize`, NVIDIA ModelOpt
`to_quantized_weight`. 8,030,261,248 weights in each, as published for the plain release.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from scripts.layouts.tensors import Tensor

PARAMETERS = 8_030_261_248

_HIDDEN, _INNER, _KV, _LAYERS, _VOCABULARY = 4096, 14336, 1024, 32, 128256
_LINEARS = (
    ("self_attn.q_proj", _HIDDEN, _HIDDEN),
    ("self_attn.k_proj", _KV, _HIDDEN),
    ("self_attn.v_proj", _KV, _HIDDEN),
    ("self_attn.o_proj", _HIDDEN, _HIDDEN),
    ("mlp.gate_proj", _INNER, _HIDDEN),
    ("mlp.up_proj", _INNER, _HIDDEN),
    ("mlp.down_proj", _HIDDEN, _INNER),
)

Linear = Callable[[str, int, int], Iterator[Tensor]]


def awq(base: str, out: int, inn: int) -> Iterator[Tensor]:
    """gemm: eight values per I32 along the output, groups of 128 along the input."""
    yield Tensor(f"{base}.qweight", "I32", (inn, out // 8))
    yield Tensor(f"{base}.qzeros", "I32", (inn // 128, out // 8))
    yield Tensor(f"{base}.scales", "F16", (inn // 128, out))


def gptq(base: str, out: int, inn: int) -> Iterator[Tensor]:
    """Eight values per I32 along the input, groups of 128, an index of groups."""
    yield Tensor(f"{base}.qweight", "I32", (inn // 8, out))
    yield Tensor(f"{base}.qzeros", "I32", (inn // 128, out // 8))
    yield Tensor(f"{base}.scales", "F16", (inn // 128, out))
    yield Tensor(f"{base}.g_idx", "I32", (inn,))


def bnb(base: str, out: int, inn: int) -> Iterator[Tensor]:
    """NF4 in blocks of 64, their maxima quantised again in blocks of 256."""
    blocks = out * inn // 64
    yield Tensor(f"{base}.weight", "U8", (out * inn // 2, 1))
    yield Tensor(f"{base}.weight.absmax", "U8", (blocks,))
    yield Tensor(f"{base}.weight.nested_absmax", "F32", (-(-blocks // 256),))
    yield Tensor(f"{base}.weight.nested_quant_map", "F32", (256,))
    yield Tensor(f"{base}.weight.quant_map", "F32", (16,))
    yield Tensor(f"{base}.weight.quant_state.bitsandbytes__nf4", "U8", (86,))


def mlx(base: str, out: int, inn: int) -> Iterator[Tensor]:
    """Affine: eight values per U32 along the input, groups of 64."""
    yield Tensor(f"{base}.weight", "U32", (out, inn // 8))
    yield Tensor(f"{base}.scales", "BF16", (out, inn // 64))
    yield Tensor(f"{base}.biases", "BF16", (out, inn // 64))


def nvfp4(base: str, out: int, inn: int) -> Iterator[Tensor]:
    """Two E2M1 per byte, one E4M3 scale per 16, one F32 per tensor."""
    yield Tensor(f"{base}.weight", "U8", (out, inn // 2))
    yield Tensor(f"{base}.weight_scale", "F8_E4M3", (out, inn // 16))
    yield Tensor(f"{base}.weight_scale_2", "F32", ())
    yield Tensor(f"{base}.input_scale", "F32", ())


def tensors(linear: Linear, plain: str, *, ends: bool = False) -> Iterator[Tensor]:
    """The model with its linear layers stored by `linear`; `ends`: embedding and head too."""
    for name in ("model.embed_tokens", "lm_head"):
        if ends:
            yield from linear(name, _VOCABULARY, _HIDDEN)
        else:
            yield Tensor(f"{name}.weight", plain, (_VOCABULARY, _HIDDEN))
    yield Tensor("model.norm.weight", plain, (_HIDDEN,))
    for layer in range(_LAYERS):
        at = f"model.layers.{layer}"
        yield Tensor(f"{at}.input_layernorm.weight", plain, (_HIDDEN,))
        yield Tensor(f"{at}.post_attention_layernorm.weight", plain, (_HIDDEN,))
        for name, out, inn in _LINEARS:
            yield from linear(f"{at}.{name}", out, inn)


def _config(**quantisation: Any) -> dict[str, Any]:
    key = quantisation.pop("key", "quantization_config")
    attention = {
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "max_position_embeddings": 131072,
    }
    sizes = {"hidden_size": _HIDDEN, "intermediate_size": _INNER, "num_hidden_layers": _LAYERS}
    return {"model_type": "llama", **sizes, **attention, "torch_dtype": "bfloat16", key: quantisation}


BUILDS: Mapping[str, tuple[Callable[[], Iterator[Tensor]], dict[str, Any]]] = MappingProxyType(
    {
        "NVFP4 (ModelOpt)": (
            lambda: tensors(nvfp4, "BF16"),
            _config(quant_method="modelopt", quant_algo="NVFP4", ignore=["lm_head"]),
        ),
        "AWQ": (
            lambda: tensors(awq, "F16"),
            _config(quant_method="awq", bits=4, group_size=128, version="gemm", zero_point=True),
        ),
        "GPTQ": (
            lambda: tensors(gptq, "F16"),
            _config(quant_method="gptq", bits=4, group_size=128, desc_act=True, sym=True, checkpoint_format="gptq"),
        ),
        "MLX 4-bit": (
            lambda: tensors(mlx, "BF16", ends=True),
            _config(key="quantization", group_size=64, bits=4, mode="affine"),
        ),
        "bitsandbytes 4-bit": (
            lambda: tensors(bnb, "BF16"),
            _config(
                quant_method="bitsandbytes",
                load_in_4bit=True,
                bnb_4bit_quant_type="nf4",
                bnb_4bit_use_double_quant=True,
                bnb_4bit_quant_storage="uint8",
            ),
        ),
    }
)
"""Quantiser -> (tensors, config.json)."""
