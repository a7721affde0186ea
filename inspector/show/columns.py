"""Lay text out in a fixed number of terminal columns. Every string given here has been through `escape` already.

Widths count terminal columns, not characters: a wide (East Asian) character takes two.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

GAP = 2
SEPARATOR = " · "


class Column(NamedTuple):
    """One column of a table: `floor` (columns) is how far it may shrink by cutting, 0 for not at all.

    An `optional` column appears only where the whole table has room for it.
    """

    title: str
    right: bool = False
    floor: int = 0
    optional: bool = False


def measure(text: str) -> int:
    """The terminal columns that a text takes; a combining mark counts as one, so the figure is never too small."""
    if text.isascii():
        return len(text)
    return sum([2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text])


def cut(text: str, width: int) -> str:
    """At most `width` columns of a text: its head and tail around an ellipsis."""
    if measure(text) <= width:
        return text
    if width < 8:
        return _head(text, max(width - 1, 0)) + "…" if width > 0 else ""
    head = (width - 1) // 2
    return f"{_head(text, head)}…{_head(text[::-1], width - 1 - head)[::-1]}"


def wrap(text: str, width: int, indent: str = "") -> list[str]:
    """Break a text at spaces into lines of at most `width` columns; all lines but the first start with `indent`."""
    return _fill(text.split(), " ", width, indent)


def join(segments: Iterable[str], width: int, indent: str = "") -> list[str]:
    """Join phrases with ` · `, breaking lines between phrases where that is possible."""
    return _fill(list(segments), SEPARATOR, width, indent)


def layout(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    """A table of at most `width` columns, header line first.

    Optional columns go first when room is short, then the columns with a floor are cut in the middle. Where even
    that does not fit, each row becomes its first cell on a line of its own with the others as phrases below it.
    """
    shown = fitting(columns, rows, width)
    if shown is None:
        return _records(columns, rows, width)
    lines = []
    for row in ([c.title for c in columns], *rows):
        out = []
        for i, size in shown:
            cell = cut(row[i], size)
            pad = " " * (size - measure(cell))
            out.append(pad + cell if columns[i].right else cell + pad)
        lines.append((" " * GAP).join(out).rstrip())
    return lines


def fitting(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[tuple[int, int]] | None:
    """The (index, size) of each column that a table of `width` columns shows, None where it cannot be a table."""
    sizes = [max([measure(c.title), *[measure(row[i]) for row in rows]]) for i, c in enumerate(columns)]
    sizes = [min(size, max(width, c.floor)) if c.floor else size for size, c in zip(sizes, columns, strict=True)]
    shown = list(range(len(columns)))
    for i in reversed(range(len(columns))):
        if columns[i].optional and _total(sizes, shown) > width:
            shown.remove(i)
    while _total(sizes, shown) > width:
        able = [i for i in shown if columns[i].floor and sizes[i] > columns[i].floor]
        if not able:
            return None
        sizes[max(able, key=lambda i: sizes[i])] -= 1
    return [(i, sizes[i]) for i in shown]


def _total(sizes: Sequence[int], shown: Sequence[int]) -> int:
    return sum(sizes[i] for i in shown) + GAP * (len(shown) - 1)


def _records(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    lines = []
    for row in rows:
        lines.append(cut(row[0], width))
        pairs = [cut(f"{c.title} {cell}", 2 * width) for c, cell in zip(columns[1:], row[1:], strict=True)]
        lines += [cut("    " + line, width) for line in join(pairs, max(width - 4, 8))]
    return lines


def _head(text: str, width: int) -> str:
    taken = 0
    for i, char in enumerate(text):
        taken += measure(char)
        if taken > width:
            return text[:i]
    return text


def _fill(pieces: Sequence[str], gap: str, width: int, indent: str) -> list[str]:
    lines: list[str] = []
    line, taken = "", 0
    room = max(width - measure(indent), 1)
    for piece in pieces:
        # A phrase too long for any line is broken at its spaces, a word too long for any line where it must be.
        words = [piece] if measure(piece) <= room else _break(piece, room)
        for i, word in enumerate(words):
            joint = gap if i == 0 else " "
            size = measure(word)
            if taken and taken + len(joint) + size > width:
                lines.append(line)
                line, taken = "", 0
            if not taken:
                line = indent if lines else ""
                taken = len(line)
            else:
                line += joint
                taken += len(joint)
            line += word
            taken += size
    return [*lines, line] if line else lines


def _break(text: str, width: int) -> list[str]:
    out = []
    for word in text.split():
        while measure(word) > width:
            head = _head(word, width) or word[:1]
            out.append(head)
            word = word[len(head) :]
        if word:
            out.append(word)
    return out
