"""EXL3: a trellis of 16 x 16 tiles, 16 x bits words of 16 bits each; half bits exist.

`X.trellis` I16 [K / 16, N / 16, 16 bits], `X.suh` F16 [K] or `X.su` I16 [K / 16] (one bit a sign), `X.svh` or `X.sv`
likewise for N, `X.mcg` and `X.mul1` I32 [] choose the codebook. Source: turboderp-org/exllamav3
`modules/quant/exl3.py` (`LinearEXL3`).
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import foreign

NAME = "exl3"
ROLES = (".trellis", ".suh", ".su", ".svh", ".sv", ".mcg", ".mul1")
_TILE: Final = 16


def recognise(group: Group) -> Claim | None:
    """Tiles whose two counts are those of the sign vectors."""
    trellis = group.tensors.get(".trellis")
    if trellis is None or trellis.dtype != "I16" or len(trellis.shape) != 3 or not trellis.elements:
        return None
    columns, rows, width = _TILE * trellis.shape[0], _TILE * trellis.shape[1], trellis.shape[2]
    inputs, outputs = _signs(group, ".suh", ".su"), _signs(group, ".svh", ".sv")
    if inputs != columns or outputs != rows or foreign(group, ROLES):
        return None
    if width % (_TILE // 2) or not 1 <= width / _TILE <= 8:
        return None
    bits = width / _TILE
    return Claim(
        NAME,
        Precision(f"exl3@{bits}", bits),
        rows * columns,
        (".trellis",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: {width} words of 16 bits for a tile of 16 x 16",
    )


def _signs(group: Group, scales: str, signs: str) -> int | None:
    """How many channels a side has: by its scales, or by its signs, sixteen to a word; None where they disagree."""
    found = {_length(group.tensors[r], n) for r, n in ((scales, 1), (signs, _TILE)) if r in group.tensors}
    return found.pop() if len(found) == 1 else None


def _length(tensor: Stored, each: int) -> int | None:
    return each * tensor.elements if len(tensor.shape) == 1 else None
