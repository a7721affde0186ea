"""Every assumption of a fit in words, in the order in which a reader asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from inspector.fitting.engines import Engine
from inspector.fitting.fit_plan import Plan
from inspector.fitting.resident import Resident
from inspector.model import Footprint
from inspector.model.cache_model import Cache, UnknownCache
from inspector.model.fit_model import Budget, Cluster, Hardware, Placement, Workload
from inspector.records import dataclass
from inspector.units import gib

SEARCH: Final = 1024
"""Largest count of units that is tried."""

_PLACED: Final = {
    "tp": "tensor parallel: attention by head, experts and MLP by column, embeddings by vocabulary",
    "ep": "expert parallel: whole experts dealt out, attention tensor parallel",
    "dp": "data parallel: experts dealt out, everything else and each request's cache whole on its device",
    "pp": "pipeline: whole layers, as many on each stage; embeddings first, head, norm and draft layers last",
    "layers": "whole layers, as many as each device has room for; embeddings first, head, norm and draft layers last",
}


@dataclass(frozen=True, slots=True)
class Told:
    """What the words are about."""

    footprint: Footprint
    cache: Cache | UnknownCache
    cluster: Cluster
    workload: Workload
    engine: Engine
    plan: Plan
    resident: Resident
    budgets: tuple[Budget, ...]
    context: int
    limit: int | None
    incomplete: bool = False
    divided: int | None = None
    disk_units: int | None = None
    taken: bool = False


def assumptions(
    told: Told, *, chosen: str, why: str, problem: str, units: int | None, other: tuple[Placement, int | None]
) -> tuple[str, ...]:
    """The lines, each a sentence without a full stop."""
    return (
        *told.cluster.assumptions,
        *_machines(told),
        *_engine(told, chosen),
        *_placed(told, why, problem),
        *_cache(told),
        *_parts(told),
        *_silicon(told),
        *_worst(told, problem),
        *_counts(told, problem, units, other),
    )


def _kinds(told: Told) -> tuple[Hardware, ...]:
    return tuple(dict.fromkeys(hardware for _, hardware in told.cluster.units))


def _machines(told: Told) -> Iterator[str]:
    each = ", ".join(f"{gib(h.visible_bytes)} on {h.id}" for h in _kinds(told))
    yield f"memory as the driver or OS shows it: {gib(told.cluster.visible_bytes)} together, {each}"
    for hardware in _kinds(told):
        if hardware.rule:
            yield f"{hardware.id}: {hardware.rule}"


def _engine(told: Told, chosen: str) -> Iterator[str]:
    yield f"engine {told.engine.name} ({chosen})"
    count = len(told.plan.devices)
    for hardware in _kinds(told):
        for budget in ("tight", "server"):
            words = told.engine.told(budget, hardware, count, told.workload)
            yield f"{budget} budget of {hardware.id}: {words}"
        if not told.engine.covers(hardware.kind):
            yield f"{told.engine.name} has no figures for {hardware.kind} memory here: those of vllm are used"


def _placed(told: Told, why: str, problem: str) -> Iterator[str]:
    plan = told.plan
    if len(plan.devices) == 1:
        yield f"placement {plan.placement} ({why}): one device holds everything"
        return
    yield f"placement {plan.placement} ({why}); {_PLACED[plan.placement]}"
    if problem:
        yield f"{problem}: this placement cannot be"
    copies = sum(x.replicated for x in plan.loads(told.context))
    if copies:
        what = {
            "dp": "all but experts",
            "pp": "the embedding that is also the head",
            "layers": "the embedding that is also the head",
        }.get(plan.placement, "norms, routers, MLA down-projections, indexers, KV heads beyond their number")
        yield f"held more than once: {gib(copies)} in all ({what})"
    if plan.placement in ("tp", "ep") and isinstance(told.cache, Cache):
        if any(p.sharding == "replicated" and p.row_bytes for x in told.cache.layers for p in x.parts):
            yield "latent rows and indexer keys are whole on every device: more devices give them no more context"
            yield from _dcp(told)
        if told.cache.num_attention_heads is None:
            yield "the number of attention heads is not known, so whether it divides is not checked"


def _cache(told: Told) -> Iterator[str]:
    cache, workload = told.cache, told.workload
    if isinstance(cache, UnknownCache):
        yield f"the cache is not known ({cache.reason}), so neither is the context"
        return
    yield f"cache in {cache.kv_dtype} ({cache.kv_dtype_reason}); minimal, without an engine's page rounding"
    if cache.kv_dtype not in told.engine.cache_formats:
        yield f"{told.engine.name} has no {cache.kv_dtype} cache as far as is known here"
    if workload.sequences > 1:
        yield f"{workload.sequences:,} sequences of that many tokens each"
    if workload.context > told.context:
        yield f"the model's limit is {told.context:,} tokens, {workload.context:,} were asked: the limit is taken"
    if told.limit is None:
        yield "the config states no limit of the context"
    if not cache.bytes_per_token:
        yield "the cache does not grow with the context"


def _parts(told: Told) -> Iterator[str]:
    parts = told.resident
    for name, size in parts.without.items():
        yield f"without {name}: {gib(size)} not loaded"
    for name, size in parts.host.items():
        yield f"{name} in host memory: {gib(size)} of it are needed beside the devices"
    for name, size in parts.shared.items():
        yield f"{name} in host memory: the same pool on this hardware, so its {gib(size)} stay; only disk would help"
    for name, size in parts.disk.items():
        yield f"{name} on disk: {gib(size)} not resident"
    held = {s.component for s in parts.slices}
    if "memory" in held and "memory" not in parts.shared:
        size = sum(s.bytes for s in parts.slices if s.component == "memory")
        yield f"memory tables (Engram, {gib(size)}) are resident, split by rows{_on_disk(told)}"
    if "draft" in held and not told.workload.with_draft:
        yield "draft layers are loaded; their cache is not counted (--with-draft counts it)"


def _dcp(told: Told) -> Iterator[str]:
    """What dividing the rows gives, where it decides or would add context."""
    most = next(b for b in told.budgets if b.name == "tight").max_context
    if told.divided is None or most is None:
        return
    devices = len(told.plan.devices)
    how = f"decode context parallelism (vLLM -dcp {devices}) divides them over {devices} devices"
    if told.taken:
        yield f"{how}: without it the asked context does not fit, so it is taken, in the tight budget only"
    elif told.divided > most:
        yield f"{how}: up to {told.divided:,} tokens in the tight budget instead of {most:,}; it is not assumed here"


def _on_disk(told: Told) -> str:
    if told.disk_units is None or told.incomplete:
        return "; --offload memory=disk keeps them out"
    return f"; with --offload memory=disk {told.disk_units}x {_kinds(told)[0].id} hold the context"


def _silicon(told: Told) -> Iterator[str]:
    for bits, words in ((4, "FP4"), (8, "FP8")):
        size = sum(c.bytes for c in told.footprint.cells if c.bits == bits and (c.precision or "").startswith("fp"))
        for hardware in _kinds(told):
            if size and (hardware.fp4 if bits == 4 else hardware.fp8) is False:
                known = (
                    "1.06 to 1.09 of what ships for gpt-oss-120b on H100, unknown for others"
                    if bits == 4
                    else "unknown"
                )
                yield (
                    f"{hardware.id} has no {words} units: {gib(size)} are laid out anew at load; the factor is {known} "
                    "and is not charged"
                )


def _worst(told: Told, problem: str) -> Iterator[str]:
    plan = told.plan
    if told.incomplete:
        yield "not all weights are known, so neither is what they leave"
        return
    if problem or not isinstance(told.cache, Cache):
        return
    loads = plan.loads(told.context)
    held = plan.caches(loads, told.context) or [0] * len(loads)
    rooms = plan.usable("server")
    left = [(room - x.weights - size, at) for at, (x, size, room) in enumerate(zip(loads, held, rooms, strict=True))]
    least, at = min(left)
    state = f"{gib(least)} free" if least >= 0 else f"{gib(-least)} short"
    yield f"the worst device decides: device {at + 1} ({plan.devices[at].id}) is {state} at {told.context:,} tokens"
    most = next(b for b in told.budgets if b.name == "server").max_context
    if most is not None and told.limit is not None and most == told.limit:
        yield f"the model's own limit of {told.limit:,} tokens is reached first"


def _counts(told: Told, problem: str, units: int | None, other: tuple[Placement, int | None]) -> Iterator[str]:
    if len(_kinds(told)) != 1 or not isinstance(told.cache, Cache) or told.incomplete:
        return
    unit, context = _kinds(told)[0].id, f"{told.context:,} tokens within the server budget"
    placement = told.plan.placement
    if units is None:
        yield f"no count of {unit} up to {SEARCH:,} holds {context} under {placement}{_divides(told)}"
    else:
        yield f"smallest count under {placement}: {units}x {unit} hold {context}{_divides(told)}"
    name, count = other
    found = f"{count}x {unit}" if count is not None else f"no count up to {SEARCH:,}"
    yield f"smallest count under {name}: {found}"


def _divides(told: Told) -> str:
    heads = told.cache.num_attention_heads if isinstance(told.cache, Cache) else None
    return f" (counts must divide {heads} heads)" if heads and told.plan.placement in ("tp", "ep") else ""
