"""Plain floats: the dtype is the precision. Also raw casts to FP8 without scales (diffusion single files).

A learnable `.scale` (layer scale, `q_norm.scale` of Inkling2) is a parameter: it is a vector and no packed weight
stands beside it. Scales of a quantiser are grids, and the roles that only quantisers use keep this scheme away.
"""

from __future__ import annotations

from inspector.dtypes import FLOATS, WIDE
from inspector.model import Claim, Group, Precision

NAME = "dense"
ROLES = (".weight",)
_LEARNABLE = (".scale", "_scale")


def recognise(group: Group) -> Claim | None:
    """Floats that nothing re-reads: a weight alone, or with learnable vectors and activation scales beside it."""
    payload = [r for r in group.tensors if r in ("", ".weight") or (r in _LEARNABLE and _vector(group, r))]
    dtypes = {group.tensors[r].dtype for r in payload}
    if not payload or len(dtypes) != 1 or not dtypes <= FLOATS.keys():
        return None
    others = group.tensors.keys() - set(payload)
    if any(not r.endswith(("put_scale", "activation_scale")) for r in others):
        return None
    dtype = dtypes.pop()
    if dtype not in WIDE and len(group.tensors) > 1:
        return None
    name, bits = FLOATS[dtype]
    elements = sum(group.tensors[r].elements for r in payload)
    first = group.tensors[payload[0]]
    return Claim(
        NAME,
        Precision(name, bits),
        elements,
        tuple(payload),
        shape=first.shape,
        evidence=f"{dtype} {list(first.shape)}, no scale beside it",
    )


def _vector(group: Group, role: str) -> bool:
    tensor = group.tensors[role]
    return len(tensor.shape) <= 1 and tensor.dtype in WIDE
