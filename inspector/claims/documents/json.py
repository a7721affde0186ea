"""JSON by the standard library's decoder, with line, column and path of every value."""

from __future__ import annotations

from inspector.claim.claim_json import tree
from inspector.claim.claim_model import Document


def read(file: str, text: str) -> Document:
    """The document as a tree. Raises `UsageError` at the place where it is not JSON."""
    return Document(file, text, root=tree(file, text))
