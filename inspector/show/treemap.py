"""Bytes as areas: one box per component and precision, squarified, with the labels that its box has room for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from inspector.model import Cell
from inspector.rollup import bits_per_weight, largest_first
from inspector.show import lettering, palette
from inspector.show.phrases import NONE, bits
from inspector.units import both, gb, percent

_TRACE: Final = 1e-9
"""The share of all bytes below which a box is not drawn: doubles no longer place it truly."""

_MOST: Final = 40
"""Boxes per component; smaller precisions share one."""


class Box(NamedTuple):
    """One rectangle: `bytes` are proportional to its area, `shade` names its colour, `hint` says all in words."""

    x: float
    y: float
    width: float
    height: float
    component: str
    precision: str
    bytes: int
    shade: str
    hint: str
    lines: tuple[lettering.Line, ...]


class Treemap(NamedTuple):
    """Boxes in a rectangle; `whole` sums the bytes of all cells, `left_out` counts cells too small to draw."""

    width: float
    height: float
    boxes: tuple[Box, ...]
    whole: int
    left_out: int


class _Part(NamedTuple):
    precision: str
    bytes: int
    bits: float | None
    shade: str


def treemap(cells: Iterable[Cell], width: float, height: float) -> Treemap:
    """The boxes of cells in a rectangle, components together, the largest first. Cells without bytes have none."""
    groups = largest_first(cells)
    whole = sum(c.bytes for _, part in groups for c in part)
    drawn = [(name, [c for c in part if c.bytes > whole * _TRACE]) for name, part in groups]
    drawn = [(name, part) for name, part in drawn if part]
    left_out = sum(c.bytes > 0 for _, part in groups for c in part) - sum(len(part) for _, part in drawn)
    totals = [sum(c.bytes for c in part) for _, part in drawn]
    boxes: list[Box] = []
    for (name, part), area in zip(drawn, _squares(totals, 0.0, 0.0, width, height), strict=True):
        parts = _parts(part)
        inner = _squares([p.bytes for p in parts], *area)
        boxes += [_box(name, p, place, whole) for p, place in zip(parts, inner, strict=True)]
    return Treemap(width, height, tuple(boxes), whole, left_out)


def _squares(
    sizes: Sequence[int], x: float, y: float, width: float, height: float
) -> list[tuple[float, float, float, float]]:
    from squarify import normalize_sizes, squarify

    if not sizes:
        return []
    found = squarify(normalize_sizes(sizes, width, height), x, y, width, height)
    return [(r["x"], r["y"], r["dx"], r["dy"]) for r in found]


def _parts(cells: Sequence[Cell]) -> list[_Part]:
    """A component's cells as boxes, those beyond the limit together in the last."""
    parts = [_part(c) for c in cells]
    if len(parts) <= _MOST:
        return parts
    rest = parts[_MOST - 1 :]
    merged = _Part(f"{len(rest):,} smaller", sum(p.bytes for p in rest), None, palette.UNKNOWN.name)
    # Boxes are laid out largest first, also where many small ones together are large.
    return sorted([*parts[: _MOST - 1], merged], key=lambda p: -p.bytes)


def _part(cell: Cell) -> _Part:
    average = bits_per_weight(cell.bytes, cell.parameters)
    return _Part(cell.precision or "overhead", cell.bytes, average, cell_shade(cell).name)


def cell_shade(cell: Cell) -> palette.Shade:
    """The colour of a cell."""
    average = bits_per_weight(cell.bytes, cell.parameters)
    return palette.shade(average, overhead_only=cell.precision is None)


def _box(component: str, part: _Part, place: tuple[float, float, float, float], whole: int) -> Box:
    x, y, width, height = place
    share = percent(part.bytes, whole)
    average = f"{bits(part.bits)} bits per weight" if part.bits is not None else ""
    hint = ", ".join(w for w in (component, part.precision, both(part.bytes), share, average or NONE) if w != NONE)
    wanted = (component, part.precision, f"{gb(part.bytes)} · {share}", average)
    lines = lettering.within(wanted, x, y, width, height)
    return Box(x, y, width, height, component, part.precision, part.bytes, part.shade, hint, lines)
