"""`python -m tests.faults`: write docs/faults.md."""

from pathlib import Path

from tests.faults.cases import table

Path(__file__).resolve().parents[2].joinpath("docs/faults.md").write_text(table(), "utf-8")
