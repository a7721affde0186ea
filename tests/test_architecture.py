"""Imports go one way: each module imports only from its own row of the table in docs/architecture.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "inspector"
DOCUMENT = PACKAGE.parent / "docs" / "architecture.md"

ROWS: dict[str, set[str]] = {
    "collector": set(),
    "components": set(),
    "contents": set(),
    "errors": {"escape"},
    "escape": set(),
    "experts": {"model"},
    "json_faults": set(),
    "model": set(),
    "records": set(),
    "request": {"model"},
    "snapshot_file": set(),
    "tasks": set(),
    "units": set(),
    "toml_text": {"errors", "model"},
    "cross_check": {"model"},
    "disk": {"contents", "errors", "escape", "model"},
    "keep": {"model"},
    "kv": {"errors", "model"},
    "net": {"errors", "escape", "model", "tasks"},
    "noting": {"model"},
    "rollup": {"model"},
    "sets": {"model"},
    "storing": {"model"},
    "weights": {"model"},
    "witness": {"model"},
    "address": {"errors", "escape", "net", "snapshot_file"},
    "attention": {"kv", "model"},
    "declared": {"model", "witness"},
    "gguf": {"errors", "model", "weights"},
    "output": {"errors", "weights"},
    "picking": {"errors", "model", "sets", "weights"},
    "quant": {"errors", "model", "rollup"},
    "cache": {"attention", "kv", "model"},
    "claim": {"address", "errors", "json_faults", "kv", "model", "quant", "rollup"},
    "contradictions": {"declared", "model"},
    "derived": {"gguf", "model"},
    "formats": {"errors", "gguf", "json_faults", "model", "storing"},
    "progress": {"escape", "model", "output", "units"},
    "reading": {"gguf", "model"},
    "schemes": {"gguf", "model", "storing"},
    "selection": {"errors", "gguf", "model", "picking", "sets", "weights"},
    "verdict": {"declared", "model"},
    "gguf_cache": {"cache", "kv", "model"},
    "grouping": {"components", "declared", "experts", "model", "schemes", "storing"},
    "twins": {"formats", "model"},
    "agreement": {"errors", "formats", "model", "twins"},
    "checkpoint": {
        "agreement",
        "cross_check",
        "errors",
        "formats",
        "gguf",
        "json_faults",
        "model",
        "net",
        "reading",
        "selection",
        "tasks",
        "twins",
    },
    "fitting": {"cache", "errors", "gguf_cache", "kv", "model", "toml_text", "units"},
    "hub_count": {"grouping", "model"},
    "slicing": {"components", "grouping", "model"},
    "measure": {
        "components",
        "contradictions",
        "declared",
        "experts",
        "gguf",
        "grouping",
        "hub_count",
        "model",
        "noting",
        "slicing",
        "twins",
        "verdict",
    },
    "show": {"claim", "escape", "fitting", "model", "quant", "rollup", "units"},
    "snapshots": {
        "checkpoint",
        "claim",
        "errors",
        "escape",
        "formats",
        "gguf",
        "model",
        "net",
        "snapshot_file",
        "weights",
    },
    "menu": {"derived", "measure", "model"},
    "render": {"escape", "model", "noting", "rollup", "show"},
    "repeating": {"address", "model", "request"},
    "sources": {
        "address",
        "contents",
        "disk",
        "errors",
        "escape",
        "keep",
        "model",
        "net",
        "sets",
        "snapshots",
        "tasks",
        "weights",
    },
    "verdict_render": {"claim", "escape", "model", "show"},
    "begun": {"address", "checkpoint", "keep", "model", "sources", "tasks"},
    "inspection": {
        "address",
        "ahead",
        "begun",
        "checkpoint",
        "collector",
        "fitting",
        "keep",
        "measure",
        "menu",
        "model",
        "net",
        "noting",
        "sources",
        "tasks",
    },
    "ahead": {"address", "begun", "errors", "keep", "model", "net", "request", "sources", "tasks"},
    "answer": {
        "ahead",
        "errors",
        "escape",
        "fitting",
        "inspection",
        "kv",
        "model",
        "output",
        "progress",
        "render",
        "repeating",
        "request",
        "snapshot_file",
        "sources",
    },
    "claims": {
        "address",
        "claim",
        "collector",
        "errors",
        "fitting",
        "inspection",
        "model",
        "quant",
        "storing",
        "tasks",
        "toml_text",
    },
    "locking": {
        "address",
        "collector",
        "errors",
        "escape",
        "inspection",
        "model",
        "snapshots",
        "sources",
        "tasks",
    },
    "opening": {"address", "claims", "escape", "model", "output", "sources"},
    "saving": {"answer", "escape", "locking", "output", "snapshots", "units"},
    "commands": {
        "address",
        "answer",
        "claim",
        "claims",
        "errors",
        "escape",
        "fitting",
        "keep",
        "locking",
        "model",
        "opening",
        "output",
        "progress",
        "quant",
        "request",
        "saving",
        "show",
        "snapshots",
        "sources",
        "units",
        "verdict_render",
    },
    "cli": {"answer", "commands", "request"},
    "process": {"ahead", "answer", "cli"},
}


EVERYWHERE = {"records"}
"""What every module may import: the way in which this package writes frozen classes."""

REGISTRIES = (
    "sources",
    "formats",
    "schemes",
    "declared",
    "attention",
    "selection",
    "render",
    "verdict_render",
    "commands",
    "claims",
)
"""Folders whose files never import each other: each adds one thing, and the folder's `__init__` lists them."""


def module(path: Path) -> str:
    """The row of a file: its folder's name, or its own."""
    parts = path.relative_to(PACKAGE).parts
    return parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    """Modules of this package that a file imports, as dotted paths without the package's name."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "inspector":
            rest = (node.module or "").split(".")[1:]
            names = [a.name for a in node.names if a.name != "__version__"]
            found |= {
                ".".join([*rest, n]) if not rest or (PACKAGE / Path(*rest)).is_dir() else ".".join(rest) for n in names
            }
        elif isinstance(node, ast.Import):
            found |= {a.name.removeprefix("inspector.") for a in node.names if a.name.startswith("inspector.")}
    return found


FILES = sorted(p for p in PACKAGE.rglob("*.py") if p.name not in ("__init__.py", "__main__.py") or p.parent != PACKAGE)


def test_there_are_files() -> None:
    assert len(FILES) > 20


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_stay_in_their_row(path: Path) -> None:
    row = module(path)
    for name in imports(path):
        target = name.split(".")[0]
        if target == row:
            sibling = row in REGISTRIES and path.name != "__init__.py"
            assert not sibling, f"{path.name} imports its sibling {name}"
            continue
        assert row in ROWS, f"{row} has no row: add it here and to docs/architecture.md"
        assert target in ROWS[row] | EVERYWHERE, f"{row} may not import {target}"


def test_the_document_names_every_row() -> None:
    text = DOCUMENT.read_text()
    for row in ROWS:
        assert f"`{row}.py`" in text or f"`{row}/`" in text, f"docs/architecture.md does not mention {row}"


@pytest.mark.parametrize("name", ["inspect", "types", "tokenize", "statistics"])
def test_no_module_shadows_the_standard_library(name: str) -> None:
    assert not list(PACKAGE.rglob(f"{name}.py"))


def test_rows_have_no_circle() -> None:
    left = dict(ROWS)
    while left:
        free = [row for row, targets in left.items() if not targets & left.keys()]
        assert free, f"these import each other in a circle: {sorted(left)}"
        for row in free:
            del left[row]
