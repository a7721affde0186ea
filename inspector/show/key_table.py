"""A header's own key-values (`--metadata`) as a table; not escaped, as in `inspector/tables.py`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from inspector.model import Json
from inspector.show.columns import Column
from inspector.show.phrases import many
from inspector.show.tables import Table

_LONGEST: Final = 300
"""Characters of a value that are shown."""


def metadata(file: str, values: Mapping[str, Json]) -> Table:
    """A header's own key-values, each value on one line."""
    rows = tuple((key, _value(value)) for key, value in values.items())
    columns = (Column("key", floor=24), Column("value", floor=32))
    return Table(f"{file}: {many(len(rows), 'key')}", columns, rows)


def _value(value: Json) -> str:
    """A value in at most some 300 characters; what was shortened when it was read says how long it is."""
    if isinstance(value, Mapping) and set(value) == {"type", "count", "head"}:
        unit = "bytes" if value["type"] == "string" and isinstance(value["head"], str) else value["type"]
        return f"{value['count']:,} {unit}: {_value(value['head'])}, ..."
    if isinstance(value, (list, tuple)):
        shown = ", ".join([_value(v) for v in value[:16]])
        return f"[{shown}{f', ... {len(value):,} in all' if len(value) > 16 else ''}]"[:_LONGEST]
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}... ({len(text):,} characters)"
