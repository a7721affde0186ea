"""One thing that is fuzzed: what is done with an input, where to begin, and what its format's words are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from inspector.errors import InspectorError
from scripts.fuzzing.bounds import MESSAGE, bounded

T = TypeVar("T")
FOUR: Final = 600
"""Seconds for each of the four format parsers, unless told otherwise."""
OTHERS: Final = 180


@dataclass(frozen=True, slots=True)
class Target:
    """`check` raises for a finding and for nothing else. `seeds` are sound inputs, `words` the format's dictionary.

    With `structured` an input is a few bytes of choices and then JSON, which is also changed as a tree.
    """

    name: str
    check: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    words: tuple[str, ...] = ()
    structured: int | None = None
    longest: int = 8_192
    seconds: int = OTHERS

    def hold(self, data: bytes) -> None:
        """Check one input within the bounds. Raises for a finding."""
        with bounded(len(data)):
            self.check(data)


def tried(read: Callable[[], T]) -> T | None:
    """What a parser gives; None where it raised an error of ours, which is one line of a bounded length."""
    try:
        return read()
    except InspectorError as error:
        text = str(error)
        assert "\n" not in text and "\r" not in text, f"an error of several lines: {text!r}"
        assert len(text) <= MESSAGE, f"an error of {len(text):,} characters: {text[:200]!r}"
        return None
