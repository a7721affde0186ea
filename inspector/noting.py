"""Many notes become few: those that say the same of many tensors become one, and of each code only so many are kept."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from inspector.model import Note
from inspector.records import replace

KEPT: Final = 100
"""Notes of one code that a report keeps."""
SHOWN: Final = 20
"""Notes of one code that a person is shown."""
_SHAPE: Final = re.compile(r"\[[\d, ]*\]")


def merged(notes: Iterable[tuple[Note, int]]) -> tuple[Note, ...]:
    """One note for all of one code that differ in nothing but shapes; the first stands for them, with their number."""
    first: dict[tuple[str, str], Note] = {}
    counts: dict[tuple[str, str], int] = {}
    shapes: dict[tuple[str, str], set[str]] = {}
    for note, count in notes:
        key = note.code, _SHAPE.sub("[]", note.message)
        first.setdefault(key, note)
        counts[key] = counts.get(key, 0) + count
        shapes.setdefault(key, set()).add(note.message)
    found = []
    for key, note in first.items():
        several = f", of {len(shapes[key]):,} shapes" if len(shapes[key]) > 1 else ""
        words = f"{note.message} ({counts[key]:,} groups like this{several})" if counts[key] > 1 else note.message
        found.append(replace(note, message=words))
    return tuple(found)


def few(notes: Iterable[Note], most: int) -> tuple[Note, ...]:
    """At most `most` notes of one code, in order; a last one of that code says how many more there are."""
    kept: list[Note] = []
    counts: dict[str, int] = {}
    for note in notes:
        counts[note.code] = counts.get(note.code, 0) + 1
        if counts[note.code] <= most:
            kept.append(note)
    more = [(code, count - most) for code, count in counts.items() if count > most]
    return (*kept, *(Note(code, f"and {n:,} more note{'' if n == 1 else 's'} of this kind") for code, n in more))
