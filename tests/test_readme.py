"""README says what the tool does: generated blocks are current, options exist, the library example runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from inspector.cli import command
from inspector.commands import COMMANDS
from inspector.commands import load as load_command
from scripts.documents import BLOCK, differences, written
from tests.loopback import LoopbackHub, load

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
FIT = (ROOT / "docs" / "fit.md").read_text()


def test_generated_blocks_are_current() -> None:
    """`scripts/readme` writes them again."""
    assert len(BLOCK.findall(README)) >= 3
    assert differences(README, written(README)) == []


def test_the_table_of_outcomes_is_current_and_agrees() -> None:
    fresh = written(FIT)
    assert differences(FIT, fresh) == []
    rows = [line for line in fresh.splitlines() if line.startswith("| ") and line.endswith((" yes |", " NO |"))]
    assert len(rows) >= 19
    assert not [row for row in rows if row.endswith(" NO |")]


def test_every_flag_in_readme_exists() -> None:
    commands = (command, *map(load_command, COMMANDS))
    known = {o for c in commands for p in c.params for o in (*p.opts, *p.secondary_opts)} | {"--check", "--help"}
    used = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README))
    assert used
    assert used <= known, used - known


def test_every_path_in_readme_exists() -> None:
    paths = set(re.findall(r"\((docs/[\w.-]+)\)|(scripts/\w+)", README))
    assert paths
    for pair in paths:
        path = next(p for p in pair if p)
        assert (ROOT / path).exists(), path


def test_the_library_example_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    with LoopbackHub([load("deepseek-ai/DeepSeek-V4.1-Flash")]) as hub:
        done = subprocess.run(
            [sys.executable, "-c", example],
            capture_output=True,
            text=True,
            env={"HF_ENDPOINT": hub.endpoint, "PYTHONPATH": str(ROOT), "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"},
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "510286023000 763205315794 yes"
