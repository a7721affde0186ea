"""FP4 in I8: two E2M1 values per byte, one F8_E8M0 scale per 32 weights along K.

`X.weight` I8 [N, K/2] with `X.scale` F8_E8M0 [N, K/32]: routed experts of DeepSeek-V4 and V4.1
(low nibble first; `expert_dtype` "fp4" in their configs); as transformers saves them, `X.weight_scale_inv`, or fused
`gate_up_proj` [E, 2I, H/2] with `gate_up_proj_scale_inv`. The pairing decides, not the config: I8 beside E8M0 scales
at 16 bytes per scale has no other known reading. Source: transformers `integrations/finegrained_fp8.py` (`FP8Experts`).
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told

NAME = "fp4_in_int8"
_PAIRS: Final = (
    (".weight", ".scale"),
    (".weight", ".weight_scale_inv"),
    (".weight", ".weight_scale"),
    ("_weight", "_weight_scale_inv"),
    ("", "_scale_inv"),
)
ROLES = (".weight", "_weight", "_weight_scale_inv", ".scale", ".weight_scale_inv", ".weight_scale", "_scale_inv")
_GROUP: Final = 32


def recognise(group: Group) -> Claim | None:
    """I8 with 16 bytes (32 nibbles) of every row under one E8M0 scale."""
    pairs = [(p, s) for p, s in _PAIRS if p in group.tensors and s in group.tensors]
    if len(pairs) != 1:
        return None
    payload, role = pairs[0]
    weight, scale = group.tensors[payload], group.tensors[role]
    if weight.dtype != "I8" or scale.dtype != "F8_E8M0":
        return None
    if len(weight.shape) < 2 or weight.shape[:-1] != scale.shape[:-1]:
        return None
    columns = 2 * weight.shape[-1]
    if scale.shape[-1] != -(-columns // _GROUP):
        return None
    return Claim(
        NAME,
        Precision("fp4_e2m1", 4, (1, _GROUP)),
        2 * weight.elements,
        (payload,),
        (role,),
        shape=(*weight.shape[:-1], columns),
        evidence=f"{told(group.tensors, payload, role)}: two E2M1 per byte, one scale per {_GROUP}",
    )
