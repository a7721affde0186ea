"""compressed-tensors' sparse formats: the kept values, and one bit per logical weight that says where they belong.

`sparse-24-bitmask`: `X.compressed` [N, K/2], `X.bitmask` U8 [N, K/8], `X.shape` [2]. `sparse-bitmask`: `X.compressed`
1-D, `X.bitmask` U8 [N, ceil(K/8)], `X.row_offsets`, `X.shape`; K is taken from the mask, as a multiple of 8. Either
may hold FP8 or I8 with `X.weight_scale`. Parameters are the dense count, zeros included.
Source: compressed-tensors `compressors/sparse_compressors` (removed since).
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import grid, told
from inspector.storing.dtypes import FLOATS, WIDE

NAME = "sparse_bitmask"
_PREFIXES: Final = ("", ".weight")
_PARTS: Final = (".compressed", ".bitmask", ".row_offsets", ".shape")
ROLES = (*(p + s for p in _PREFIXES for s in _PARTS), ".weight_scale")
_SCALED: Final = frozenset({"I8", "F8_E4M3", "F8_E5M2"})


def recognise(group: Group) -> Claim | None:
    """Values, and a mask with a bit for each of them and for the zeros between."""
    prefixes = [p for p in _PREFIXES if p + ".compressed" in group.tensors]
    if len(prefixes) != 1:
        return None
    roles = tuple(prefixes[0] + s for s in _PARTS)
    values, mask = group.tensors[roles[0]], group.tensors.get(roles[1])
    if mask is None or mask.dtype != "U8" or len(mask.shape) != 2 or not mask.elements:
        return None
    shape = _shape(values, mask, roles[2] in group.tensors)
    precision = None if shape is None else _precision(group, values, shape)
    if shape is None or precision is None:
        return None
    return Claim(
        NAME,
        precision,
        shape[0] * shape[1],
        (roles[0],),
        tuple(r for r in (*roles[1:], ".weight_scale") if r in group.tensors),
        shape=shape,
        evidence=f"{told(group.tensors, *roles[:2])}: {values.elements:,} values kept of {shape[0]} x {shape[1]}",
    )


def _shape(values: Stored, mask: Stored, offsets: bool) -> tuple[int, int] | None:
    if len(values.shape) == 2:
        rows, columns = values.shape[0], 2 * values.shape[1]
        return (rows, columns) if mask.shape == (rows, -(-columns // 8)) else None
    logical = mask.shape[0], 8 * mask.shape[1]
    fits = len(values.shape) == 1 and 0 < values.elements <= logical[0] * logical[1]
    return logical if fits and offsets else None


def _precision(group: Group, values: Stored, shape: tuple[int, int]) -> Precision | None:
    scale = group.tensors.get(".weight_scale")
    if scale is None:
        return Precision(*FLOATS[values.dtype]) if values.dtype in FLOATS else None
    block = grid(shape, scale.shape) if scale.dtype in WIDE and values.dtype in _SCALED else None
    if block is None:
        return None
    name, bits = ("int8", 8.0) if values.dtype == "I8" else FLOATS[values.dtype]
    return Precision(name, bits, block)
