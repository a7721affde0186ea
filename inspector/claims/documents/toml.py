"""TOML by the standard library's parser, which gives no lines: places are paths of keys."""

from __future__ import annotations

from typing import Final

from inspector import toml_text
from inspector.claim.claim_model import Document, Node, Place
from inspector.claim.claim_tree import MAX_DEPTH, placed
from inspector.errors import UsageError
from inspector.model import Json

_BITS: Final = 1_000


def read(file: str, text: str) -> Document:
    """The document as a tree. Raises `UsageError` where it is not TOML."""
    # Numbers stay as written: 4.0 claims another precision than 4.
    value = toml_text.loads(text.lstrip("\ufeff"), file, "Correct it there.", parse_float=str)
    return Document(file, text, root=_node(value, Place(file), 0))


def _node(value: Json, place: Place, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise UsageError(str(place), f"nests deeper than {MAX_DEPTH} levels", "Flatten it.")
    if isinstance(value, dict):
        return Node("mapping", place, items=tuple((k, _node(v, placed(place, k), depth + 1)) for k, v in value.items()))
    if isinstance(value, list):
        items = [(str(i), _node(v, placed(place, str(i)), depth + 1)) for i, v in enumerate(value)]
        return Node("list", place, items=tuple(items))
    if isinstance(value, int) and value.bit_length() > _BITS:
        # Hexadecimal ones may have any number of digits, and cannot be written out beyond the interpreter's limit.
        raise UsageError(str(place), "is a number beyond reason", "Correct it.")
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return Node("scalar", place, text)
