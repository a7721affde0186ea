"""Decode and classify half a million tensors: Kimi-K3's layout, and one header with 500,000 tensors."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from scripts.benchmarks.processes import usage
from scripts.layouts import kimi_k3
from scripts.layouts.tensors import Tensor, header

LIMIT_SECONDS, LIMIT_BYTES = 4.0, 1_000_000_000

_IMPORTS = "import inspector.inspection, inspector.sources.local"
_RUN = "import sys; from inspector import inspect; r = inspect(sys.argv[1]); print(r.tensors, r.parameters)"


def run() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    idle, _ = usage([sys.executable, "-c", _IMPORTS])
    with tempfile.TemporaryDirectory() as where:
        for name, shards, config in (
            ("Kimi-K3", kimi_k3.shards(), kimi_k3.CONFIG),
            ("500,000 in one header", iter([list(synthetic())]), {"model_type": "x", "num_hidden_layers": 80}),
        ):
            folder = Path(where, name.replace(" ", "-"))
            folder.mkdir()
            write(folder, list(shards), config)
            cpu, memory = usage([sys.executable, "-c", _RUN, str(folder)])
            found[name] = {"cpu_seconds": cpu, "of_it_imports": idle, "peak_bytes": memory}
            limits = f"limits {LIMIT_SECONDS} s and {LIMIT_BYTES / 1e6:.0f} MB"
            print(f"{name:22} {cpu:5.2f} s CPU, {memory / 1e6:5.0f} MB ({limits})")
    return found


def synthetic() -> Iterator[Tensor]:
    """500,000 tensors of FP8 experts with their scales, in 80 layers."""
    for number in range(250_000):
        layer, expert = number % 80, number // 80
        base = f"model.layers.{layer}.mlp.experts.{expert}.up_proj"
        yield Tensor(f"{base}.weight", "F8_E4M3", (256, 512))
        yield Tensor(f"{base}.weight_scale_inv", "F32", (2, 4))


def write(folder: Path, shards: list[list[Tensor]], config: object) -> None:
    """The shards as sparse files."""
    for number, tensors in enumerate(shards, 1):
        head, size = header(tensors)
        with (folder / f"model-{number:05d}-of-{len(shards):05d}.safetensors").open("wb") as file:
            file.write(head)
            file.truncate(len(head) + size)
    (folder / "config.json").write_text(json.dumps(config))
