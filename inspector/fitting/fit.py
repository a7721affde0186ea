"""Footprint + cache + cluster + workload -> does it fit, with how much context. Arithmetic only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from inspector.fitting import fit_words
from inspector.fitting.context_parallel import divided
from inspector.fitting.engines import Engine
from inspector.fitting.fit_plan import Plan, blocked
from inspector.fitting.resident import resident
from inspector.model import Footprint, Slice
from inspector.model.cache_model import Cache, UnknownCache
from inspector.model.fit_model import BUDGETS, Answer, Budget, Cluster, Device, Fit, Hardware, Part, Placement, Workload
from inspector.records import replace

FAR: Final = 1 << 40
"""Tokens beyond which a context counts as unbounded."""

_SHOWN: Final = (8_192, 131_072)
"""Contexts whose cache is worth showing beside the one that was asked for."""


def fit(
    footprint: Footprint,
    cache: Cache | UnknownCache,
    cluster: Cluster,
    workload: Workload,
    engine: Engine,
    *,
    chosen: str = "as asked",
    incomplete: bool = False,
    survey: bool = False,
) -> Fit:
    """Whether weights and the asked context fit each device, under three budgets, and the largest context that does.

    `footprint` must hold its slices (`measure(..., sliced=True)`). `chosen` says in words why this engine.
    `incomplete` is true where some files' headers could not be read: nothing then fits for certain, and what is left
    is not known. A `survey` of many machines wants no other counts of units and no assumptions in words. Raises
    `UsageError` where the workload contradicts itself (`resident.check`).
    """
    parts = resident(footprint.slices, cluster, workload)
    placement, why = _placement(parts.slices, cache, cluster, workload, engine)
    plan = Plan(parts.slices, _main(cache, workload), placement, cluster.devices, workload, engine)
    limit = cache.max_positions if isinstance(cache, Cache) else None
    context = workload.context if limit is None else min(workload.context, limit)
    budgets = tuple(_budget(plan, name, limit) for name in BUDGETS)
    problem = blocked(placement, plan.cache, len(cluster.devices))
    verdict = _verdict(plan, context, problem, incomplete)
    split, shown = divided(plan), plan
    if verdict == "does_not_fit" and not incomplete and split is not None and split.holds("tight", context):
        # What ran on real machines ran so; the server budget stays without it.
        verdict, shown = "tight", split
        budgets = tuple(
            replace(b, max_context=_context(split, "tight", limit)) if b.name == "tight" else b for b in budgets
        )
    if incomplete:
        budgets = tuple(Budget(b.name, b.usable_bytes, None, None) for b in budgets)
    units = None if survey or incomplete else _smallest(plan, cluster, context)
    return Fit(
        cluster=cluster.text,
        engine=engine.name,
        placement=placement,
        context=context,
        sequences=workload.sequences,
        kv_dtype=cache.kv_dtype if isinstance(cache, Cache) else None,
        verdict=verdict,
        budgets=budgets if not problem else tuple(replace(b, max_context=None) for b in budgets),
        devices=()
        if incomplete and not footprint.slices
        else tuple(_devices(shown, context, None if problem else budgets[-1].max_context, survey=survey)),
        min_units=units,
        stops_at=None if problem or incomplete else _stops(shown, limit),
        assumptions=()
        if survey
        else fit_words.assumptions(
            fit_words.Told(
                footprint,
                cache,
                cluster,
                workload,
                engine,
                plan,
                parts,
                budgets,
                context,
                limit,
                incomplete=incomplete,
                divided=None if split is None else _context(split, "tight", limit),
                taken=shown is split,
                disk_units=None if incomplete else _without_memory(plan, cluster, context),
            ),
            chosen=chosen,
            why=why,
            problem=problem,
            units=units,
            other=_other(plan, cluster, context) if not incomplete else (placement, None),
        ),
        blocked=problem,
    )


def _placement(
    slices: Sequence[Slice], cache: Cache | UnknownCache, cluster: Cluster, workload: Workload, engine: Engine
) -> tuple[Placement, str]:
    """The placement and why: asked, the engine's, or pp where the engine's tp cannot be."""
    if workload.placement is not None:
        return workload.placement, "as asked"
    wanted = engine.placement
    problem = blocked(wanted, cache, len(cluster.devices))
    if problem and any(s.layer is not None for s in slices):
        return "pp", f"{problem}, so {wanted} is not possible"
    return wanted, f"the default of {engine.name}"


def _main(cache: Cache | UnknownCache, workload: Workload) -> Cache | UnknownCache:
    """The cache without draft layers, unless they are asked for."""
    if isinstance(cache, UnknownCache) or workload.with_draft:
        return cache
    return replace(cache, layers=tuple(x for x in cache.layers if not x.draft))


def _budget(plan: Plan, name: str, limit: int | None) -> Budget:
    usable = plan.usable(name)
    return Budget(name, sum(usable), sum(usable) - sum(x.weights for x in plan.loads(0)), _context(plan, name, limit))


def _context(plan: Plan, name: str, limit: int | None) -> int | None:
    """The largest context under a budget, within the model's limit; None where unknown or without bound."""
    if not isinstance(plan.cache, Cache):
        return None
    found = _largest(lambda tokens: plan.holds(name, tokens), FAR if limit is None else limit)
    return None if found == FAR else found


