"""quanto: the inner tensors of its weight classes under the weight's own name.

qint8, qfloat8: `X.weight._data` I8 / F8 [N, K] with `X.weight._scale` [N, 1]. qint4, qint2: `X.weight._data._data`
U8, two or four values per byte along the first dimension of the [N K / g, g] view, with `._scale` and `._shift` [N K
/ g, 1] (axis 0; axis -1 has [g, groups] and needs `quanto_qmap.json` for the bits). Source: optimum-quanto
`tensor/weights/qbits.py`, `tensor/packed.py`, `tensor/grouped.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import FLOATS, FP8, WIDE

NAME = "quanto"
_BITS: Final = ".weight._data._data"
_WHOLE: Final = ".weight._data"
ROLES = (_BITS, _WHOLE, ".weight._scale", ".weight._shift", ".input_scale", ".output_scale")


def recognise(group: Group) -> Claim | None:
    """Bytes or floats with one scale per row, or packed groups counted by their scales."""
    scale = group.tensors.get(".weight._scale")
    if scale is None or scale.dtype not in WIDE or foreign(group, ROLES):
        return None
    payload = _BITS if _BITS in group.tensors else _WHOLE
    weight = group.tensors.get(payload)
    if (
        weight is None
        or len(weight.shape) < 2
        or not weight.elements
        or (_BITS in group.tensors and _WHOLE in group.tensors)
    ):
        return None
    found = _packed(group, weight, scale) if payload == _BITS else _whole(weight, scale)
    if found is None:
        return None
    precision, parameters = found
    return Claim(
        NAME,
        precision,
        parameters,
        (payload,),
        tuple(r for r in ROLES[2:] if r in group.tensors),
        evidence=f"{told(group.tensors, payload, *ROLES[2:4])}: {parameters:,} weights of {precision.bits} bits",
    )


def _whole(weight: Stored, scale: Stored) -> tuple[Precision, int] | None:
    rows = scale.elements == weight.shape[0] and scale.shape[:1] == weight.shape[:1]
    if not rows and scale.elements != 1:
        return None
    size = weight.elements // weight.shape[0]
    block = (1, size) if rows else (weight.shape[0], size)
    if weight.dtype == "I8":
        return Precision("int8", 8, block), weight.elements
    if weight.dtype in FP8:
        name, bits = FLOATS[weight.dtype]
        return Precision(name, bits, block), weight.elements
    return None


def _packed(group: Group, weight: Stored, scale: Stored) -> tuple[Precision, int] | None:
    shift = group.tensors.get(".weight._shift")
    if weight.dtype != "U8" or len(weight.shape) != 2 or len(scale.shape) != 2:
        return None
    if shift is None or shift.shape != scale.shape:
        return None
    rows, width = weight.shape
    groups = scale.elements
    if scale.shape[1] == 1 and groups > 1:
        fits = [b for b in (4, 2) if rows == -(-groups * b // 8)]
        size = width
    elif scale.shape[0] == 1 and groups == width:
        fits = [b for b in (4, 2) if b == group.declared.bits]
        size = 8 * rows // fits[0] if fits else 0
    else:
        return None
    return (Precision(f"uint{fits[0]}", fits[0], (1, size)), groups * size) if len(fits) == 1 else None
