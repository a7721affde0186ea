"""MXFP6, packed: four 6-bit floats in three bytes along K, one E8M0 scale per 32.

`X.weight_packed` (compressed-tensors `mxfp6-pack-quantized`, E2M3) or `X.weight` (Quark, E2M3 or E3M2) U8 [N, 3K/4]
with `X.weight_scale` U8 or F8_E8M0 [N, K/32]: 24 bytes per scale. Which of the two floats is the config's to say;
bits and numbers are the same. Source: OCP Microscaling Formats v1.0; Quark `export/nn/modules` (`Pack_fp6`).
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import extras, weight_entry
from inspector.storing.packing import MX, MX_SCALES, axis, logical

NAME = "mxfp6"
_PAIRS: Final = (
    (".weight", ".weight_scale"),
    (".weight_packed", ".weight_scale"),
    ("_weight", "_weight_scale"),
    ("", "_weight_scale"),
)
ROLES = (".weight", "_weight", ".weight_packed", ".weight_scale", "_weight_scale")
_BYTES: Final = 3 * MX // 4


def recognise(group: Group) -> Claim | None:
    """Bytes of which exactly 24 share an E8M0 scale."""
    pairs = [(p, s) for p, s in _PAIRS if p in group.tensors and s in group.tensors]
    if len(pairs) != 1 or ".weight_zero_point" in group.tensors:
        return None
    payload, role = pairs[0]
    weight, scale = group.tensors[payload], group.tensors[role]
    if weight.dtype != "U8" or scale.dtype not in MX_SCALES:
        return None
    at = axis(weight.shape, scale.shape, _BYTES)
    if at is None:
        return None
    shape = logical(weight.shape, at, 4, 3)
    others = extras(group, shape)
    if others is None:
        return None
    return Claim(
        NAME,
        Precision(variant(group), 6, (1, MX)),
        weight.elements * 4 // 3,
        (payload,),
        (role, *others),
        shape=shape,
        evidence=f"{told(group.tensors, payload, role)}: four 6-bit floats in three bytes, one E8M0 scale per {MX}",
    )


def variant(group: Group) -> str:
    """`fp6_e3m2` where the weight's declared dtype says so, else `fp6_e2m3`."""
    entry = weight_entry(group.declared)
    words = [entry.get(k) for k in ("dtype", "mx_element_dtype", "type", "element_dtype", "data_type")]
    return "fp6_e3m2" if any(isinstance(w, str) and "e3m2" in w.lower() for w in words) else "fp6_e2m3"
