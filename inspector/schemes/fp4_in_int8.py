"""FP4 in I8: two E2M1 values per byte, one F8_E8M0 scale per 32 weights along K.

`X.weight` I8 [N, K/2] with `X.scale` F8_E8M0 [N, K/32]: routed experts of DeepSeek-V4 and V4.1
(low nibble first; `expert_dtype` "fp4" in their configs). The pairing decides, not the config: I8 beside E8M0 scales
at 16 bytes per scale has no other known reading.
"""

from __future__ import annotations

from inspector.model import Claim, Group, Precision

NAME = "fp4_in_int8"
ROLES = (".weight", ".scale")
_GROUP = 32


def recognise(group: Group) -> Claim | None:
    """I8 with 16 bytes (32 nibbles) of every row under one E8M0 scale."""
    weight, scale = group.tensors.get(".weight"), group.tensors.get(".scale")
    if weight is None or scale is None or weight.dtype != "I8" or scale.dtype != "F8_E8M0":
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
        (".weight",),
        (".scale",),
        shape=(*weight.shape[:-1], columns),
        evidence=f"I8 {list(weight.shape)} with .scale F8_E8M0 {list(scale.shape)}: two E2M1 per byte, "
        f"one scale per {_GROUP}",
    )
