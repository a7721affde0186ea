"""docs/limits.md says what the code does, and the README and SECURITY.md lead there."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "limits.md"
ROW = re.compile(r"^\| .+ \| ([\d,.]+) \| `([\w.]+)\.(\w+)` \|$", re.MULTILINE)


def test_every_bound_is_that_of_the_code() -> None:
    rows = ROW.findall(PAGE.read_text("utf-8"))
    assert len(rows) > 25
    for value, module, name in rows:
        assert float(value.replace(",", "")) == getattr(import_module(module), name), f"{module}.{name}"


def test_every_row_of_a_table_is_such_a_row() -> None:
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("|")]
    assert len(ROW.findall("\n".join(lines))) == len(lines) - 4


def test_others_lead_to_it() -> None:
    for name in ("README.md", "SECURITY.md"):
        assert "docs/limits.md" in (ROOT / name).read_text("utf-8"), name
