"""One model as five quantisers write it: the same parameters each time, and its own precision."""

from __future__ import annotations

from pathlib import Path

import pytest

from inspector import inspect
from scripts.benchmarks.recognise import write
from scripts.layouts import llama_quantised

PRECISIONS = {
    "NVFP4 (ModelOpt)": ("fp4_e2m1", "modelopt"),
    "AWQ": ("uint4", "awq"),
    "GPTQ": ("uint4", "gptq"),
    "MLX 4-bit": ("uint4", "mlx"),
    "bitsandbytes 4-bit": ("nf4", "bitsandbytes"),
}


@pytest.mark.parametrize("name", llama_quantised.BUILDS)
def test_llama_in_every_build(name: str, tmp_path: Path) -> None:
    tensors, config = llama_quantised.BUILDS[name]
    rows = list(tensors())
    write(tmp_path, [rows], config)
    found = inspect(str(tmp_path))
    precision, method = PRECISIONS[name]
    assert found.parameters == llama_quantised.PARAMETERS
    assert found.tensor_bytes == sum(t.nbytes for t in rows)
    assert (found.prequantised.verdict, found.prequantised.method) == ("yes", method)
    assert {c.precision for c in found.cells if c.component == "mlp"} == {precision}
    assert not [n for n in found.notes if n.code != "hub_count"]
