"""MXFP4 with a plain scale tensor: two E2M1 values per U8 along K, one E8M0 scale per 32.

`X.weight_packed` (compressed-tensors `mxfp4-pack-quantized`; Kimi-K3) or `X.weight` (Quark, ModelOpt W4A8_MXFP4_FP8)
U8 [N, K/2] with `X.weight_scale` U8 or F8_E8M0 [N, K/32]. The scale has the packed weight's dtype: sixteen bytes
per scale tell the two apart. ModelOpt's fused experts [E, K/2, N] are transposed.
Source: OCP Microscaling Formats v1.0; compressed-tensors `compressors/mxfp4`; Quark `export/nn/modules`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import extras
from inspector.storing.packing import MX, MX_SCALES, axis, logical

NAME = "mxfp4"
_PAIRS: Final = (
    (".weight", ".weight_scale"),
    (".weight", ".weight_scale_inv"),
    (".weight_packed", ".weight_scale"),
    ("_weight", "_weight_scale"),
    ("", "_weight_scale"),
)
ROLES = (".weight", "_weight", ".weight_packed", ".weight_scale", ".weight_scale_inv", "_weight_scale")


def recognise(group: Group) -> Claim | None:
    """Bytes of which exactly sixteen share an E8M0 scale."""
    pairs = [(p, s) for p, s in _PAIRS if p in group.tensors and s in group.tensors]
    if len(pairs) != 1 or ".weight_zero_point" in group.tensors:
        return None
    payload, role = pairs[0]
    weight, scale = group.tensors[payload], group.tensors[role]
    if weight.dtype != "U8" or scale.dtype not in MX_SCALES:
        return None
    at = axis(weight.shape, scale.shape, MX // 2)
    if at is None:
        return None
    shape = logical(weight.shape, at, 2)
    others = extras(group, shape)
    if others is None:
        return None
    return Claim(
        NAME,
        Precision("fp4_e2m1", 4, (1, MX)),
        2 * weight.elements,
        (payload,),
        (role, *others),
        shape=shape,
        evidence=f"{told(group.tensors, payload, role)}: two E2M1 per byte, one E8M0 scale per {MX}",
    )
