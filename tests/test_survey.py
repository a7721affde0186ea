"""`inspect fit`: how many known machines hold a checkpoint, and the smallest, as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from inspector.cli import main
from inspector.fitting.hardware import load_hardware
from inspector.fitting.survey import clusters
from tests.loopback import LoopbackHub, load, quants

V41, LLAMA = "deepseek-ai/DeepSeek-V4.1-Flash", "meta-llama/Llama-3.1-8B"
GIB = 1 << 30
Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    with LoopbackHub([load(V41), load(LLAMA), quants.repo()]) as found:
        yield found.endpoint


def surveyed(capsys: Capture, *words: str) -> dict[str, Any]:
    """The `fit` object of `inspect fit ... --format json`."""
    assert main(["fit", *words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["fit"]
    assert isinstance(found, dict)
    return found


def test_a_small_model(hub: str, capsys: Capture) -> None:
    """15.0 GiB of weights and 1 GiB of cache need more than 16 GiB, and a 24 GB card holds them."""
    found = surveyed(capsys, LLAMA, "--endpoint", hub)
    verdicts = {m["id"]: m["verdict"] for m in found["machines"]}
    assert verdicts["rtx-4090"] in ("fits", "tight")
    assert verdicts["h100-80"] == "fits"
    assert verdicts["rtx-4060-ti-16"] == "does_not_fit"
    smallest = next(m for m in found["machines"] if m["id"] == found["smallest"])
    assert 16 * GIB < smallest["visible_bytes"] <= 24 * GIB
    assert found["floor_bytes"] == found["tensor_bytes"] == 16_060_522_496


def test_the_counts_are_those_of_the_machines(hub: str, capsys: Capture) -> None:
    found = surveyed(capsys, LLAMA, "--endpoint", hub)
    for nominal, holds, all_of in ((False, "fits", "of"), (True, "nominal_fits", "nominal_of")):
        chosen = [m for m in found["machines"] if m["nominal"] is nominal]
        assert found[all_of] == len(chosen) > 0
        assert found[holds] == sum(m["verdict"] in ("fits", "tight") for m in chosen)
    assert sum(t["machines"] for t in found["tiers"]) == len(found["machines"])
    assert sum(t["hold"] for t in found["tiers"]) == found["fits"] + found["nominal_fits"]
    sizes = [m["visible_bytes"] for m in found["machines"]]
    assert sizes == sorted(sizes)


def test_a_variant_of_a_machine_is_not_another_machine() -> None:
    rows = load_hardware()
    asked = {c.units[0][1].id for c in clusters(rows)}
    assert "dgx-spark" in asked and "dgx-spark-2025" not in asked


def test_a_repo_that_no_machine_holds(hub: str, capsys: Capture) -> None:
    """475.2 GiB: only machines that show more could."""
    found = surveyed(capsys, V41, "--endpoint", hub)
    assert all(m["visible_bytes"] > 475 * GIB for m in found["machines"] if m["verdict"] in ("fits", "tight"))
    assert found["fits"] == 0 and found["smallest"] is None
    assert main(["fit", V41, "--endpoint", hub]) == 0
    text = capsys.readouterr().out
    assert "no single machine" in text and "--cluster" in text
    assert "no build below 510.29 GB (475.24 GiB) is in this repo" in text
    assert "Q4" not in text


def test_all_hardware_lists_marketed_sizes_too(hub: str, capsys: Capture) -> None:
    assert main(["fit", LLAMA, "--endpoint", hub]) == 0
    short = capsys.readouterr().out
    assert main(["fit", LLAMA, "--endpoint", hub, "--all-hardware"]) == 0
    long = capsys.readouterr().out
    assert len(long.splitlines()) > len(short.splitlines()) + 100
    assert "smallest that holds it: " in short
    assert "machines with a driver's figure" in short and "by marketed size" in short


def test_the_largest_set_of_a_menu_for_each_machine(hub: str, capsys: Capture) -> None:
    """Of the repo's quants an 8 GB card holds at most the smallest, an 80 GB card the BF16."""
    found = surveyed(capsys, quants.NAME, "--endpoint", hub)
    largest = {m["id"]: m["largest_variant"] for m in found["machines"]}
    assert largest["h100-80"] == "BF16"
    assert largest["t4"] in ("UD-IQ1_S", "UD-IQ2_XXS", "Q2_K", "UD-Q2_K_XL")
    assert found["floor_bytes"] == 6_605_069_856
    order: dict[str, int] = {}
    for machine in found["machines"]:
        order.setdefault(str(machine["largest_variant"]), machine["visible_bytes"])
    assert order["UD-IQ1_S"] < order["Q4_K_M"] < order["BF16"]


def test_context_and_dtype_are_taken(hub: str, capsys: Capture) -> None:
    plain = surveyed(capsys, LLAMA, "--endpoint", hub)
    longer = surveyed(capsys, LLAMA, "--endpoint", hub, "--context", "131072")
    narrow = surveyed(capsys, LLAMA, "--endpoint", hub, "--context", "131072", "--kv-dtype", "fp8")
    assert longer["fits"] < narrow["fits"] <= plain["fits"]


@pytest.mark.parametrize(
    "words", [("--kv-dtype", "fp7"), ("--without", "soul"), ("--hardware", "nowhere.toml"), ("--context", "0")]
)
def test_wrong_flags_are_status_2(hub: str, capsys: Capture, words: tuple[str, ...]) -> None:
    assert main(["fit", LLAMA, "--endpoint", hub, *words]) == 2
    assert "internal error" not in capsys.readouterr().err


def test_a_missing_repo_is_not_established(hub: str, capsys: Capture) -> None:
    assert main(["fit", "nobody/nothing", "--endpoint", hub]) == 3
    assert capsys.readouterr().out == ""
