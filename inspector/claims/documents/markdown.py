"""Tables of a Markdown file by markdown-it: those that GitHub shows, not those in code blocks or comments."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from inspector.claim.claim_model import Cell, Document, Place, Row, Table
from inspector.claim.claim_tree import check_rows
from inspector.errors import UsageError

if TYPE_CHECKING:
    from markdown_it.token import Token

_PIPE: Final = re.compile(r"(?<!\\)\|")
_LINE_END: Final = re.compile(r"\r\n|\n|\r")


def read(file: str, text: str) -> Document:
    """Every table of a file, in order. Raises `UsageError` where there is none."""
    from markdown_it import MarkdownIt

    bom = len(text) - len(text.lstrip("\ufeff"))
    body = text[bom:]
    try:
        tokens = MarkdownIt("commonmark").enable("table").parse(body)
    except RecursionError:
        raise UsageError(file, "nests too deep for Markdown", "Simplify it.") from None
    lines = _LINE_END.split(body)
    starts = [bom, *(bom + found.end() for found in _LINE_END.finditer(body))]
    tables: list[Table] = []
    header: list[str] = []
    rows: list[Row] = []
    cells: list[Token] = []
    in_head, place = False, Place(file)
    for token in tokens:
        if token.type == "table_open":
            header, rows = [], []
        elif token.type == "thead_open":
            in_head = True
        elif token.type == "thead_close":
            in_head = False
        elif token.type == "tr_open" and token.map:
            cells, place = [], Place(file, token.map[0] + 1)
        elif token.type == "inline" and place.line is not None:
            cells.append(token)
        elif token.type == "tr_close" and place.line is not None:
            if in_head:
                header = _header([_text(c) for c in cells], place)
            else:
                check_rows(len(rows) + 1, file)
                rows.append(_row(header, cells, place, lines[place.line - 1], starts[place.line - 1]))
        elif token.type == "table_close":
            tables.append(Table(tuple(h for h in header if h), tuple(rows)))
            place = Place(file)
    if not tables:
        raise UsageError(file, "has no table", "Write one with a header and a line of dashes.")
    return Document(file, text, tuple(tables))


def _header(names: list[str], place: Place) -> list[str]:
    counts = Counter(names)
    twice = next((n for n in names if n and counts[n] > 1), None)
    if twice is not None:
        raise UsageError(str(place), f"two columns are called {twice[:60]!r}", "Rename one of them.")
    return names


def _row(header: list[str], tokens: list[Token], place: Place, line: str, start: int) -> Row:
    spans = _spans(line)
    fault = "" if len(spans) == len(header) else f"has {len(spans)} cells where the header has {len(header)}"
    cells = {}
    for i, (name, token) in enumerate(zip(header, tokens, strict=False)):
        if not name:
            continue
        span = column = None
        if i < len(spans) and line[slice(*spans[i])].replace("\\|", "|") == token.content:
            span, column = (start + spans[i][0], start + spans[i][1]), spans[i][0] + 1
        cells[name] = Cell(_text(token), Place(place.file, place.line, column, name), span, _link(token))
    return Row(place, cells, fault)


def _spans(line: str) -> list[tuple[int, int]]:
    """Where each cell's text stands in a line, without the spaces around it."""
    marks = [m.start() for m in _PIPE.finditer(line)]
    begins = line[: marks[0]].strip(" \t>") == "" if marks else False
    ends = line[marks[-1] + 1 :].strip() == "" if marks else False
    edges = [*([] if begins else [-1]), *marks, *([] if ends else [len(line)])]
    spans = []
    for a, b in pairwise(edges):
        inner = line[a + 1 : b]
        left = a + 1 + len(inner) - len(inner.lstrip())
        spans.append((left, left + len(inner.strip())))
    return spans


def _text(token: Token) -> str:
    parts = [c.content if c.type in ("text", "code_inline") else " " for c in token.children or () if _says(c)]
    return " ".join("".join(parts).split())


def _says(token: Token) -> bool:
    return token.type in ("text", "code_inline", "softbreak", "hardbreak")


def _link(token: Token) -> str:
    return next((str(c.attrGet("href") or "") for c in token.children or () if c.type == "link_open"), "")
