"""Dropping any tensor of a case never makes a wrong number: the right one where the rest proves it, or unknown.

Every case whose parameters are known is measured again without each of its tensors. Without an overhead tensor the
count is the same or unknown; without a payload it is that of the other modules or unknown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from inspector.measure import measure
from inspector.model import Footprint, TensorRow
from inspector.schemes import splitter
from tests.memory import MemorySource, header
from tests.schemes.layout import nbytes
from tests.waiting import load

CASES = sorted((Path(__file__).parent / "cases").glob("*/*.json"))
KNOWN = [p for p in CASES if json.loads(p.read_text())["expect"].get("parameters")]

LONE_VECTORS = frozenset({"ggml"})
"""A per-expert `.scale` without its weight looks like a layer scale, which is a parameter."""


def measured(case: Mapping[str, Any], names: set[str]) -> tuple[Footprint, tuple[TensorRow, ...]]:
    stored = {n: t for n, t in case["tensors"].items() if n in names}
    tensors = {n: (t["dtype"], tuple(t["shape"]), nbytes(t["dtype"], t["shape"])) for n, t in stored.items()}
    metadata = {k: v if isinstance(v, str) else json.dumps(v) for k, v in (case.get("metadata") or {}).items()}
    files: dict[str, bytes | tuple[bytes, int]] = {"model.safetensors": header(tensors, metadata)}
    if case.get("config") is not None:
        files["config.json"] = json.dumps(case["config"]).encode()
    for name, content in (case.get("extra_files") or {}).items():
        files[name] = json.dumps(content).encode()
    footprint, rows = measure(load(MemorySource(files)).checkpoint, lambda _: True)
    assert rows is not None
    return footprint, rows


def test_there_are_cases() -> None:
    assert len(KNOWN) > 80


@pytest.mark.parametrize("path", KNOWN, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_without_each_tensor_the_number_is_right_or_unknown(path: Path) -> None:
    case = json.loads(path.read_text())
    everything = set(case["tensors"])
    whole, rows = measured(case, everything)
    assert whole.parameters == case["expect"]["parameters"]
    split, _ = splitter()
    for row in rows:
        rest = everything - {row.name}
        if not rest:
            continue
        found = measured(case, rest)[0]
        assert sum(c.bytes for c in found.cells) == whole.tensor_bytes - row.bytes
        right = {None, whole.parameters}
        if row.role == "weight" and path.parent.name in LONE_VECTORS:
            continue
        if row.role == "weight":
            base = split(row.name)[0]
            others = {n for n in everything if split(n)[0] != base}
            right = {None, measured(case, others)[0].parameters if others else 0}
        assert found.parameters in right, f"without {row.name}: {found.parameters:,} of {whole.parameters:,}"
