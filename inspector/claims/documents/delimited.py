"""CSV and TSV by the standard library's reader, with the place of every field in the text.

A line whose first field begins with `#` is a comment. A header with more semicolons than commas separates by them.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from typing import Final

from inspector.claim.claim_model import Cell, Document, Place, Row, Table
from inspector.claim.claim_tree import check_rows
from inspector.errors import UsageError

_BOM: Final = "\ufeff"


class _Records:
    """Lines for the reader, remembering what it took since the last record."""

    def __init__(self, text: str, start: int) -> None:
        self._lines = io.StringIO(text[start:], newline="")
        self.start = self.end = start

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.end += len(line)
            yield line


def read(file: str, text: str) -> Document:
    """The one table of a file. Raises `UsageError` where there is no header or two columns share a name."""
    start = len(_BOM) if text.startswith(_BOM) else 0
    delimiter = _delimiter(file, text[start:])
    records = _Records(text, start)
    reader = csv.reader(iter(records), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    rows: list[Row] = []
    line = 1
    while True:
        place = Place(file, line)
        fault, fields = "", []
        try:
            fields = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            fault = f"cannot be read as CSV: {error}"
        begin, records.start = records.start, records.end
        line = reader.line_num + 1
        if not fault and (not any(f.strip() for f in fields) or fields[0].lstrip().startswith("#")):
            continue
        if header is None:
            if fault:
                raise UsageError(str(place), fault, "Quote fields that hold quotes.")
            header = _header(fields, place)
            continue
        check_rows(len(rows) + 1, file)
        if not fault and len(fields) != len(header):
            fault = f"has {len(fields)} fields where the header has {len(header)}"
        rows.append(Row(place, _cells(header, fields, place, text[begin : records.end], begin, delimiter), fault))
    if header is None:
        raise UsageError(file, "has no header", "Name the columns in its first line.")
    return Document(file, text, (Table(tuple(h for h in header if h), tuple(rows)),))


def _delimiter(file: str, text: str) -> str:
    if file.lower().endswith((".tsv", ".tab")):
        return "\t"
    header = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    return ";" if header.count(";") > header.count(",") else ","


def _header(fields: list[str], place: Place) -> list[str]:
    names = [f.strip() for f in fields]
    counts = Counter(names)
    twice = next((n for n in names if n and counts[n] > 1), None)
    if twice is not None:
        raise UsageError(str(place), f"two columns are called {twice[:60]!r}", "Rename one of them.")
    return names


def _cells(header: list[str], fields: list[str], place: Place, raw: str, begin: int, delimiter: str) -> dict[str, Cell]:
    spans = _spans(raw, delimiter)
    sure = len(spans) == len(fields) and all(
        raw[a:b].replace('""', '"') == f for (a, b), f in zip(spans, fields, strict=True)
    )
    cells = {}
    for i, (name, field) in enumerate(zip(header, fields, strict=False)):
        if not name:
            continue
        span = (begin + spans[i][0], begin + spans[i][1]) if sure else None
        column = spans[i][0] + 1 if sure and "\n" not in raw[: spans[i][0]] else None
        cells[name] = Cell(field, Place(place.file, place.line, column, name), span)
    return cells


def _spans(raw: str, delimiter: str) -> list[tuple[int, int]]:
    """Where each field of one record stands, quotes left out."""
    body = raw.rstrip("\r\n")
    spans, at = [], 0
    while True:
        if body[at : at + 1] == '"':
            end = at + 1
            while (end := body.find('"', end)) >= 0 and body[end : end + 2] == '""':
                end += 2
            if end < 0:
                return []
            spans.append((at + 1, end))
            at = end + 1
        else:
            end = body.find(delimiter, at)
            end = len(body) if end < 0 else end
            spans.append((at, end))
            at = end
        if at >= len(body):
            return spans
        if body[at] != delimiter:
            return []
        at += 1
