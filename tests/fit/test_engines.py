"""Budgets by the stated table; what an engine takes is overridden by the user's own figures."""

from __future__ import annotations

import math

import pytest

from inspector.errors import UsageError
from inspector.fitting.cluster import parse_cluster
from inspector.fitting.engines import choose_engine, engine_named, engines
from inspector.fitting.hardware import find_hardware
from inspector.model.fit_model import Workload
from tests.fit.builders import GIB, ROWS, answer, latent, split


@pytest.mark.parametrize(
    ("device", "count", "tight", "server"),
    [
        ("h100", 1, (0.90, 3.0), (0.90, 7.0)),
        ("h100", 8, (0.90, 3.6), (0.90, 7.6)),
        ("dgx-spark", 1, (0.85, 3.0), (0.85, 7.0)),
        ("dgx-spark", 2, (0.85, 3.6), (0.85, 7.6)),
        ("m3-ultra-512", 1, (1.0, 1.0), (1.0, 3.0)),
        ("m3-ultra-512", 2, (1.0, 1.0), (1.0, 3.0)),
    ],
)
def test_the_table(device: str, count: int, tight: tuple[float, float], server: tuple[float, float]) -> None:
    hardware = find_hardware(device, ROWS)
    assert hardware is not None
    engine = engine_named("vllm")
    assert engine.usable("raw", hardware, count, Workload()) == hardware.visible_bytes
    for budget, (fraction, reserve) in (("tight", tight), ("server", server)):
        expected = hardware.visible_bytes * fraction - reserve * GIB
        assert abs(engine.usable(budget, hardware, count, Workload()) - expected) <= 1


def test_utilization_and_reserve_replace_an_engines_figures() -> None:
    hardware = find_hardware("h200", ROWS)
    assert hardware is not None
    engine = engine_named("vllm")
    visible = hardware.visible_bytes
    work = Workload(utilization=0.95, reserve=GIB)
    assert engine.usable("server", hardware, 8, work) == math.floor(visible * 95 / 100) - GIB
    assert engine.usable("tight", hardware, 8, work) == engine.usable("server", hardware, 8, work)


def test_budgets_narrow_from_raw_to_server_for_every_engine_and_device() -> None:
    for engine in engines():
        for hardware in ROWS:
            for count in (1, 2):
                raw, tight, server = (engine.usable(b, hardware, count, Workload()) for b in ("raw", "tight", "server"))
                assert raw >= tight >= server >= 0, (engine.name, hardware.id)


def test_defaults_by_format_and_machine() -> None:
    sparks, macs = parse_cluster("2x dgx-spark", ROWS), parse_cluster("2x m3-ultra-512", ROWS)
    assert choose_engine(None, "safetensors", sparks)[0].name == "vllm"
    assert choose_engine(None, "gguf", sparks)[0].name == "llama.cpp"
    assert choose_engine(None, "gguf", macs)[0].name == "llama.cpp"
    assert choose_engine(None, "safetensors", macs)[0].name == "mlx"
    assert choose_engine("SGLang", "gguf", macs)[0].name == "sglang"
    assert (engine_named("llamacpp").state_dtype, engine_named("llama.cpp").conv_dtype) == ("fp32", "fp32")
    with pytest.raises(UsageError, match="vllm"):
        engine_named("vlm")


def test_every_assumption_is_said() -> None:
    found = answer(split(10 * GIB), latent(64, 1_000), "2x dgx-spark", Workload(kv_dtype="bf16", sequences=4))
    text = "\n".join(found.assumptions)
    for words in ("243.38 GiB", "0.85 x 121.69 GiB - 7.60 GiB", "vllm", "placement tp", "cache in bf16", "4 sequences"):
        assert words in text
    odd = answer(split(10 * GIB), latent(64, 1_000), "h100", Workload(engine="mlx"))
    assert any("mlx has no figures for discrete" in a for a in odd.assumptions)


def test_the_models_limit_bounds_the_answer() -> None:
    found = answer(split(GIB), latent(4, 100, limit=4_096), "h100", Workload(context=100_000))
    assert (found.context, found.max_context, found.stops_at) == (4_096, 4_096, None)
    assert any("4,096" in a and "100,000" in a for a in found.assumptions)
    free = answer(split(GIB), latent(4, 0, limit=None), "h100")
    assert free.max_context is None and any("does not grow" in a for a in free.assumptions)
