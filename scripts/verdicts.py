"""The table of verdicts in README: recorded releases, and one model as five quantisers write it."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from inspector import Report, inspect
from inspector.units import count, gb
from scripts.benchmarks.recognise import write
from scripts.layouts import llama_quantised

RECORDED = (
    "deepseek-ai/DeepSeek-V4.1-Flash",
    "zai-org/GLM-5.3-Flash",
    "zai-org/GLM-5.3-Flash-BF16",
    "openai/gpt-oss-120b",
    "moonshotai/Kimi-K2.5",
)


def reports(endpoint: str) -> Iterator[tuple[str, Report]]:
    """(name, report) of each row."""
    for repo in RECORDED:
        yield repo, inspect(repo, endpoint=endpoint)
    for name, (tensors, config) in llama_quantised.BUILDS.items():
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), [list(tensors())], config)
            yield f"Llama-3.1-8B as {name}", inspect(folder)


def table(endpoint: str) -> str:
    """One row per checkpoint."""
    lines = ["| checkpoint | quantised? | method | what ships | parameters | tensor bytes | bits per weight |"]
    lines += ["|---|---|---|---|---:|---:|---:|"]
    for name, found in reports(endpoint):
        what = found.prequantised.summary.partition(": ")[2]
        parameters = "unknown" if found.parameters is None else count(found.parameters)
        size = "unknown" if found.tensor_bytes is None else gb(found.tensor_bytes)
        width = "unknown" if found.bits_per_weight is None else f"{found.bits_per_weight:.2f}"
        cells = (name, found.prequantised.verdict, found.prequantised.method or "", what, parameters, size, width)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
