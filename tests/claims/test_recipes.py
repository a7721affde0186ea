"""Where it runs: the action's steps as scripts, the hook, and the recipes of docs/check.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from inspector.claim.claim_mapping import _COLUMN
from inspector.claim.claim_quantities import QUANTITIES
from inspector.cli import main
from inspector.commands.check import command
from tests.claims.repos import tiny, written
from tests.loopback import LoopbackHub

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = (ROOT / "docs" / "check.md").read_text()
TABLE = "repo,quantity,value,unit,tolerance\norg/m,tensor_bytes,1000,B,0\norg/m,tensor_bytes,1001,B,0\n"


def action() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
    return found


def ran(folder: Path, table: str, endpoint: str, **inputs: str) -> tuple[subprocess.CompletedProcess[str], Path, Path]:
    """The action's check step, with this interpreter in the place of the one that it installs."""
    binary = folder / "inspect" / "bin"
    binary.mkdir(parents=True, exist_ok=True)
    (binary / "inspect").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m inspector "$@"\n')
    (binary / "inspect").chmod(0o755)
    outputs, summary = folder / "outputs", folder / "summary"
    env = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(ROOT),
        "RUNNER_TEMP": str(folder),
        "GITHUB_OUTPUT": str(outputs),
        "GITHUB_STEP_SUMMARY": str(summary),
        "HF_ENDPOINT": endpoint,
        "HF_TOKEN": "",
        "INSPECT_TABLE": table,
        "INSPECT_MAPPING": "",
        "INSPECT_LOCKED": "",
        "INSPECT_ARGUMENTS": "",
        **inputs,
    }
    (step,) = [s for s in action()["runs"]["steps"] if s.get("id") == "check"]
    assert set(step["env"]) <= set(env)
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
    done = subprocess.run(command, env=env, cwd=folder, capture_output=True, text=True, timeout=60)
    return done, outputs, summary


def test_the_actions_check_step(tmp_path: Path) -> None:
    written(tmp_path, "-odd name.csv", TABLE)
    with LoopbackHub([tiny("org/m")]) as hub:
        done, outputs, summary = ran(tmp_path, "-odd name.csv", hub.endpoint)
        assert done.returncode == 1, done.stderr
        assert outputs.read_text() == "status=1\n"
        assert "::error file=-odd name.csv,line=3," in done.stdout
        assert "2 claims: 1 ok, 1 wrong" in summary.read_text()
        loose, _, _ = ran(tmp_path, "-odd name.csv", hub.endpoint, INSPECT_ARGUMENTS="--tolerance 1%")
        assert loose.returncode == 1


def test_no_input_is_pasted_into_a_script() -> None:
    for step in action()["runs"]["steps"]:
        assert "${{" not in step["run"]
    assert set(action()["inputs"]) == {"table", "mapping", "locked", "arguments", "token", "python"}


def test_the_hook_names_a_command_that_exists(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert hook["language"] == "python"
    assert hook["entry"].split() == ["inspect", "check"]
    written(tmp_path, "t.csv", TABLE)
    with LoopbackHub([tiny("org/m")]) as hub:
        assert main([*hook["entry"].split()[1:], "--endpoint", hub.endpoint, str(tmp_path / "t.csv")]) == 1


def test_the_pytest_recipe_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (recipe,) = re.findall(r"```python\n(.*?)```", DOCUMENT, re.DOTALL)
    written(tmp_path, "sizes.csv", TABLE)
    written(tmp_path, "test_sizes.py", recipe)
    monkeypatch.chdir(tmp_path)
    with LoopbackHub([tiny("org/m")]) as hub:
        assert main(["lock", "sizes.csv", "-o", "sizes.lock.zip", "--endpoint", hub.endpoint, "-q"]) == 0
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_sizes.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "1 failed, 1 passed" in done.stdout, done.stdout


def test_the_documents_mapping_and_claims_are_read(tmp_path: Path) -> None:
    from inspector import claims

    (mapping,) = re.findall(r"```toml\n(.*?)```", DOCUMENT, re.DOTALL)
    (table,) = re.findall(r"```csv\n(.*?)```", DOCUMENT, re.DOTALL)
    (layout,) = claims.mapping_file(Path(written(tmp_path, "m.toml", mapping)))
    assert set(layout.repos) == {"Big Model", "Old Model"}
    sheet = claims.sheet(Path(written(tmp_path, "t.csv", table)))
    assert [c.fault for c in sheet.claims] == ["", "", ""]


def test_the_document_names_every_quantity_key_and_flag() -> None:
    for name in (*QUANTITIES, *_COLUMN - {"column"}):
        assert re.search(rf"\b{re.escape(name)}\b", DOCUMENT), name
    known = {o for p in command.params for o in p.opts} | {"--mapping"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", DOCUMENT)) <= known
