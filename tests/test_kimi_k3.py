"""Kimi-K3, the largest layout known: half a million tensors, FP4 whose E8M0 scales sit in U8 beside U8 payloads."""

from __future__ import annotations

import json

from inspector.measure import measure
from scripts.layouts import kimi_k3
from scripts.layouts.tensors import header
from tests.memory import MemorySource
from tests.waiting import load


def test_kimi_k3() -> None:
    files: dict[str, bytes | tuple[bytes, int]] = {"config.json": json.dumps(kimi_k3.CONFIG).encode()}
    shards = list(kimi_k3.shards())
    for number, tensors in enumerate(shards, 1):
        files[f"model-{number:05d}-of-{len(shards):05d}.safetensors"] = header(tensors)
    checkpoint = load(MemorySource(files)).checkpoint
    found, _ = measure(checkpoint)
    assert sum(len(h.tensors) for h in checkpoint.headers) == kimi_k3.TENSORS
    assert found.tensor_bytes == kimi_k3.TENSOR_BYTES
    assert found.parameters == kimi_k3.PARAMETERS
    (experts,) = [c for c in found.cells if c.component == "routed_experts"]
    assert (experts.precision, experts.parameters, experts.blocks) == ("fp4_e2m1", 2_722_740_830_208, ((1, 32),))
    assert found.prequantised.verdict == "yes"
    assert found.notes == ()
