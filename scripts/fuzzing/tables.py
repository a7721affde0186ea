"""Tables of `inspect check` in every format, mappings, verdicts in every output, and rewritten tables."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from inspector import claims
from inspector.claim.claim_mapping import Layout
from inspector.claim.claim_model import Cell, Document
from inspector.claim.claim_verdict import Expense, Verdicts
from inspector.claims import Sheet, fixing
from inspector.claims.measured import Gathered, MeasuredRepo
from inspector.verdict_render import FORMATS, render
from scripts.fuzzing import safe
from scripts.fuzzing.target import Target, tried
from tests.claims.test_documents import ROWS
from tests.memory import MemorySource
from tests.snapshot import cases
from tests.waiting import examine

_FOLDER: Final = Path(tempfile.gettempdir(), f"inspect-fuzz-{os.getpid()}")
_TREES: Final = (".json", ".jsonl", ".toml", ".yaml")
_CSV: Final = "Model,GB,Weights (GiB),Quant,ctx\norg/a,1.5,16.9 kB,Q4,8192\norg/b,~2,n/a,shipped,4k\n"


@cache
def _measured() -> MeasuredRepo:
    """The repo that every row is held against."""
    config = {"model_type": "llama", "num_hidden_layers": 2, "hidden_size": 64, "num_attention_heads": 4}
    source = MemorySource({**cases.PLAIN, "config.json": json.dumps(config).encode()})
    return MeasuredRepo(*examine(source, sliced=True))


def _table(suffix: str, data: bytes, layout: Sequence[Layout] = ()) -> None:
    path = _written(suffix, data)
    sheet = tried(lambda: claims.sheet(path, layout))
    if sheet is None:
        return
    _placed(sheet.document)
    verdicts = _judged(sheet)
    for form in FORMATS:
        if form != "html" or len(data) % 16 == 0:
            safe.output(form, render(form, verdicts))
    fixed = fixing.fix(sheet.document, verdicts.judged)
    fixing.diff(sheet.document, fixed)
    if fixed.done:
        again = _judged(claims.sheet(_written(suffix, fixed.text.encode()), layout))
        assert len(again.judged) == len(verdicts.judged), "rewriting numbers changes how many claims there are"
        for before, after in zip(verdicts.judged, again.judged, strict=True):
            assert before not in fixed.done or after.outcome == "ok", f"rewritten, and {after.outcome}: {after.claim}"
            assert before.outcome != "ok" or after.outcome == "ok", f"right before a rewriting: {after.claim}"


def _written(suffix: str, data: bytes) -> Path:
    _FOLDER.mkdir(exist_ok=True)
    path = _FOLDER / f"table{suffix}"
    path.write_bytes(data)
    return path


def _judged(sheet: Sheet) -> Verdicts:
    found = Gathered({c.subject: _measured() for c in sheet.claims}, False, Expense())
    return claims.judged(sheet.claims, found)


def _placed(document: Document) -> None:
    """Every place of a cell lies in the text; a cell that holds its own text has it there."""
    for cell in _cells(document):
        if cell.span is not None:
            assert 0 <= cell.span[0] <= cell.span[1] <= len(document.text), f"a cell outside its text: {cell}"
        assert (
            cell.place.line is None or 1 <= cell.place.line <= document.text.count("\n") + document.text.count("\r") + 1
        )


def _cells(document: Document) -> Iterable[Cell]:
    return (cell for table in document.tables for row in table.rows for cell in row.cells.values())


def _tree(data: bytes) -> None:
    """The first byte says which format of trees the rest is."""
    _table(_TREES[(data[0] if data else 0) % len(_TREES)], data[1:])


def _mapping(data: bytes) -> None:
    """The first byte says in which format the mapping is written."""
    path = _written(_TREES[(data[0] if data else 0) % len(_TREES)], data[1:])
    layouts = tried(lambda: claims.mapping_file(path))
    if layouts is None:
        return
    tried(lambda: claims.subjects_named((), layouts))
    for layout in layouts:
        layout.is_for("sizes.csv")
        _table(".csv", _CSV.encode(), (layout,))


def _mappings() -> Iterable[bytes]:
    column = {"column": "GB", "quantity": "tensor_bytes", "unit": "GB", "tolerance": "1%", "skip": ["n/a"]}
    rule = {"column": "Weights (GiB)", "rule": "ceil(tensor_bytes_gib * 1.2)", "at_least": "GB", "context": "8192"}
    built = {"value": "GB * 2", "quantity": "file_bytes", "unit": "GB", "build": "Quant", "builds": {"Q4": "org/q"}}
    whole = {"file": "*.csv", "repo": "Model", "repos": {"org/a": {"repo": "org/x", "revision": "v1"}}}
    yield b"\0" + json.dumps({**whole, "columns": [column, rule, built]}).encode()
    yield b"\0" + json.dumps({"tables": [{"names": {"repo": "Model", "value": "GB"}, "tolerance": "2%"}]}).encode()
    yield b'\x02repo = "Model"\n[[columns]]\ncolumn = "GB"\nquantity = "parameters"\nunit = "B"\n'
    yield b"\x03repo: Model\ncolumns:\n  GB: &c {quantity: file_bytes, unit: GB}\n  ctx: {<<: *c, kv_dtype: fp8}\n"


def _texts(*suffixes: str) -> Iterable[bytes]:
    return [text.encode() for name, text in ROWS.items() if name.endswith(suffixes)]


def _trees() -> Iterable[bytes]:
    for number, suffix in enumerate(_TREES):
        for text in _texts(suffix):
            yield bytes([number]) + text


_WORDS: Final = (
    *(
        "repo",
        "model_id",
        "quantity",
        "metric",
        "value",
        "unit",
        "tolerance",
        "context",
        "cluster",
        "revision",
        "variant",
    ),
    *(
        "tensor_bytes",
        "file_bytes",
        "files",
        "cache_bytes",
        "fits",
        "max_context",
        "prequantised",
        "GB",
        "GiB",
        "1,000",
    ),
    *(
        "2x dgx-spark",
        "8192",
        "fp8",
        "yes",
        "n/a",
        "=1+1",
        "org/a",
        "\u202e",
        "16.9 kB",
        "https://huggingface.co/org/b",
    ),
)
TARGETS: Final = (
    Target(
        "markdown",
        lambda data: _table(".md", data),
        lambda: _texts(".md"),
        (*_WORDS, "|---|", "\\|", "`", "**", "[x](y)", "```", "<!--", "> ", "- ", "~~"),
        longest=2_000,
    ),
    Target(
        "csv",
        lambda data: _table(".csv", data),
        lambda: _texts(".csv"),
        (*_WORDS, '""', '"', ";", "\r\n", "#", "\ufeff"),
        longest=2_000,
    ),
    Target(
        "trees",
        _tree,
        _trees,
        (*_WORDS, "&a", "*a", "<<: ", "? ", "|-\n", "!!set", "[[rows]]", "'''", "{", "[", "---"),
        structured=1,
        longest=2_000,
    ),
    Target(
        "mapping",
        _mapping,
        _mappings,
        (
            *(*_WORDS, "columns", "column", "rule", "builds", "build", "repos", "names", "rows", "tables", "at_least"),
            *(
                "skip",
                "table",
                "shipped",
                "Model",
                "Weights (GiB)",
                "ctx",
                "Quant",
                "GB * 2",
                "cache(8192)",
                "kv_dtype",
            ),
        ),
        structured=1,
        longest=3_000,
    ),
)
