"""W4AFp8: INT4 experts, two to an I8 along K, with wide scales named as FP8's.

`X.weight` I8 [N, K/2] with `X.weight_scale_inv` [N, K/g], or fused `w13_weight` [E, 2I, H/2] with
`w13_weight_scale_inv`. Sixty-four I8 under a scale may be 128 INT4 or 64 INT8: `quant_method` "w4afp8" (or 4
declared bits) says which.
Source: sglang `layers/quantization/w4afp8.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import block_of, told
from inspector.storing.dtypes import WIDE

NAME = "w4afp8"
_PAIRS: Final = ((".weight", ".weight_scale_inv"), ("_weight", "_weight_scale_inv"), ("", "_scale_inv"))
ROLES = (".weight", "_weight", ".weight_scale_inv", "_weight_scale_inv", "_scale_inv")
_LEAST: Final = 32


def recognise(group: Group) -> Claim | None:
    """I8 with a scale for every group of a row, declared as 4 bits."""
    pairs = [(p, s) for p, s in _PAIRS if p in group.tensors and s in group.tensors]
    if len(pairs) != 1 or (group.declared.method != NAME and group.declared.bits != 4):
        return None
    payload, role = pairs[0]
    weight, scale = group.tensors[payload], group.tensors[role]
    if weight.dtype != "I8" or scale.dtype not in WIDE or len(weight.shape) < 2 or not weight.elements:
        return None
    if len(scale.shape) != len(weight.shape) or scale.shape[:-1] != weight.shape[:-1]:
        return None
    columns = 2 * weight.shape[-1]
    size, said = block_of(columns, scale.shape[-1], group.declared.group), group.declared.group
    if size is None or size < _LEAST or said not in (None, size):
        return None
    return Claim(
        NAME,
        Precision("int4", 4, (1, size)),
        2 * weight.elements,
        (payload,),
        (role,),
        shape=(*weight.shape[:-1], columns),
        evidence=f"{told(group.tensors, payload, role)}: two INT4 per I8 (quant_method {group.declared.method}), "
        f"one scale per {size}",
    )
