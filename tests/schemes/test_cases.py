"""Every layout in `cases/<scheme>/*.json`, and the handed ones where they are, through a folder on disk.

A case: `source` (the rule it was made from), `tensors`, `config`, `metadata`, `extra_files`, and `expect` with any of
`parameters`, `overhead_bytes`, `verdict`, `precisions` {name: parameters}, `components` {name: {precision:
parameters}}, `notes` (codes that must be there), `bits_per_weight`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.schemes import SCHEMES
from tests import shared
from tests.schemes.layout import nbytes, overhead, report

HERE = Path(__file__).parent / "cases"
OWN = sorted(HERE.glob("*/*.json"))


def handed() -> list[dict[str, Any]]:
    path = shared.ROOT / "cases" / "quant_cases.json"
    cases = json.loads(path.read_text())["cases"] if path.exists() else []
    return [c for c in cases if "tensors" in c and "kind" not in c]


def test_there_are_cases_for_every_scheme() -> None:
    assert OWN
    folders = {p.parent.name for p in OWN}
    missing = [s.NAME for s in SCHEMES if s.NAME not in folders]
    assert not missing, f"no case folder for {missing}"


@pytest.mark.parametrize("path", OWN, ids=lambda p: f"{p.parent.name}/{p.stem}")
def test_own_case(path: Path, tmp_path: Path) -> None:
    case = json.loads(path.read_text())
    assert case["source"]
    expect = case["expect"]
    found = report(case, tmp_path)
    assert found.tensor_bytes == sum(nbytes(t["dtype"], t["shape"]) for t in case["tensors"].values())
    assert sum(c.bytes for c in found.cells) == found.tensor_bytes
    if "parameters" in expect:
        assert found.parameters == expect["parameters"]
    if "overhead_bytes" in expect:
        assert overhead(found) == expect["overhead_bytes"]
    if "verdict" in expect:
        assert found.prequantised.verdict == expect["verdict"]
    for name, parameters in expect.get("precisions", {}).items():
        cells = [c for c in found.cells if c.precision == name]
        assert cells, f"no {name} among {sorted({str(c.precision) for c in found.cells})}"
        assert sum(c.parameters or 0 for c in cells) == parameters
    for component, precisions in expect.get("components", {}).items():
        cells = [c for c in found.cells if c.component == component]
        assert {c.precision: c.parameters for c in cells} == precisions
    for code in expect.get("notes", []):
        assert code in {n.code for n in found.notes}
    if "bits_per_weight" in expect:
        assert found.bits_per_weight == pytest.approx(expect["bits_per_weight"], rel=1e-6)


@pytest.mark.parametrize("case", handed(), ids=lambda c: c["id"])
def test_handed_case(case: dict[str, Any], tmp_path: Path) -> None:
    expect = case["expect"]
    found = report(case, tmp_path)
    assert found.tensor_bytes == expect["stored_bytes"]
    assert sum(c.bytes for c in found.cells) == expect["stored_bytes"]
    assert found.parameters == expect["logical_params"]
    assert overhead(found) == expect["overhead_bytes"]
    verdict = found.prequantised.verdict
    wanted = expect["prequantised"]
    assert (
        verdict == wanted or (wanted is True and verdict in ("yes", "partly")) or (wanted is False and verdict == "no")
    )


def test_the_handed_cases_were_there() -> None:
    shared.folder("cases")
    assert len(handed()) == 50
