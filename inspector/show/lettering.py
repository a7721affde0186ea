"""Which words fit into a drawn rectangle, by widths that no common sans-serif font exceeds."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Final, NamedTuple

from inspector.escape import terminal

SIZE: Final = 13.0
"""Font size in user units."""

_BOLD: Final = 1.13
"""How much wider bold letters are."""

_NARROW: Final = frozenset("ijl'|! .,:;·")
_INSET: Final = 6.0
_STEP: Final = 17.0


class Line(NamedTuple):
    """One line of text at its baseline; `strong` for the first."""

    x: float
    y: float
    text: str
    strong: bool


def width(text: str, *, strong: bool = False, size: float = SIZE) -> float:
    """An upper bound of the text's width in a sans-serif font."""
    return size * (_BOLD if strong else 1.0) * sum(map(_em, text))


def cut(text: str, room: float, *, strong: bool = False, size: float = SIZE) -> str:
    """The text made printable, with its middle cut out where it is wider than `room`; empty where nothing fits."""
    safe = terminal(text, 400)
    if width(safe, strong=strong, size=size) <= room:
        return safe
    for kept in range(int(room / (size * 0.3)), 3, -1):
        shorter = terminal(safe, kept)
        if width(shorter, strong=strong, size=size) <= room:
            return shorter
    return ""


def lines(text: str, room: float, most: int) -> list[str]:
    """The text in at most `most` lines broken at spaces, the last one cut where words are left."""
    words = terminal(text, 2000).split()
    found: list[str] = []
    while words and len(found) < most - 1:
        count = len(words)
        while count > 1 and width(" ".join(words[:count])) > room:
            count -= 1
        found.append(cut(" ".join(words[:count]), room))
        words = words[count:]
    return [*found, cut(" ".join(words), room)] if words or not found else found


def spread(labels: Sequence[str], room: float) -> list[tuple[float, float]]:
    """Where each entry of a legend begins, a square and its label, in as many lines as they need."""
    x = y = 0.0
    found = []
    for label in labels:
        wide = 19 + width(label)
        if x and x + wide > room:
            x, y = 0.0, y + 21
        found.append((x, y))
        x += wide + 18
    return found


def within(texts: Sequence[str], x: float, y: float, wide: float, high: float) -> tuple[Line, ...]:
    """The lines that fit into a rectangle, first things first; the first may be cut, figures never are."""
    room = wide - 2 * _INSET
    first = cut(texts[0], room, strong=True) if high >= _STEP + _INSET else ""
    if not first or (first != texts[0] and len(first) < 7):
        return ()
    found = [first]
    for text in texts[1:]:
        if text and width(text) <= room and (len(found) + 1) * _STEP + _INSET <= high:
            found.append(text)
    return tuple(Line(x + _INSET, y + _INSET - 3 + _STEP * (i + 1) - 2, t, i == 0) for i, t in enumerate(found))


def _em(char: str) -> float:
    """Widths in em of DejaVu Sans, which is wider than what systems other than Linux fall back to."""
    if char in _NARROW:
        return 0.36
    if char in "frtI()[]-":
        return 0.42
    if unicodedata.east_asian_width(char) in "WF":
        return 1.1
    return 1.02 if char in "mwMW%@—…" else 0.8 if char.isupper() else 0.65
