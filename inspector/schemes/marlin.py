"""GPTQ weights serialised for the Marlin kernels, and QQQ.

Marlin: `X.B` I32 [K / 16, 16 N b / 32] in tiles of 16, `X.s` F16 [K / g, N]. QQQ: the same tiles with 4 bits,
`X.s_channel` F32 [1, N] and `X.s_group` F16 [K / g, N], or empty with one scale per channel. K and N follow from the
two shapes, bits from the words. Source: IST-DASLab/marlin `marlin/__init__.py`; GPTQModel
`nn_modules/qlinear/qqq.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import block_of, told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "marlin"
ROLES = (".B", ".s", ".s_channel", ".s_group", ".workspace")
_TILE: Final = 16


def recognise(group: Group) -> Claim | None:
    """Tiles of words whose width is a whole number of bits for the scales' N."""
    words = group.tensors.get(".B")
    if words is None or words.dtype != "I32" or len(words.shape) != 2 or not words.elements:
        return None
    if foreign(group, ROLES):
        return None
    scales, channel = group.tensors.get(".s"), group.tensors.get(".s_channel")
    fine = group.tensors.get(".s_group")
    if (scales is None) == (channel is None) or (channel is None) != (fine is None):
        return None
    wide = channel if scales is None else scales
    if wide is None or wide.dtype not in WIDE or len(wide.shape) != 2 or not wide.elements:
        return None
    columns, rows = _TILE * words.shape[0], wide.shape[1]
    bits = 2 * words.shape[1] // rows
    groups = wide.shape[0]
    if fine is not None:
        if groups != 1 or (fine.elements and (len(fine.shape) != 2 or fine.shape[1] != rows)):
            return None
        groups = fine.shape[0] if fine.elements else 1
    if bits * rows != 2 * words.shape[1] or bits not in ((4, 8) if scales is not None else (4,)):
        return None
    size = block_of(columns, groups, group.declared.group)
    if size is None or size < min(_TILE, columns):
        return None
    return Claim(
        NAME,
        Precision(f"int{bits}", bits, (1, size)),
        rows * columns,
        (".B",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: tiles of 16 rows, {bits} bits, one scale per {size}",
    )
