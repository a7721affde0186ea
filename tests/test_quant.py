"""`inspect quant`: verdict, expectations, statuses and what could be saved, through the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector import cli
from inspector.quant import belongs
from tests.loopback import LoopbackHub, load
from tests.memory import Tensors, header

REPOS = ("deepseek-ai/DeepSeek-V4.1-Flash", "openai/gpt-oss-20b", "meta-llama/Llama-3.1-8B")


@pytest.fixture(scope="module")
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub([load(n) for n in REPOS]) as running:
        yield running


def quant(hub: LoopbackHub, capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, str]:
    status = cli.main(["quant", *args, "--endpoint", hub.endpoint])
    return status, capsys.readouterr().out


def document(hub: LoopbackHub, capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, dict[str, Any]]:
    status, out = quant(hub, capsys, *args, "--format", "json")
    found: dict[str, Any] = json.loads(out)["quant"][0]
    return status, found


def test_v41_flash(hub: LoopbackHub, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = document(hub, capsys, REPOS[0], "--exit-code")
    assert status == 0
    assert (found["verdict"], found["method"]) == ("yes", "fp8")
    assert found["evidence"][0] == {"where": "config.json:quantization_config", "fact": "quant_method 'fp8'"}
    experts = next(c for c in found["components"] if c["component"] == "routed_experts")
    assert (experts["precision"], experts["bits"], experts["bits_per_weight"]) == ("fp4_e2m1", 4, 4.25)
    assert experts["share"] == pytest.approx(543_581_798_400 / 763_205_315_794)
    (note,) = found["contradictions"]
    assert "one per 1x32 stored" in note["message"]


def test_the_saving_is_all_above_four_bits_without_scales(hub: LoopbackHub, capsys: pytest.CaptureFixture[str]) -> None:
    """gpt-oss-20b: 1,804,459,584 BF16 weights; 2 bytes each would become half a byte."""
    _, found = document(hub, capsys, REPOS[1])
    assert found["saving_bytes"] == 1_804_459_584 * 2 - 1_804_459_584 // 2
    assert "routed experts already have 4 bits or fewer" in found["saving"]


def test_an_unquantised_repo(hub: LoopbackHub, capsys: pytest.CaptureFixture[str]) -> None:
    status, found = document(hub, capsys, REPOS[2], "--exit-code")
    assert status == 1
    assert found["verdict"] == "no"
    assert found["saving"].startswith("nothing is quantised")
    assert quant(hub, capsys, REPOS[2])[0] == 0


@pytest.mark.parametrize(
    ("expect", "status"),
    [
        ("routed_experts=fp4,attention=fp8", 0),
        ("routed-experts = FP4", 0),
        ("routed_experts=fp4_e2m1", 0),
        ("routed_experts=int4", 1),
        ("attention=fp4", 1),
        ("audio=fp8", 1),
    ],
)
def test_expectations(hub: LoopbackHub, capsys: pytest.CaptureFixture[str], expect: str, status: int) -> None:
    assert quant(hub, capsys, REPOS[0], "--expect", expect)[0] == status


@pytest.mark.parametrize("expect", ["experts=fp4", "routed_experts", "routed_experts="])
def test_an_expectation_that_says_nothing_is_refused(
    hub: LoopbackHub, capsys: pytest.CaptureFixture[str], expect: str
) -> None:
    assert quant(hub, capsys, REPOS[0], "--expect", expect)[0] == 2


def folder(tmp_path: Path, tensors: Tensors) -> str:
    head, size = header(tensors)
    (tmp_path / "model.safetensors").write_bytes(head + bytes(size))
    return str(tmp_path)


def test_unknown_payloads_are_status_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    where = folder(tmp_path, {"layers.0.mlp.w1.weight": ("I16", (8, 8), 128)})
    assert cli.main(["quant", where, "--exit-code"]) == 3
    assert cli.main(["quant", where, "--expect", "mlp=int4"]) == 3
    assert "unknown" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_people_read_the_same_figures(hub: LoopbackHub, capsys: pytest.CaptureFixture[str], form: str) -> None:
    _, out = quant(hub, capsys, REPOS[0], "--format", form)
    assert "543.58 B" in out
    assert "111.27 GB" in out
    assert all(len(line) <= 80 for line in out.splitlines()) or form == "markdown"


def test_families() -> None:
    assert belongs("fp8_e4m3", "fp8")
    assert belongs("uint4", "int4")
    assert belongs("int4", "INT4")
    assert belongs("exl3@2.5", "exl3")
    assert belongs("Q4_K", "q4_k")
    assert not belongs("int8", "int4")
    assert not belongs("fp4_e2m1", "fp8")
    assert not belongs("int4", "uint4")