def _without_memory(plan: Plan, cluster: Cluster, context: int) -> int | None:
    """The smallest count of the unit if memory tables (Engram) stayed on disk; None where there are none."""
    slices = tuple(s for s in plan.slices if s.component != "memory")
    return None if len(slices) == len(plan.slices) else _smallest(replace(plan, slices=slices), cluster, context)


def _stops(plan: Plan, limit: int | None) -> int | None:
    if not plan.holds_weights("tight"):
        return 0
    most = _context(plan, "tight", limit)
    return None if most is None or most == limit else most + 1


def _largest(holds: Callable[[int], bool], limit: int) -> int:
    """The largest number up to `limit` for which `holds` is true, which turns false once; 0 where none is."""
    if holds(limit):
        return limit
    low, high = 0, limit
    while high - low > 1:
        middle = (low + high) // 2
        if holds(middle):
            low = middle
        else:
            high = middle
    return low


def _verdict(plan: Plan, context: int, problem: str, incomplete: bool) -> Answer:
    if sum(x.weights - x.replicated for x in plan.loads(0)) > sum(plan.usable("raw")):
        return "does_not_fit"
    if problem:
        return "unknown"
    if not isinstance(plan.cache, Cache) or incomplete:
        return "unknown" if plan.holds_weights("raw") else "does_not_fit"
    if plan.holds("server", context):
        return "fits"
    return "tight" if plan.holds("tight", context) else "does_not_fit"


def _devices(plan: Plan, context: int, most: int | None, *, survey: bool) -> list[Device]:
    """The devices at a context; `most` is the largest that the server budget allows. A survey draws none of them."""
    found = []
    loads = plan.loads(context)
    known = plan.caches(loads, context)
    held: Sequence[int | None] = [None] * len(loads) if known is None else known
    contexts = () if survey else sorted({*_SHOWN, most or 0})
    further = {n: plan.caches(loads, n) for n in contexts if context < n <= (most or 0)}
    parts: list[list[Part]] = [[] for _ in loads] if survey else plan.parts(loads)
    for at, (hardware, load, cache, usable) in enumerate(
        zip(plan.devices, loads, held, plan.usable("server"), strict=True)
    ):
        free = None if cache is None else usable - load.weights - cache
        over = hardware.visible_bytes - usable
        longer = tuple((n, sizes[at]) for n, sizes in further.items() if sizes is not None)
        more = (longer, tuple(parts[at]))
        found.append(Device(hardware.id, usable, load.weights, load.replicated, cache, over, free, *more))
    return found


def _smallest(plan: Plan, cluster: Cluster, context: int) -> int | None:
    """The smallest count of one unit that holds the context under the server budget; None where none does."""
    if len({hardware.id for _, hardware in cluster.units}) != 1 or not isinstance(plan.cache, Cache):
        return None
    unit: Hardware = cluster.units[0][1]
    least = plan.least_devices("server", context)
    # Whether heads divide is asked of the distinct layers, not of thousands that are alike.
    few = replace(plan.cache, layers=plan.distinct)
    for count in range(fit_words.SEARCH + 1 if least is None else least, min(fit_words.SEARCH, plan.most_devices) + 1):
        if blocked(plan.placement, few, count):
            continue
        if plan.over((unit,) * count).holds("server", context):
            return count
    return None


def _other(plan: Plan, cluster: Cluster, context: int) -> tuple[Placement, int | None]:
    """The count that another placement needs, to be named beside: whole layers for tp, tp for whole layers."""
    other: Placement = "tp" if plan.placement in ("pp", "layers") else "layers"
    return other, _smallest(replace(plan, placement=other), cluster, context)
