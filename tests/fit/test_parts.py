"""What each device's weights are made of: exact, never negative, the same sums as the loads, by every placement."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from dataclasses import replace
from importlib.resources import files

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.fitting.cluster import parse_cluster
from inspector.fitting.engines import choose_engine
from inspector.fitting.fit import fit
from inspector.fitting.parts import mixed
from inspector.model import Footprint, Slice
from inspector.model.cache_model import Cache
from inspector.model.fit_model import Cluster, Placement, Workload
from inspector.render import render
from tests.fit.builders import GIB, ROWS, answer, footprint, latent, recorded, recorded_cache
from tests.fit.test_properties import caches, clusters, engine, slices, workloads
from tests.render.samples import V41

FLASH = "deepseek-ai/DeepSeek-V4.1-Flash"


@settings(max_examples=100, deadline=None)
@given(slices, caches, clusters, workloads, engine)
def test_parts_are_the_weights_of_each_device_told_apart(
    of: Footprint, cache: Cache, cluster: Cluster, work: Workload, by: object
) -> None:
    found = fit(of, cache, cluster, work, by)  # type: ignore[arg-type]
    over: Counter[str] = Counter()
    for device in found.devices:
        assert sum(size for _, size, _ in device.parts) == device.weights
        assert sum(again for _, _, again in device.parts) == device.replicated_bytes
        assert all(0 <= again <= size and size for _, size, again in device.parts)
        assert len({name for name, _, _ in device.parts}) == len(device.parts)
        assert [size for _, size, _ in device.parts] == sorted((s for _, s, _ in device.parts), reverse=True)
        for name, size, again in device.parts:
            over[name] += size - again
    shared = any(h.kind != "discrete" for _, h in cluster.units)
    away = {part for part, where in work.offload.items() if where == "disk" or not shared}
    resident: Counter[str] = Counter()
    for piece in of.slices:
        if piece.component not in away:
            resident[piece.component] += piece.bytes
    assert +over == +resident


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(1, 70))
def test_a_mix_is_dealt_to_the_last_byte(sizes: list[int], devices: int) -> None:
    components = Counter({f"c{i}": n for i, n in enumerate(sizes)})
    whole = sum(sizes)
    ends = [whole * i // devices for i in range(devices + 1)]
    given_out = mixed(components, [(b - a, False) for a, b in itertools.pairwise(ends)])
    assert [part.total() for part in given_out] == [b - a for a, b in itertools.pairwise(ends)]
    assert +sum(given_out, Counter[str]()) == +components
    for part in given_out:
        assert all(n >= 0 for n in part.values())


def test_shares_are_close_to_the_mix() -> None:
    components = Counter({"large": 1_000_000, "small": 1_000, "one": 1})
    for part in mixed(components, [(125_125, False)] * 7 + [(125_126, False)]):
        assert abs(part["large"] - 125_000) <= 3
        assert abs(part["small"] - 125) <= 3


def test_what_an_earlier_rank_holds_too_is_the_same_again() -> None:
    components = Counter({"attention": 60, "draft": 40})
    assert mixed(components, [(50, False), (50, True), (50, False), (50, True)]) == [{"attention": 30, "draft": 20}] * 4


@pytest.mark.parametrize("placement", ["tp", "ep", "dp", "pp", "layers"])
def test_v41_flash_on_eight_sparks(placement: Placement) -> None:
    cluster = parse_cluster("8x dgx-spark", ROWS)
    found = answer(recorded(FLASH), recorded_cache(FLASH), cluster, Workload(placement=placement))
    assert len(found.devices) == 8
    held: Counter[str] = Counter()
    for device in found.devices:
        assert sum(size for _, size, _ in device.parts) == device.weights
        assert sum(again for _, _, again in device.parts) == device.replicated_bytes
        held.update({name: size - again for name, size, again in device.parts})
    # The sums of the published layout, as in the report's own components.
    assert held["routed_experts"] == 288_777_830_400
    assert held["memory"] == 203_073_076_240
    assert held.total() == 510_286_023_000
    memory = [{n: s for n, s, _ in d.parts}["memory"] for d in found.devices]
    assert memory == [203_073_076_240 // 8] * 8


def test_ends_of_the_chain_hold_what_belongs_there() -> None:
    of = footprint(
        Slice(None, "split", "embedding", 8 * GIB),
        Slice(None, "split", "vision", 3),
        *[Slice(n, "split", "mlp", GIB) for n in range(4)],
        Slice(None, "copied", "norm", 5),
    )
    found = answer(of, latent(4, 0), "2x h100", Workload(placement="pp"))
    first = (("embedding", 8 * GIB, 0), ("mlp", 2 * GIB, 0), ("vision", 3, 0))
    assert found.devices[0].parts == first
    # Without a head the embedding is the head too, so the last stage has it again.
    assert found.devices[1].parts == (("embedding", 8 * GIB, 8 * GIB), ("mlp", 2 * GIB, 0), ("norm", 5, 0))
    single = answer(of, latent(4, 0), "1x h100", Workload(placement="pp"))
    assert single.devices[0].parts[0] == ("embedding", 8 * GIB, 0)


def test_a_survey_of_many_machines_leaves_them_out() -> None:
    cluster = parse_cluster("h100", ROWS)
    by, _ = choose_engine(None, "safetensors", cluster)
    of = footprint(Slice(0, "split", "mlp", 7))
    assert fit(of, latent(1, 1), cluster, Workload(), by).devices[0].parts == (("mlp", 7, 0),)
    assert fit(of, latent(1, 1), cluster, Workload(), by, survey=True).devices[0].parts == ()


def test_the_json_has_them_by_the_schema() -> None:
    found = answer(recorded(FLASH), recorded_cache(FLASH), "8x dgx-spark")
    document = json.loads(render("json", (replace(V41, fits=(found,)),)))
    schema = json.loads((files("inspector") / "schema.json").read_text(encoding="utf-8"))
    assert not list(jsonschema.Draft202012Validator(schema).iter_errors(document))
    (fits,) = document["reports"][0]["fits"]
    for device in fits["devices"]:
        assert sum(c["bytes"] for c in device["components"]) == device["weights"]
        assert sum(c["replicated_bytes"] for c in device["components"]) == device["replicated_bytes"]
        assert [x["context"] for x in device["longer"]] == [131_072, 1_048_576]
        assert device["longer"][0]["cache"] > device["cache"]
