"""Published figures of releases, through the whole of `inspect` against a Hub on loopback that counts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from inspector import Report, inspect
from tests.loopback import LoopbackHub, load, names

FIGURES: dict[str, dict[str, Any]] = {
    "deepseek-ai/DeepSeek-V4.1-Flash": {
        "files": 48,
        "tensors": 96_085,
        "tensor_bytes": 510_286_023_000,
        "file_bytes": 510_296_708_312,
        "repo_bytes": 510_313_353_565,
        "parameters": 763_205_315_794,
        "verdict": "yes",
    },
    "zai-org/GLM-5.3-Flash": {
        "files": 62,
        "tensors": 76_108,
        "tensor_bytes": 328_326_771_576,
        "file_bytes": 328_337_455_672,
        "parameters": 321_323_031_390,
        "verdict": "yes",
    },
    "zai-org/GLM-5.3-Flash-BF16": {
        "files": 120,
        "tensors": 38_770,
        "tensor_bytes": 642_646_653_816,
        "parameters": 321_323_031_390,
        "verdict": "no",
    },
    "deepseek-ai/DeepSeek-V3": {
        "files": 163,
        "tensors": 91_991,
        "tensor_bytes": 688_574_839_360,
        "file_bytes": 688_586_727_753,
        "parameters": 684_489_845_504,
        "verdict": "yes",
    },
    "deepseek-ai/DeepSeek-V4-Flash-0731": {
        "files": 48,
        "tensors": 72_317,
        "tensor_bytes": 166_878_536_440,
        "verdict": "yes",
    },
    "deepseek-ai/DeepSeek-V4-Pro": {
        "tensors": 145_116,
        "tensor_bytes": 864_704_792_696,
        "parameters": 1_598_837_347_742,
        "verdict": "yes",
    },
    "openai/gpt-oss-20b": {
        "files": 3,
        "tensors": 459,
        "tensor_bytes": 13_761_264_768,
        "parameters": 20_914_757_184,
        "verdict": "yes",
    },
    "openai/gpt-oss-120b": {
        "files": 15,
        "tensors": 687,
        "tensor_bytes": 65_248_815_744,
        "parameters": 116_829_156_672,
        "verdict": "yes",
    },
    "moonshotai/Kimi-K2.5": {"parameters": 1_026_879_376_368, "verdict": "yes"},
    "meta-llama/Llama-3.1-8B": {"files": 4, "tensors": 291, "parameters": 8_030_261_248, "verdict": "no"},
}


@pytest.fixture(scope="module")
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub([load(n) for n in names()], tokens={"hf_secret"}) as running:
        yield running


@pytest.fixture(scope="module")
def reports(hub: LoopbackHub) -> dict[str, Report]:
    return {}


def look(hub: LoopbackHub, reports: dict[str, Report], repo: str) -> Report:
    if repo not in reports:
        reports[repo] = inspect(repo, endpoint=hub.endpoint)
    return reports[repo]


@pytest.mark.parametrize("repo", FIGURES)
def test_published_figures(hub: LoopbackHub, reports: dict[str, Report], repo: str) -> None:
    report = look(hub, reports, repo)
    figures = dict(FIGURES[repo])
    assert report.prequantised.verdict == figures.pop("verdict")
    assert {k: getattr(report, k) for k in figures} == figures
    assert not report.incomplete


@pytest.mark.parametrize("repo", names())
def test_everything_sums(hub: LoopbackHub, reports: dict[str, Report], repo: str) -> None:
    report = look(hub, reports, repo)
    assert sum(c.bytes for c in report.cells) == report.tensor_bytes
    assert sum(d.bytes for d in report.dtypes) == report.tensor_bytes
    assert report.file_bytes is not None
    assert report.excluded_bytes is not None
    assert report.other_bytes is not None
    assert report.file_bytes + report.excluded_bytes + report.other_bytes == report.repo_bytes
    assert sum(c.tensors for c in report.cells) == report.tensors
    assert report.revision == load(repo).head


def test_v41_flash_by_dtype_component_and_precision(hub: LoopbackHub, reports: dict[str, Report]) -> None:
    report = look(hub, reports, "deepseek-ai/DeepSeek-V4.1-Flash")
    assert {d.dtype: (d.tensors, d.bytes) for d in report.dtypes} == {
        "I8": (47_232, 278_585_671_680),
        "F8_E4M3": (357, 204_015_223_296),
        "F8_E8M0": (47_589, 23_563_015_184),
        "BF16": (520, 3_952_883_712),
        "F32": (387, 169_229_128),
    }
    by_component: dict[str, int] = {}
    for cell in report.cells:
        by_component[cell.component] = by_component.get(cell.component, 0) + cell.bytes
    assert by_component["routed_experts"] == 288_777_830_400
    assert by_component["memory"] == 203_073_076_240
    assert by_component["draft"] == 7_932_874_632
    assert by_component["vision"] == 970_506_240
    (experts,) = [c for c in report.cells if c.component == "routed_experts"]
    assert (experts.precision, 8 * experts.bytes / (experts.parameters or 1)) == ("fp4_e2m1", 4.25)
    assert report.prequantised.summary == "already quantised: FP8 dense, FP4 routed experts"
    (note,) = report.notes
    assert note.code == "config_contradicts_headers"
    assert "32x32 declared, one per 1x32 stored: 2 modules such as layers.1.engram.embed" in note.message


def test_v3_says_that_its_index_counts_double(hub: LoopbackHub, reports: dict[str, Report]) -> None:
    report = look(hub, reports, "deepseek-ai/DeepSeek-V3")
    (note,) = [n for n in report.notes if n.code == "index_total_size"]
    assert "1,369,062,772,000" in note.message
    assert "688,574,839,360" in note.message
    assert "16 bits" in note.message
    assert report.index_total_size == 1_369_062_772_000


@pytest.mark.parametrize("repo", ["openai/gpt-oss-20b", "openai/gpt-oss-120b"])
def test_gpt_oss_copies_are_in_the_ledger(hub: LoopbackHub, reports: dict[str, Report], repo: str) -> None:
    report = look(hub, reports, repo)
    reasons = {e.path.partition("/")[0]: e.reason for e in report.excluded}
    assert {"original", "metal"} <= reasons.keys()
    assert report.excluded_bytes is not None
    assert report.tensor_bytes is not None
    assert report.excluded_bytes > report.tensor_bytes


def test_requests_of_v41_flash(hub: LoopbackHub) -> None:
    """One read per file where the guess holds, never more than two; nothing aimed at weights; one commit; one host."""
    hub.forget()
    report = inspect("deepseek-ai/DeepSeek-V4.1-Flash", endpoint=hub.endpoint, token="hf_secret")
    seen = hub.requests
    headers = report.file_bytes - report.tensor_bytes if report.file_bytes and report.tensor_bytes else 0
    assert headers == 10_685_312
    assert report.cost.requests == len(seen)
    assert hub.totals()["weight_bytes"] < 0.25 * headers
    assert report.cost.weight_bytes_read < 0.25 * headers
    assert hub.totals()["cdn_authorized"] == 0
    ranged = [r.request for r in seen if r.request.server == "cdn" and r.request.file.endswith(".safetensors")]
    per_file: dict[str, list[int]] = {}
    for request in ranged:
        assert request.range is not None
        per_file.setdefault(request.file, []).append(int(request.range.removeprefix("bytes=").partition("-")[0]))
    assert len(per_file) == 48
    for starts in per_file.values():
        assert len(starts) <= 2
        assert starts[0] == 0
    listings = [
        r.request for r in seen if r.request.path.startswith("/api/models/") and r.request.route != "resolve-cache"
    ]
    assert len(listings) == 1
    others = [r.request.path for r in seen if r.request.server == "hub" and r.request is not listings[0]]
    assert all(report.revision is not None and report.revision in path for path in others)
    assert len(seen) <= 97 + 2 * 2


def test_the_inferred_vision_of_kimi_is_one_marked_tensor(hub: LoopbackHub, reports: dict[str, Report]) -> None:
    report = look(hub, reports, "moonshotai/Kimi-K2.5")
    vision = [c for c in report.cells if c.component == "vision"]
    assert [(c.tensors, c.parameters) for c in vision] == [(1, 471_143_920)]
    (experts,) = [c for c in report.cells if c.component == "routed_experts" and c.precision == "int4"]
    assert experts.parameters == 1_014_686_023_680
    assert experts.blocks == ((1, 32),)


def test_pipeline_adapter_and_sentence_encoder(hub: LoopbackHub, reports: dict[str, Report]) -> None:
    kinds = {n: look(hub, reports, n) for n in names() if n.startswith("example/")}
    assert kinds["example/llama-3.1-8b-lora"].kind == "adapter"
    assert kinds["example/llama-3.1-8b-lora"].base_model == "meta-llama/Llama-3.1-8B"
    assert kinds["example/sentence-encoder"].kind == "sentence-transformers"
    assert kinds["example/stable-diffusion-1"].kind == "pipeline"
    assert kinds["example/stable-diffusion-1"].files > 1


def test_json_of_the_whole_is_the_contract(hub: LoopbackHub, reports: dict[str, Report]) -> None:
    from inspector.render import render

    report = look(hub, reports, "deepseek-ai/DeepSeek-V4.1-Flash")
    document = json.loads(render("json", (report,)))
    assert document["schema_version"] == 1
    assert document["reports"][0]["components"][0]["component"] == "routed_experts"
