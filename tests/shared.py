"""The hand-over folder beside the project, where it is present; tests say what they skip where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2] / "shared"


def folder(part: str) -> Path:
    """`../shared/<part>`, or a skip that names it."""
    found = ROOT / part
    if not found.exists():
        pytest.skip(f"../shared/{part} is not here: its files were not checked")
    return found


def listed(part: str, pattern: str) -> list[Path]:
    """Files of `../shared/<part>` for parametrising; empty where the folder is absent."""
    return sorted((ROOT / part).glob(pattern)) if (ROOT / part).is_dir() else []
