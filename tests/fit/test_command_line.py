"""Every flag of a fit through the command line, against the loopback Hub: answers, errors and exit statuses."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import main
from scripts.benchmarks.recognise import write
from scripts.layouts import glm53_nvfp4
from scripts.layouts.tensors import Tensor
from tests.loopback import LoopbackHub, load

V41, GLM, LLAMA = "deepseek-ai/DeepSeek-V4.1-Flash", "zai-org/GLM-5.3-Flash", "meta-llama/Llama-3.1-8B"
GIB = 1 << 30
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    with LoopbackHub([load(n) for n in (V41, GLM, LLAMA)]) as found:
        yield found.endpoint


def reports(capsys: Capture, *words: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit status and the reports in JSON."""
    status = main([*words, "--format", "json"])
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["reports"]
    return status, found


def fit(capsys: Capture, *words: str) -> dict[str, Any]:
    """The one fit of the one report."""
    _, (report,) = reports(capsys, *words)
    (found,) = report["fits"]
    assert isinstance(found, dict)
    return found


def test_v41_flash_on_two_sparks(hub: str, capsys: Capture) -> None:
    status, (report,) = reports(capsys, V41, "--endpoint", hub, "--cluster", "2x", "dgx-spark")
    assert status == 0
    cache = report["cache"]
    assert (cache["bytes_per_token"], cache["fixed_bytes"], cache["kv_dtype"]) == (890, 2_703_360, "fp4")
    assert cache["bytes_per_token"] * 1_048_576 == 933_232_640
    (found,) = report["fits"]
    assert found["verdict"] == "does_not_fit"
    assert round(found["budgets"]["raw"]["usable_bytes"] / GIB, 1) == 243.4
    assert round(report["tensor_bytes"] / GIB, 1) == 475.2
    assert found["min_units"] == 8 and found["max_context"] == 0
    words = " | ".join(found["assumptions"])
    assert "smallest count under layers: 6x dgx-spark" in words
    assert "with --offload memory=disk 4x dgx-spark" in words


def test_v41_flash_with_its_draft_layers(hub: str, capsys: Capture) -> None:
    _, (report,) = reports(capsys, V41, "--endpoint", hub, "--with-draft")
    assert report["cache"]["fixed_bytes"] == 2_906_112


def test_glm_fp8_on_two_sparks(hub: str, capsys: Capture) -> None:
    found = fit(capsys, GLM, "--endpoint", hub, "--cluster", "2x dgx-spark")
    assert found["verdict"] == "does_not_fit"
    assert round(sum(d["weights"] - d["replicated_bytes"] for d in found["devices"]) / GIB, 1) == 305.8


def test_glm_nvfp4_on_two_sparks(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path, list(glm53_nvfp4.shards()), glm53_nvfp4.described())
    words = ("--cluster", "2x dgx-spark", "--kv-dtype", "fp8", "--context", "262144", "--require-fit")
    status, (report,) = reports(capsys, str(tmp_path), *words)
    assert report["tensor_bytes"] == 194_644_952_184
    (found,) = report["fits"]
    assert status == 0 and found["verdict"] == "fits" and found["max_context"] >= 262_144


def test_glm_latent_rows_in_bf16(hub: str, capsys: Capture) -> None:
    _, (report,) = reports(capsys, GLM, "--endpoint", hub, "--kv-dtype", "bf16")
    latent = 11 * 512 * 2
    index = 11 * 128 * 2 / 4
    assert report["cache"]["bytes_per_token"] == latent + index
    assert latent * 1_048_576 == 11_811_160_064


@pytest.mark.parametrize(
    ("cluster", "status"), [("1x h100", 0), ("8GB", 1), ("1x rtx-4090", 0), ("1x rtx-3060", 1), ("1x m3-ultra-512", 0)]
)
def test_require_fit_on_one_cluster(hub: str, capsys: Capture, cluster: str, status: int) -> None:
    assert main([LLAMA, "--endpoint", hub, "--cluster", cluster, "--require-fit"]) == status
    capsys.readouterr()


def test_require_fit_wants_every_cluster(hub: str, capsys: Capture) -> None:
    assert main([LLAMA, "--endpoint", hub, "--cluster", "h100", "--cluster", "8GB", "--require-fit"]) == 1
    assert main([LLAMA, "--endpoint", hub, "--cluster", "8GB"]) == 0
    capsys.readouterr()


def test_require_fit_of_an_unknown_design_is_not_established(tmp_path: Path, capsys: Capture) -> None:
    config = {"model_type": "telepathic", "num_hidden_layers": 2, "layer_types": ["telepathy"] * 2}
    write(tmp_path, [[Tensor("model.layers.0.mlp.up_proj.weight", "BF16", (64, 64))]], config)
    status, (report,) = reports(capsys, str(tmp_path), "--cluster", "h100", "--require-fit")
    assert status == 3
    assert report["cache"] is None and report["fits"][0]["verdict"] == "unknown"
    assert report["fits"][0]["max_context"] is None


def test_several_models_and_clusters_side_by_side(hub: str, capsys: Capture) -> None:
    words = (LLAMA, GLM, "--endpoint", hub, "--cluster", "2x dgx-spark", "--cluster", "8x h200")
    _, found = reports(capsys, *words)
    assert [[f["verdict"] for f in r["fits"]] for r in found] == [["fits", "fits"], ["does_not_fit", "fits"]]
    assert main(list(words)) == 0
    text = capsys.readouterr().out
    for word in ("2x dgx-spark", "8x h200-141", "does not fit"):
        assert word in text


