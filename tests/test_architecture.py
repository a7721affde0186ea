"""Imports go one way: each module imports only from its own row of the table in docs/architecture.md."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "inspector"
DOCUMENT = PACKAGE.parent / "docs" / "architecture.md"

ROWS: dict[str, set[str]] = {
    "errors": set(),
    "units": set(),
    "escape": set(),
    "columns": set(),
    "dtypes": set(),
    "collector": set(),
    "blocks": set(),
    "components": set(),
    "model": set(),
    "lookup_tables": set(),
    "ggml_types": set(),
    "gguf_window": {"errors"},
    "gguf_values": {"model", "gguf_window"},
    "gguf_stream": {"errors", "model", "gguf_window", "gguf_values"},
    "gguf_keys": {"model", "ggml_types"},
    "expressions": set(),
    "automaton": {"expressions"},
    "patterns": {"model", "expressions", "automaton"},
    "declaration": {"model"},
    "places": {"model", "declaration"},
    "witnesses": {"model", "declaration"},
    "declared": {"model", "patterns", "declaration", "places", "witnesses"},
    "contradictions": {"model", "declared"},
    "contents": set(),
    "weights": {"model"},
    "sets": {"model"},
    "picking": {"errors", "model", "sets", "weights"},
    "quant_names": {"model", "ggml_types", "gguf_keys"},
    "quants": {"model", "quant_names", "weights"},
    "gguf_notes": {"model", "gguf_keys", "quant_names"},
    "cross_check": {"model"},
    "store": set(),
    "report_form": {"model", "cache_model", "fit_model"},
    "keeping": {"__version__", "model", "report_form", "store"},
    "twins": {"formats", "model"},
    "trust": {"environment", "errors"},
    "connections": {"errors", "escape", "trust"},
    "reading": {"model", "quant_names"},
    "formats": {"json_faults", "errors", "model", "dtypes", "ggml_types", "gguf_values", "gguf_stream"},
    "companions": {"model"},
    "packing": set(),
    "schemes": {"model", "dtypes", "blocks", "companions", "packing", "lookup_tables", "ggml_types"},
    "grouping": {"model", "dtypes", "components", "declared", "schemes"},
    "verdict": {"model", "declared"},
    "slicing": {"model", "components", "grouping"},
    "noting": {"model"},
    "learning": {"model"},
    "json_faults": set(),
    "measure": {
        "model",
        "contradictions",
        "declared",
        "gguf_keys",
        "gguf_notes",
        "grouping",
        "hub_count",
        "noting",
        "slicing",
        "verdict",
    },
    "derived": {"model", "ggml_types", "gguf_keys", "quant_names"},
    "menu": {"model", "derived", "measure"},
    "palette": set(),
    "lettering": {"escape"},
    "rollup": {"model"},
    "proportions": {"columns", "fit_model", "model", "rollup", "units"},
    "charts": {"lettering", "palette"},
    "treemap": {"lettering", "model", "palette", "phrases", "rollup", "units"},
    "pictures": {"charts", "fit_model", "model", "palette", "phrases", "rollup", "units"},
    "sentences": {"cache_model", "fit_model", "model", "phrases", "units"},
    "templating": {"__version__", "escape", "lettering", "palette"},
    "page_tables": {
        "cache_model",
        "columns",
        "fit_model",
        "model",
        "phrases",
        "pictures",
        "rollup",
        "sentences",
        "tables",
        "treemap",
        "units",
    },
    "page": {
        "charts",
        "fit_model",
        "lettering",
        "model",
        "page_tables",
        "palette",
        "phrases",
        "pictures",
        "sentences",
        "tables",
        "templating",
        "treemap",
    },
    "verdicts_page": {
        "claim_verdict",
        "columns",
        "page_tables",
        "palette",
        "phrases",
        "templating",
        "units",
        "verdict_words",
    },
    "key_table": {"columns", "model", "phrases", "tables"},
    "sizes": set(),
    "fit_model": set(),
    "hardware": {"errors", "fit_model", "model", "sizes"},
    "cluster": {"errors", "fit_model", "hardware", "sizes", "units"},
    "engines": {"errors", "fit_model", "model", "sizes", "units"},
    "placement": {"fit_model", "model"},
    "resident": {"errors", "fit_model", "model"},
    "fit_plan": {"cache_model", "engines", "fit_model", "model", "placement"},
    "fit_words": {"cache_model", "engines", "fit_model", "fit_plan", "model", "resident", "units"},
    "context_parallel": {"cache_model", "fit_plan"},
    "fit": {"cache_model", "context_parallel", "engines", "fit_model", "fit_plan", "fit_words", "model", "resident"},
    "snapshot_file": set(),
    "snapshot_zip": {"errors", "escape", "snapshot_file"},
    "snapshot_model": {"errors", "model"},
    "snapshot_manifest": {"errors", "escape", "model", "snapshot_model"},
    "snapshot": {
        *("errors", "escape", "snapshot_file", "snapshot_manifest", "snapshot_model", "snapshot_zip"),
    },
    "recording": {
        "learning",
        *("errors", "model", "checkpoint", "formats", "quant_names", "weights", "snapshot_model", "snapshot_zip"),
    },
    "locking": {
        *("address", "collector", "errors", "escape", "inspection", "model", "recording", "sources"),
        *("snapshot", "snapshot_model", "snapshot_zip"),
    },
    "recipe": {"errors", "claim_model", "claim_quantities"},
    "selection": {"model", "errors", "picking", "quant_names", "quants", "sets", "weights"},
    "checkpoint": {
        "model",
        "json_faults",
        "learning",
        "cross_check",
        "errors",
        "formats",
        "gguf_notes",
        "quant_names",
        "reading",
        "selection",
    },
}


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
            names = [a.name for a in node.names]
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
            folder = path.parent.name == row and path.name != "__init__.py"
            assert not folder, f"{path.name} imports its sibling {name}"
            continue
        assert row in ROWS, f"{row} has no row: add it here and to docs/architecture.md"
        assert target in ROWS[row], f"{row} may not import {target}"


def test_the_document_names_every_row() -> None:
    text = DOCUMENT.read_text()
    for row in ROWS:
        assert f"`{row}.py`" in text or f"`{row}/`" in text, f"docs/architecture.md does not mention {row}"


@pytest.mark.parametrize("name", ["inspect", "types", "tokenize", "statistics"])
def test_no_module_shadows_the_standard_library(name: str) -> None:
    assert not list(PACKAGE.rglob(f"{name}.py"))
