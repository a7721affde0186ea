"""Published outcomes on real machines: what ran is said to fit, what ran out of memory is said not to."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from inspector.model import Footprint
from inspector.model.cache_model import UnknownCache
from inspector.model.fit_model import Workload
from tests.fit.builders import GIB, answer, footprint, grouped, latent, recorded, recorded_cache, split
from tests.shared import ROOT

V41, GLM, GLM_BF16 = "deepseek-ai/DeepSeek-V4.1-Flash", "zai-org/GLM-5.3-Flash", "zai-org/GLM-5.3-Flash-BF16"

V3, V4, GPT_OSS = "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V4-Flash-0731", "openai/gpt-oss-120b"


def glm_nvfp4() -> Footprint:
    """The BF16 release with every routed expert as FP4 with an FP8 scale per 16 and two F32 scalars per tensor."""
    pieces = []
    for piece in recorded(GLM_BF16).slices:
        size = piece.bytes
        if piece.share == "experts":
            tensors = size // 2 // (2048 * 4096)
            size = size // 4 + size // 32 + 8 * tensors
        pieces.append(piece._replace(bytes=size))
    return footprint(*pieces)


def test_v41_flash_does_not_fit_two_sparks() -> None:
    found = answer(recorded(V41), recorded_cache(V41), "2x dgx-spark")
    assert found.verdict == "does_not_fit"
    assert round(found.budget("raw").usable_bytes / GIB, 1) == 243.4
    assert round(sum(d.weights - d.replicated_bytes for d in found.devices) / GIB, 1) == 475.2
    assert found.placement == "tp"
    assert found.min_units == 8
    assert any("smallest count under layers: 6x dgx-spark" in a for a in found.assumptions)
    assert found.max_context == 0 and found.stops_at == 0


def test_v41_flash_needs_half_the_sparks_with_engram_on_disk() -> None:
    found = answer(recorded(V41), recorded_cache(V41), "2x dgx-spark", Workload(offload={"memory": "disk"}))
    assert found.verdict == "does_not_fit"
    assert found.min_units == 4


def test_host_memory_of_a_spark_is_the_same_pool() -> None:
    host = answer(recorded(V41), recorded_cache(V41), "2x dgx-spark", Workload(offload={"memory": "host"}))
    kept = answer(recorded(V41), recorded_cache(V41), "2x dgx-spark")
    assert host.headroom_bytes == kept.headroom_bytes
    assert any("same pool" in a for a in host.assumptions)


def test_v41_flash_with_engram_in_host_memory_on_eight_4090() -> None:
    work = Workload(context=1_001_024, placement="ep", offload={"memory": "host"})
    found = answer(recorded(V41), recorded_cache(V41, "fp8"), "8x rtx-4090-48", work)
    assert found.verdict in ("fits", "tight")
    assert any("host memory" in a for a in found.assumptions)


def test_glm_fp8_does_not_fit_two_sparks() -> None:
    found = answer(recorded(GLM), recorded_cache(GLM, "fp8"), "2x dgx-spark")
    assert found.verdict == "does_not_fit"
    assert round(sum(d.weights - d.replicated_bytes for d in found.devices) / GIB, 1) == 305.8


def test_glm_nvfp4_fits_two_sparks_with_262144_tokens() -> None:
    build = glm_nvfp4()
    assert sum(s.bytes for s in build.slices) == 194_644_952_184
    found = answer(build, recorded_cache(GLM, "fp8"), "2x dgx-spark", Workload(context=262_144))
    assert found.verdict == "fits"
    assert (found.max_context or 0) >= 262_144


def test_v3_needs_more_than_eight_80_gb_devices() -> None:
    assert answer(recorded(V3), recorded_cache(V3), "8x h100").verdict == "does_not_fit"
    found = answer(recorded(V3), recorded_cache(V3), "8x b200", Workload(context=125_000))
    assert found.verdict == "fits"


@pytest.mark.parametrize("cluster", ["2x dgx-spark", "1x dgx-station-gb300", "8x b200"])
def test_v4_flash_runs_at_a_million_tokens(cluster: str) -> None:
    repo = recorded(V4)
    assert answer(repo, recorded_cache(V4), cluster, Workload(context=1 << 20)).verdict == "fits"


def test_gpt_oss_120b_on_one_h100_is_borderline_and_says_why() -> None:
    found = answer(recorded(GPT_OSS), recorded_cache(GPT_OSS), "1x h100", Workload(context=131_072))
    assert found.verdict == "tight"
    assert any("no FP4 units" in a for a in found.assumptions)


def test_an_unknown_cache_never_fits() -> None:
    unknown = UnknownCache("no family explains it")
    assert answer(split(10 * GIB), unknown, "1x h100").verdict == "unknown"
    assert answer(split(90 * GIB), unknown, "1x h100").verdict == "does_not_fit"
    found = answer(split(10 * GIB), unknown, "1x h100")
    assert found.max_context is None and found.min_units is None and found.devices[0].free is None


def _cases() -> list[dict[str, Any]]:
    path = ROOT / "cases" / "fit_cases.json"
    cases = json.loads(path.read_text())["cases"] if path.exists() else []
    return [c for c in cases if c["must"] in ("fit", "not") and c["weights_bytes"]]


@pytest.mark.skipif(not _cases(), reason="../shared/cases/fit_cases.json is not here: its rows were not checked")
@pytest.mark.parametrize("case", _cases(), ids=lambda c: c["id"])
def test_published_cases(case: dict[str, Any]) -> None:
    """The weights as published, placed as a fit of bytes alone would be, with the cache of the model's family."""
    kind = case["id"]
    cache = (
        recorded_cache(GLM, "fp8")
        if kind.startswith("glm53f")
        else recorded_cache(V4)
        if kind.startswith("v4flash")
        else grouped(64, 1_024, heads=4)
        if kind.startswith("qwen")
        else latent(61, 1_152)
    )
    work = Workload(context=case.get("context") or 8_192)
    if kind == "glm52-nvfp4-4spark":
        # DCP4 divides the latent rows over the ranks: a quarter of 78 layers of 656-byte records and index keys.
        cache = latent(78, Fraction(1_810_000_000, 132_096 * 78))
    found = answer(split(case["weights_bytes"]), cache, case["cluster_spec"], work)
    allowed = ("fits", "tight") if case["must"] == "fit" else ("does_not_fit",)
    assert found.verdict in allowed, found
