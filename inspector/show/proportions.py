"""Bars and gauges of plain characters, for any terminal, locale and log.

Every string given here has been through `escape` already.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.model import Cell
from inspector.model.fit_model import Device, Fit
from inspector.rollup import largest_first
from inspector.show.columns import cut, measure, wrap
from inspector.units import gib, percent

WIDEST = 60
"""Characters of the longest bar: a longer one is no easier to read."""

KEY = "# weights, c cache, . free, - kept back, | end of the server budget"


def bars(cells: Sequence[Cell], width: int) -> list[str]:
    """One line per component, the largest first: its name, its share of all bytes, and that share as a bar.

    The whole is as long as the longest bar may be; a component with bytes too few for one character has a dot.
    """
    found = [(name, sum(c.bytes for c in part)) for name, part in largest_first(cells)]
    whole = sum(size for _, size in found)
    label = min(max([measure(name) for name, _ in found], default=0), max(width // 3, 8))
    room = min(width - label - 11, WIDEST)
    if not whole or room < 8:
        return []
    lines = []
    for name, size in found:
        full = round(room * size / whole)
        bar = "#" * full if full or not size else "."
        lines.append(f"{_padded(name, label)}  {percent(size, whole):>7}  {bar}".rstrip())
    return lines


def gauges(fits: Sequence[Fit], width: int, marks: Sequence[str] = ()) -> list[str]:
    """One line per cluster: its fullest device as a bar from nothing to all memory, or to the need beyond it.

    `marks` say of each fit whose it is, where several checkpoints are asked about.
    """
    named = [(f"{mark}{fit.cluster}", fit) for mark, fit in zip(marks or [""] * len(fits), fits, strict=True)]
    # The one with the least room: a large device may hold more than a small one, and still have more left.
    found = [(n, f, max(f.devices, key=lambda d: _need(d) - d.usable_bytes)) for n, f in named if f.devices]
    if not found:
        return []
    tails = [f"{gib(_need(d))} of {gib(d.usable_bytes)}: {f.verdict.replace('_', ' ')}" for _, f, d in found]
    label = min(max(measure(name) for name, _, _ in found), max(width // 4, 8))
    room = min(width - label - max(map(len, tails)) - 6, WIDEST)
    lines = []
    for (name, _, device), tail in zip(found, tails, strict=True):
        middle = f"  [{gauge(device, room)}]  " if room >= 8 else "  "
        lines.append(cut(f"{_padded(name, label)}{middle}{tail}", width))
    return [*lines, *wrap(f"  {KEY}", width, "  ")] if room >= 8 else lines


def _need(device: Device) -> int:
    return device.weights + (device.cache or 0)


def gauge(device: Device, room: int) -> str:
    """One device in exactly `room` characters, by the letters of `KEY`; the mark takes the place of one."""
    visible = device.usable_bytes + device.overhead
    whole = max(visible, _need(device), 1)
    ends = [device.weights, _need(device), max(device.usable_bytes, _need(device)), whole]
    text = ""
    for letter, end in zip("#c.-", ends, strict=True):
        text += letter * (round(room * end / whole) - len(text))
    at = min(max(round(room * device.usable_bytes / whole), 0), room - 1)
    return f"{text[:at]}|{text[at + 1 :]}"


def _padded(text: str, width: int) -> str:
    shown = cut(text, width)
    return shown + " " * (width - measure(shown))
