"""ModelOpt's 4-bit integers (W4A16_AWQ, W4A8_AWQ): U8 [N/2, K], packed along the output axis.

`X.weight_scale` [N, K/g], `X.pre_quant_scale` [K], for W4A8 `X.weight_scale_2`. Scales with exactly twice as many
rows as the bytes have no other known reading; N, K and g are all in the shapes. Fused experts are [E, N/2, K].
Source: ModelOpt `export/quant_utils.py` (`pack_int4_in_uint8`).
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Note, Precision
from inspector.storing.blocks import block_of, told
from inspector.storing.companions import extras
from inspector.storing.dtypes import WIDE

NAME = "modelopt_int4"
_PAIRS: Final = ((".weight", ".weight_scale"), ("_weight", "_weight_scale"), ("", "_weight_scale"))
ROLES = (".weight", "_weight", ".weight_scale", "_weight_scale")
_LEAST: Final = 16


def recognise(group: Group) -> Claim | None:
    """Bytes under scales of twice as many rows, each scale for a whole group of 16 columns or more."""
    pairs = [(p, s) for p, s in _PAIRS if p in group.tensors and s in group.tensors]
    if len(pairs) != 1 or ".weight_zero_point" in group.tensors:
        return None
    payload, role = pairs[0]
    weight, scale = group.tensors[payload], group.tensors[role]
    if weight.dtype != "U8" or scale.dtype not in WIDE | {"F8_E4M3"} or not weight.elements:
        return None
    if not 2 <= len(weight.shape) == len(scale.shape) or weight.shape[:-2] != scale.shape[:-2]:
        return None
    if scale.shape[-2] != 2 * weight.shape[-2]:
        return None
    columns = weight.shape[-1]
    size = block_of(columns, scale.shape[-1], group.declared.group)
    shape = (*weight.shape[:-2], scale.shape[-2], columns)
    others = extras(group, shape)
    if size is None or size < _LEAST or others is None:
        return None
    return Claim(
        NAME,
        Precision("int4", 4, (1, size)),
        2 * weight.elements,
        (payload,),
        (role, *others),
        shape=shape,
        evidence=f"{told(group.tensors, payload, role)}: two rows per byte, one scale per {size}",
        notes=_differs(group, size),
    )


def _differs(group: Group, size: int) -> tuple[Note, ...]:
    said = group.declared.group
    if said in (None, size):
        return ()
    words = f"{group.declared.where} says groups of {said}, the shapes say {size}; the shapes are believed"
    return (Note("config_contradicts_headers", words, group.base),)
