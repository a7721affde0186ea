"""JSON Lines: one row per line; a line that is not JSON spoils only itself."""

from __future__ import annotations

from inspector.claim.claim_json import tree
from inspector.claim.claim_model import Document, Place, Row, Table
from inspector.claim.claim_tree import check_rows, row
from inspector.errors import UsageError


def read(file: str, text: str) -> Document:
    """The one table of a file."""
    rows: list[Row] = []
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        start, offset = offset, offset + len(line) + 1
        body = line.lstrip("\ufeff") if number == 1 else line
        if not body.strip():
            continue
        check_rows(len(rows) + 1, file)
        place = Place(file, number)
        try:
            node = tree(file, body, line=number, offset=start + len(line) - len(body))
        except UsageError as error:
            rows.append(Row(place, {}, error.message))
            continue
        rows.append(row(node) if node.kind == "mapping" else Row(place, {}, "is no JSON object"))
    return Document(file, text, (Table(tuple(dict.fromkeys(c for r in rows for c in r.cells)), tuple(rows)),))
