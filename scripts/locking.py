"""Write requirements/ci.txt and docs/licences.md from what is installed: `python -m scripts.locking`."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from datetime import date
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import tomllib

ROOT = Path(__file__).resolve().parents[1]
_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_EXTRA = re.compile(r"extra\s*==")
_SPELLINGS = {
    "BSD License": "BSD-3-Clause",
    "MIT License": "MIT",
    "Apache License 2.0": "Apache-2.0",
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    run = closure(project["dependencies"])
    everything = closure([*project["dependencies"], *project["optional-dependencies"]["test"]])
    names = {d.name for d in run}
    pins = "".join(f"{d.name}=={d.version}{_marker(d)}\n" for d in everything)
    head = f"# What CI installs, exactly: made by `python -m scripts.locking` on {date.today()}.\n"
    (ROOT / "requirements/ci.txt").write_text(head + pins, "utf-8")
    rows = "".join(
        f"| {d.name} | {d.version} | {_licence(d)} | {'run' if d.name in names else 'test'} |\n" for d in everything
    )
    (ROOT / "docs/licences.md").write_text(_ABOUT.format(day=date.today(), rows=rows), "utf-8")
    return 0


_ABOUT = """# Licences

This project is Apache-2.0. It contains no other project's code; it installs the packages below, with what they need in
turn (made by `python -m scripts.locking` on {day}; `requirements/ci.txt` pins the same versions for CI).

| package | version | licence | needed to |
|---|---|---|---|
{rows}"""


def closure(wanted: Iterable[str]) -> list[Distribution]:
    """The packages of these requirements and what they need in turn, by name, as far as they are installed."""
    found: dict[str, Distribution] = {}
    queue = list(wanted)
    while queue:
        line = queue.pop()
        match = None if _EXTRA.search(line) else _NAME.match(line)
        key = re.sub(r"[-_.]+", "-", match[0]).lower() if match else ""
        if match and key not in found:
            try:
                found[key] = distribution(match[0])
            except PackageNotFoundError:
                # For another platform or Python.
                continue
            queue += found[key].requires or []
    return [found[key] for key in sorted(found)]


def _about(found: Distribution) -> Any:
    """The metadata; its type lacks what an email message has."""
    return found.metadata


def _marker(found: Distribution) -> str:
    """Where a version leaves out Pythons that the project supports, they take another one."""
    oldest = re.search(r">=\s*3\.(\d+)", _about(found).get("Requires-Python") or "")
    return f"; python_version >= '3.{oldest[1]}'" if oldest and int(oldest[1]) > 10 else ""


def _licence(found: Distribution) -> str:
    about = _about(found)
    words = about.get("License-Expression") or ""
    if not words:
        kinds = [c.rpartition("::")[2].strip() for c in about.get_all("Classifier") or [] if c.startswith("License ::")]
        words = " or ".join(kinds) or (about.get("License") or "not stated").splitlines()[0][:60]
    return _SPELLINGS.get(words, words)


if __name__ == "__main__":
    sys.exit(main())
