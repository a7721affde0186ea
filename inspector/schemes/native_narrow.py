"""FP4 and FP6 in safetensors' own dtypes, with scales: the header's shape counts elements, not bytes.

`X.weight` (or `weight_packed`, or a fused `gate_up_proj`) F4, F6_E2M3 or F6_E3M2 [N, K] with a scale grid over it:
E8M0 per 32, E4M3 per 16, or wide. Alone they are plain floats. Source: safetensors 0.8.0 `tensor.rs` (torch's
`float4_e2m1fn_x2` [N, K/2] is written as [N, K]).
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import grid, told
from inspector.storing.companions import extras
from inspector.storing.dtypes import FLOATS, WIDE

NAME = "native_narrow"
_PAYLOADS: Final = (".weight", ".weight_packed", "_weight", "")
_SCALES: Final = (".weight_scale", ".weight_scale_inv", ".scale", "_weight_scale", "_scale_inv", "_scale")
ROLES = (".weight", ".weight_packed", "_weight", *_SCALES)
_NARROW: Final = frozenset({"F4", "F6_E2M3", "F6_E3M2"})
_SCALE_DTYPES: Final = frozenset({"F8_E8M0", "U8", "F8_E4M3"}) | WIDE


def recognise(group: Group) -> Claim | None:
    """Narrow floats with exactly one first scale that is a plausible grid over the logical shape."""
    payloads = [r for r in _PAYLOADS if r in group.tensors]
    scales = [r for r in _SCALES if r in group.tensors]
    if len(payloads) != 1 or len(scales) != 1:
        return None
    payload, role = payloads[0], scales[0]
    weight, scale = group.tensors[payload], group.tensors[role]
    if weight.dtype not in _NARROW or scale.dtype not in _SCALE_DTYPES:
        return None
    block = grid(weight.shape, scale.shape)
    others = extras(group, weight.shape)
    if block is None or others is None:
        return None
    name, bits = FLOATS[weight.dtype]
    return Claim(
        NAME,
        Precision(name, bits, block),
        weight.elements,
        (payload,),
        (role, *others),
        shape=weight.shape,
        evidence=f"{told(group.tensors, payload, role)}: one scale per {block[0]}x{block[1]}",
    )
