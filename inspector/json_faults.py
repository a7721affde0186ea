"""Why a text is not JSON, in words that are the text's and not the interpreter's."""

from __future__ import annotations

import json
from collections.abc import Sequence


def doubled(pairs: Sequence[tuple[str, object]]) -> str | None:
    """The first key of an object that is given twice, of the pairs that an `object_pairs_hook` is handed; else None."""
    seen: set[str] = set()
    return next((key for key, _ in pairs if key in seen or seen.add(key)), None)  # type: ignore[func-returns-value]


def words(problem: Exception) -> str:
    """What `json.loads`, or the decoding before it, complains of."""
    if isinstance(problem, json.JSONDecodeError):
        return str(problem)
    if isinstance(problem, UnicodeDecodeError):
        return f"byte {problem.start:,} is not UTF-8"
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    return "it holds a number of more digits than are read (4,300)" if "digits" in str(problem) else str(problem)
