"""Bars on one scale, laid out as rectangles: a title line above each bar, labels only where they have room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from inspector.show import lettering, palette

_TITLE: Final = 19.0
_BAR: Final = 26.0
_GAP: Final = 14.0
_MARK: Final = 18.0


class Share(NamedTuple):
    """Bytes of one kind within a bar; `shade` is its colour, `label` what is written on it where there is room."""

    label: str
    bytes: int
    shade: palette.Shade
    hint: str = ""


class Bar(NamedTuple):
    """One bar: `name` may be cut, `figure` may not; `limits` are bytes at which a line crosses this bar alone."""

    name: str
    figure: str
    shares: tuple[Share, ...]
    limits: tuple[int, ...] = ()


class Limit(NamedTuple):
    """A line across all bars, with its words; `short` are those for where there is less room."""

    label: str
    bytes: int
    short: str = ""


class Segment(NamedTuple):
    """One drawn share."""

    x: float
    width: float
    bytes: int
    shade: str
    label: str
    hint: str


class Row(NamedTuple):
    """One drawn bar: its name at `y`, the bar itself at `top`, its figure at (`figure_x`, `figure_y`)."""

    y: float
    top: float
    name: str
    figure: str
    figure_x: float
    figure_y: float
    anchor: str
    segments: tuple[Segment, ...]
    ticks: tuple[float, ...]


class Mark(NamedTuple):
    """A drawn line with its label at `x`, `y`; `anchor` is SVG's text-anchor."""

    x: float
    y: float
    label_x: float
    label: str
    anchor: str


class Chart(NamedTuple):
    """Drawn bars; `height` follows from their number, `scale` is user units per byte."""

    width: float
    height: float
    bar: float
    rows: tuple[Row, ...]
    marks: tuple[Mark, ...]
    scale: float


def near(bars: Sequence[Bar], limits: Sequence[Limit]) -> list[Limit]:
    """The limits that do not make the bars tiny: up to three times the longest."""
    longest = max(map(_length, bars), default=0)
    return [x for x in limits if x.bytes <= 3 * longest]


def chart(bars: Sequence[Bar], width: float, limits: Sequence[Limit] = ()) -> Chart:
    """Lay bars out below each other on one scale, which ends at the longest bar or limit."""
    longest = max([_length(b) for b in bars] + [x.bytes for x in limits], default=0)
    # The last unit belongs to a line that crosses there.
    scale = (width - 2) / longest if longest else 0.0
    marks = _marks(limits, width, scale)
    top = len(marks) * _MARK + (4 if marks else 0)
    # Where one name has no room beside its figure, every figure gets a line of its own.
    stacked = any(lettering.width(b.name, strong=True) > min(_beside(b, width), width) for b in bars)
    step = _TITLE * (2 if stacked else 1) + _BAR + _GAP
    rows = [_row(bar, top + i * step, width, scale, stacked) for i, bar in enumerate(bars)]
    height = top + max(len(bars) * step - _GAP, 0) + 1
    return Chart(width, height, _BAR, tuple(rows), marks, scale)


def _beside(bar: Bar, width: float) -> float:
    return width - lettering.width(bar.figure) - 12


def _length(bar: Bar) -> int:
    return max(sum(s.bytes for s in bar.shares), *bar.limits, 0)


def _row(bar: Bar, y: float, width: float, scale: float, stacked: bool) -> Row:
    segments = []
    at = 0.0
    for share in bar.shares:
        wide = share.bytes * scale
        if share.bytes > 0:
            label = share.label if lettering.width(share.label) <= wide - 8 else ""
            segments.append(Segment(at, wide, share.bytes, share.shade.name, label, share.hint or share.label))
        at += wide
    name = lettering.cut(bar.name, width, strong=True)
    figure = lettering.cut(bar.figure, width)
    ticks = tuple(x * scale for x in bar.limits)
    first, top = y + _TITLE - 6, y + _TITLE * (2 if stacked else 1)
    place = (0.0, first + _TITLE, "start") if stacked else (width, first, "end")
    return Row(first, top, name, figure, *place, tuple(segments), ticks)


def _marks(limits: Sequence[Limit], width: float, scale: float) -> tuple[Mark, ...]:
    """Each limit's label on a line of its own, in an order in which no line crosses the label of another."""

    def left(limit: Limit) -> bool:
        room = limit.bytes * scale - 6
        # Where neither side has room for all of it, the wider one shows more.
        return lettering.width(limit.label) <= room or room > width / 2

    # Lines start at their label: those with words on the right ascend, below them those with words on the left descend.
    ordered = sorted((x for x in limits if not left(x)), key=lambda x: x.bytes)
    ordered += sorted((x for x in limits if left(x)), key=lambda x: -x.bytes)
    return tuple(_mark(x, i, width, scale, left=left(x)) for i, x in enumerate(ordered))


def _mark(limit: Limit, at: int, width: float, scale: float, *, left: bool) -> Mark:
    x = limit.bytes * scale
    room = x - 6 if left else width - x - 6
    label = limit.label if lettering.width(limit.label) <= room else limit.short or limit.label
    label = lettering.cut(label, room)
    return Mark(x, at * _MARK + 13, x - 5 if left else x + 5, label, "end" if left else "start")
