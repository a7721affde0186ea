"""How cost grows: CPU and memory over tensors in one header, and over shards, on local files."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scripts.benchmarks.processes import usage
from scripts.benchmarks.recognise import write
from scripts.layouts.tensors import Tensor

TENSORS = (1, 1_000, 10_000, 100_000, 500_000)
SHARDS = (1, 10, 100, 1_000)
_RUN = "import sys; from inspector import inspect; print(inspect(sys.argv[1]).tensors)"


def run() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    cases = [(f"{n:,} tensors, 1 shard", n, 1) for n in TENSORS]
    cases += [(f"20,000 tensors, {n:,} shards", 20_000, n) for n in SHARDS]
    with tempfile.TemporaryDirectory() as where:
        for name, tensors, shards in cases:
            folder = Path(where, f"{tensors}-{shards}")
            folder.mkdir()
            write(folder, list(_shards(tensors, shards)), {"model_type": "x", "num_hidden_layers": 80})
            if shards > 1:
                _index(folder, tensors, shards)
            cpu, memory = usage([sys.executable, "-c", _RUN, str(folder)])
            found[name] = {"cpu_seconds": cpu, "peak_bytes": memory}
            print(f"{name:30} {cpu:6.2f} s CPU  {memory / 1e6:6.0f} MB", flush=True)
    return found


def _shards(tensors: int, shards: int) -> Iterator[list[Tensor]]:
    for shard in range(shards):
        yield [
            Tensor(f"model.layers.{n % 80}.mlp.experts.{n // 80}.up_proj.weight", "BF16", (256, 512))
            for n in range(shard, tensors, shards)
        ]


def _index(folder: Path, tensors: int, shards: int) -> None:
    rows = enumerate(_shards(tensors, shards), 1)
    names = {t.name: f"model-{n:05d}-of-{shards:05d}.safetensors" for n, ts in rows for t in ts}
    about = {"metadata": {"total_size": tensors * 256 * 512 * 2}, "weight_map": names}
    (folder / "model.safetensors.index.json").write_text(json.dumps(about))
