"""A JSON text as a tree with places. The standard library decodes and judges it; this only follows where it stands."""

from __future__ import annotations

import json
import re
from typing import Final

from inspector import json_faults
from inspector.claim.claim_model import Node, Place
from inspector.claim.claim_tree import MAX_DEPTH, Lines, placed
from inspector.errors import UsageError

_SPACE: Final = re.compile(r"[ \t\n\r]*")


def tree(file: str, text: str, *, line: int = 1, offset: int = 0) -> Node:
    """The tree of a whole text, which begins at `line` and `offset` of its file. Raises `UsageError`."""
    bom = text.startswith("\ufeff")
    try:
        json.loads(text[bom:])
    except json.JSONDecodeError as error:
        place = Place(file, line + error.lineno - 1, error.colno)
        raise UsageError(str(place), f"is not JSON: {error.msg}", "Correct it there.") from None
    except RecursionError:
        raise UsageError(file, f"nests deeper than {MAX_DEPTH} levels", "Flatten it.") from None
    except ValueError as error:
        raise UsageError(file, f"is not JSON: {json_faults.words(error)}") from None
    return _Walk(file, text, line, offset).value(_skip(text, int(bom)), Place(file), 0)[0]


def _skip(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


class _Walk:
    """Follows a text that is known to be JSON."""

    def __init__(self, file: str, text: str, line: int, offset: int) -> None:
        self._file, self._text, self._first, self._offset = file, text, line, offset
        self._lines = Lines(text)
        self._decoder = json.JSONDecoder()

    def value(self, at: int, place: Place, depth: int) -> tuple[Node, int]:
        """The value that begins at an offset, and where it ends."""
        if depth > MAX_DEPTH:
            raise UsageError(self._file, f"nests deeper than {MAX_DEPTH} levels", "Flatten it.")
        line, column = self._lines.at(at)
        place = Place(self._file, self._first + line - 1, column, place.key)
        if self._text[at] == "{":
            return self._mapping(at, place, depth)
        if self._text[at] == "[":
            return self._list(at, place, depth)
        decoded, end = self._decoder.raw_decode(self._text, at)
        raw = self._text[at:end]
        inner = (at + 1, end - 1) if isinstance(decoded, str) else (at, end)
        text = decoded if isinstance(decoded, str) else "" if decoded is None else raw
        span = (inner[0] + self._offset, inner[1] + self._offset)
        return Node("scalar", place, text, span=span), end

    def _mapping(self, at: int, place: Place, depth: int) -> tuple[Node, int]:
        items: dict[str, Node] = {}
        at = _skip(self._text, at + 1)
        while self._text[at] != "}":
            key, at = self._decoder.raw_decode(self._text, at)
            at = _skip(self._text, _skip(self._text, at) + 1)
            if key in items:
                raise UsageError(str(place), f"has the key {key[:60]!r} twice", "Remove one of them.")
            items[key], at = self.value(at, placed(place, key), depth + 1)
            at = self._next(at)
        return Node("mapping", place, items=tuple(items.items())), at + 1

    def _list(self, at: int, place: Place, depth: int) -> tuple[Node, int]:
        items: list[tuple[str, Node]] = []
        at = _skip(self._text, at + 1)
        while self._text[at] != "]":
            key = str(len(items))
            node, at = self.value(at, placed(place, key), depth + 1)
            items.append((key, node))
            at = self._next(at)
        return Node("list", place, items=tuple(items)), at + 1

    def _next(self, at: int) -> int:
        at = _skip(self._text, at)
        return _skip(self._text, at + 1) if self._text[at] == "," else at
