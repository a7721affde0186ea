"""Why a text is not JSON, in words that are the text's and not the interpreter's."""

from __future__ import annotations

import json


def words(problem: Exception) -> str:
    """What `json.loads`, or the decoding before it, complains of."""
    if isinstance(problem, json.JSONDecodeError):
        return str(problem)
    if isinstance(problem, UnicodeDecodeError):
        return f"byte {problem.start:,} is not UTF-8"
    if isinstance(problem, RecursionError):
        return "it is nested too deeply"
    return "it holds a number of more digits than are read (4,300)" if "digits" in str(problem) else str(problem)
