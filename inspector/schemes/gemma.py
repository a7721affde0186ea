"""Gemma QAT: 2, 4 or 8 bits a weight in rows of bytes, embeddings too, with static activation scales.

`X.weight` U8 [N, ceil(K / 4)] or [N, ceil(K / 2)], or I8 [N, K]; `X.weight_scale` F32 [N, 1]; `X.embedding_quantized`
with `X.embedding_scale` [V, blocks]; activation scales; `k_cache_scale` and `v_cache_scale` of an attention. Whether
a byte holds two or four values is said by the config alone (`num_bits`, `module_quant_configs`). Source: transformers
`integrations/gemma_quant.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "gemma"
_ACTIVATIONS: Final = (".input_activation_scale", ".output_activation_scale")
_CACHE: Final = (".k_cache_scale", ".v_cache_scale")
_PAIRS: Final = ((".weight", ".weight_scale"), (".embedding_quantized", ".embedding_scale"))
ROLES = (*(r for pair in _PAIRS for r in pair), *_ACTIVATIONS, *_CACHE)


def recognise(group: Group) -> Claim | None:
    """Declared bytes under one scale per row, or the cache's scales by themselves."""
    if group.tensors.keys() <= set(_CACHE):
        return Claim(NAME, None, 0, (), tuple(group.tensors), evidence="scales of the KV cache")
    for payload, scales in _PAIRS:
        weight, scale = group.tensors.get(payload), group.tensors.get(scales)
        if weight is not None and scale is not None and group.declared.method == NAME:
            return _rows(group, payload, scales, weight, scale)
    return None


def _rows(group: Group, payload: str, scales: str, weight: Stored, scale: Stored) -> Claim | None:
    others = tuple(r for r in _ACTIVATIONS if r in group.tensors)
    bits = 8 if weight.dtype == "I8" else group.declared.bits
    if len(weight.shape) != 2 or weight.dtype not in ("U8", "I8") or foreign(group, (payload, scales, *others)):
        return None
    if bits not in (2, 4, 8) or (bits == 8) != (weight.dtype == "I8") or scale.dtype not in WIDE:
        return None
    columns = weight.shape[1] * 8 // bits
    if len(scale.shape) != 2 or scale.shape[0] != weight.shape[0] or not scale.shape[1] or columns % scale.shape[1]:
        return None
    return Claim(
        NAME,
        Precision(f"int{bits}", bits, (1, columns // scale.shape[1])),
        weight.shape[0] * columns,
        (payload,),
        (scales, *others),
        shape=(weight.shape[0], columns),
        evidence=f"{told(group.tensors, payload, scales)}: {8 // bits} value(s) per byte, {bits} bits",
    )
