"""What must hold of any fit: more memory never hurts, more context never helps, no byte is lost or invented."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import get_args

from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.fitting.engines import engines
from inspector.fitting.fit import fit
from inspector.model import COMPONENTS, Footprint, Slice
from inspector.model.cache_model import Cache, CachePart, LayerCache
from inspector.model.fit_model import KINDS, PLACEMENTS, Cluster, Hardware, Placement, Workload
from tests.fit.builders import GIB, footprint

RANK = {"does_not_fit": 0, "unknown": 1, "tight": 2, "fits": 3}

slices = st.lists(
    st.builds(
        Slice,
        st.one_of(st.none(), st.integers(0, 7)),
        st.sampled_from(["split", "kv_heads", "experts", "copied"]),
        st.sampled_from(COMPONENTS),
        st.integers(0, 20 * GIB),
        st.integers(0, 9),
    ),
    max_size=12,
).map(lambda found: footprint(*found))
parts = st.builds(
    CachePart,
    st.just("part"),
    st.fractions(0, 10_000, max_denominator=64),
    st.one_of(st.none(), st.integers(1, 5000)),
    st.integers(0, GIB).map(Fraction),
    st.sampled_from(["kv_heads", "heads", "replicated"]),
    st.sampled_from([1, 2, 4, 8, 12]),
)
caches = st.builds(
    Cache,
    st.lists(st.builds(LayerCache, st.just("any"), st.lists(parts, max_size=2).map(tuple)), max_size=8).map(tuple),
    st.just("bf16"),
    st.just("given"),
    st.just("fp32"),
    st.just("bf16"),
    st.one_of(st.none(), st.integers(1, 1 << 22)),
    st.one_of(st.none(), st.sampled_from([8, 12, 64])),
)
hardware = st.builds(Hardware, st.just("box"), st.just("box"), st.sampled_from(KINDS), st.integers(1 << 28, 400 * GIB))
clusters = st.lists(st.tuples(st.integers(1, 4), hardware), min_size=1, max_size=2).map(lambda u: Cluster(tuple(u)))
workloads = st.builds(
    Workload,
    st.integers(1, 1 << 21),
    st.integers(1, 5),
    placement=st.one_of(st.none(), st.sampled_from(PLACEMENTS)),
    offload=st.dictionaries(st.sampled_from(["memory", "routed_experts"]), st.sampled_from(["host", "disk"])),
)
engine = st.sampled_from(engines())


def test_every_placement_is_tried() -> None:
    assert set(PLACEMENTS) == set(get_args(Placement))


@settings(max_examples=60, deadline=None)
@given(slices, caches, clusters, workloads, engine, st.integers(1, 300 * GIB))
def test_more_memory_never_turns_fits_into_does_not_fit(
    of: Footprint, cache: Cache, cluster: Cluster, work: Workload, by: object, more: int
) -> None:
    grown = Cluster(tuple((n, replace(h, visible_bytes=h.visible_bytes + more)) for n, h in cluster.units))
    small, large = (fit(of, cache, c, work, by) for c in (cluster, grown))  # type: ignore[arg-type]
    if small.blocked or small.placement != large.placement:
        return
    assert RANK[large.verdict] >= RANK[small.verdict]
    for name in ("raw", "tight", "server"):
        before, after = small.budget(name).max_context, large.budget(name).max_context
        assert after is None or (before is not None and after >= before)


@settings(max_examples=60, deadline=None)
@given(slices, caches, clusters, workloads, engine, st.integers(1, 1 << 21))
def test_more_context_never_turns_does_not_fit_into_fits(
    of: Footprint, cache: Cache, cluster: Cluster, work: Workload, by: object, more: int
) -> None:
    short = fit(of, cache, cluster, work, by)  # type: ignore[arg-type]
    long = fit(of, cache, cluster, replace(work, context=work.context + more), by)  # type: ignore[arg-type]
    assert RANK[long.verdict] <= RANK[short.verdict]
    assert long.max_context == short.max_context


@settings(max_examples=60, deadline=None)
@given(slices, caches, clusters, workloads, engine)
def test_devices_hold_the_footprint_plus_stated_replication(
    of: Footprint, cache: Cache, cluster: Cluster, work: Workload, by: object
) -> None:
    found = fit(of, cache, cluster, work, by)  # type: ignore[arg-type]
    shared = any(h.kind != "discrete" for _, h in cluster.units)
    away = {part for part, where in work.offload.items() if where == "disk" or not shared}
    resident = sum(s.bytes for s in of.slices if s.component not in away)
    assert sum(d.weights for d in found.devices) == resident + sum(d.replicated_bytes for d in found.devices)
    for device, machine in zip(found.devices, cluster.devices, strict=True):
        assert device.usable_bytes + device.overhead == machine.visible_bytes
        assert device.cache is not None
        assert device.free == device.usable_bytes - device.weights - device.cache


@settings(max_examples=60, deadline=None)
@given(slices, caches, clusters, workloads, engine)
def test_the_maximum_context_is_the_last_that_fits(
    of: Footprint, cache: Cache, cluster: Cluster, work: Workload, by: object
) -> None:
    found = fit(of, cache, cluster, work, by)  # type: ignore[arg-type]
    most = found.max_context
    if not most or found.blocked:
        return
    assert fit(of, cache, cluster, replace(work, context=most), by).verdict == "fits"  # type: ignore[arg-type]
    if cache.max_positions is None or most < cache.max_positions:
        past = fit(of, cache, cluster, replace(work, context=most + 1), by)  # type: ignore[arg-type]
        assert past.verdict != "fits"
