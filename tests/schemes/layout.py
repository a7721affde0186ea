"""A case is a layout (tensors, config, side files) with what it must come to; a folder on disk is made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from inspector import Report, inspect
from inspector.storing.dtypes import BITS, canonical
from tests.memory import header

Case = dict[str, Any]


def nbytes(dtype: str, shape: list[int]) -> int:
    """Stored bytes of a tensor; dtypes that nobody knows are taken as one byte an element."""
    bits = BITS.get(canonical(dtype), 8)
    for d in shape:
        bits *= d
    assert bits % 8 == 0
    return bits // 8


def lay_out(case: Case, folder: Path) -> Path:
    """Write the case's files; tensor data is a hole in a sparse file."""
    tensors = {
        name: (t["dtype"], tuple(t["shape"]), nbytes(t["dtype"], t["shape"])) for name, t in case["tensors"].items()
    }
    metadata: Mapping[str, str] = {
        k: v if isinstance(v, str) else json.dumps(v) for k, v in (case.get("metadata") or {}).items()
    }
    head, size = header(tensors, metadata)
    with (folder / "model.safetensors").open("wb") as file:
        file.write(head)
        file.truncate(len(head) + size)
    if case.get("config") is not None:
        (folder / "config.json").write_text(json.dumps(case["config"]))
    for name, content in (case.get("extra_files") or {}).items():
        (folder / name).write_text(json.dumps(content))
    return folder


def report(case: Case, folder: Path) -> Report:
    """What `inspect` says of the case's folder."""
    return inspect(str(lay_out(case, folder)))


def overhead(found: Report) -> int:
    """All bytes that are no parameter's payload."""
    return sum(c.overhead_bytes for c in found.cells)