def test_each_flag_changes_the_answer(hub: str, capsys: Capture) -> None:
    base = (LLAMA, "--endpoint", hub, "--cluster", "2x rtx-4090")
    plain = fit(capsys, *base)
    assert (plain["engine"], plain["placement"], plain["context"], plain["sequences"]) == ("vllm", "tp", 8192, 1)
    assert fit(capsys, *base, "--context", "100000")["context"] == 100_000
    assert fit(capsys, *base, "--sequences", "4")["devices"][0]["cache"] == 4 * plain["devices"][0]["cache"]
    assert fit(capsys, *base, "--kv-dtype", "fp8")["devices"][0]["cache"] * 2 == plain["devices"][0]["cache"]
    assert fit(capsys, *base, "--engine", "llama.cpp")["placement"] == "layers"
    assert fit(capsys, *base, "--placement", "pp")["placement"] == "pp"
    assert fit(capsys, *base, "--utilization", "0.5")["headroom_bytes"] < plain["headroom_bytes"]
    assert fit(capsys, *base, "--reserve", "0GiB")["headroom_bytes"] > plain["headroom_bytes"]
    assert fit(capsys, *base, "--without", "head")["headroom_bytes"] > plain["headroom_bytes"]
    assert fit(capsys, *base, "--offload", "embedding=host")["headroom_bytes"] > plain["headroom_bytes"]


def test_a_fit_has_every_key_of_the_contract(hub: str, capsys: Capture) -> None:
    found = fit(capsys, LLAMA, "--endpoint", hub, "--cluster", "2x rtx-4090")
    keys = "cluster engine placement context sequences kv_dtype verdict budgets devices headroom_bytes max_context"
    assert set(keys.split()) | {"min_units", "assumptions"} <= set(found)
    assert set(found["budgets"]) == {"raw", "tight", "server"}
    for budget in found["budgets"].values():
        assert set(budget) == {"usable_bytes", "headroom_bytes", "max_context"}
    for device in found["devices"]:
        assert {"name", "usable_bytes", "weights", "replicated_bytes", "cache", "overhead", "free"} <= set(device)
    assert found["headroom_bytes"] == found["budgets"]["server"]["headroom_bytes"]
    assert found["max_context"] == found["budgets"]["server"]["max_context"]


def test_heads_that_do_not_divide_are_named(hub: str, capsys: Capture) -> None:
    found = fit(capsys, V41, "--endpoint", hub, "--cluster", "3x dgx-spark", "--placement", "tp")
    assert found["blocked"] == "64 heads over 3 devices do not divide"


def test_the_users_own_hardware(hub: str, capsys: Capture, tmp_path: Path) -> None:
    rows = tmp_path / "mine.toml"
    rows.write_text('[[device]]\nid = "my-box"\nmemory = "40 GiB"\n')
    found = fit(capsys, LLAMA, "--endpoint", hub, "--cluster", "1x my-box", "--hardware", str(rows))
    assert found["budgets"]["raw"]["usable_bytes"] == 40 * GIB
    assert found["verdict"] == "fits"


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--cluster", "0x h100"), "0"),
        (("--cluster", "h1000"), "h100"),
        (("--cluster", ""), "--cluster"),
        (("--cluster", "-2x h100"), "-2x"),
        (("--cluster", "99999x h100"), "99999"),
        (("--cluster", "h100", "--kv-dtype", "fp7"), "fp7"),
        (("--cluster", "h100", "--engine", "ollama9"), "ollama9"),
        (("--cluster", "h100", "--context", "0"), "--context"),
        (("--cluster", "h100", "--sequences", "many"), "--sequences"),
        (("--cluster", "h100", "--utilization", "1.5"), "--utilization"),
        (("--cluster", "h100", "--utilization", "nan"), "--utilization"),
        (("--cluster", "h100", "--reserve", "much"), "--reserve"),
        (("--cluster", "h100", "--reserve", "-1GiB"), "--reserve"),
        (("--cluster", "h100", "--offload", "memory"), "memory"),
        (("--cluster", "h100", "--offload", "memory=cloud"), "cloud"),
        (("--cluster", "h100", "--offload", "soul=disk"), "soul"),
        (("--cluster", "h100", "--without", "soul"), "soul"),
        (("--cluster", "h100", "--without", "draft", "--with-draft"), "draft"),
        (("--cluster", "h100", "--without", "memory", "--offload", "memory=disk"), "memory"),
        (("--cluster", "h100", "--offload", "memory=disk", "--offload", "memory=host"), "memory"),
        (("--cluster", "h100", "--hardware", "nowhere.toml"), "nowhere.toml"),
        (("--require-fit",), "--require-fit"),
        (("--utilization", "1.5"), "--utilization"),
        (("--reserve", "much"), "--reserve"),
        (("--offload", "soul=disk"), "soul"),
        (("--without", "soul"), "soul"),
        (("--hardware", "nowhere.toml"), "nowhere.toml"),
    ],
)
def test_what_the_user_asks_wrongly_is_status_2(hub: str, capsys: Capture, words: tuple[str, ...], named: str) -> None:
    assert main([LLAMA, "--endpoint", hub, *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert named in said.err and "internal error" not in said.err and len(said.err.splitlines()) == 1
