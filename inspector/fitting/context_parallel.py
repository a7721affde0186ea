"""Decode context parallelism: latent rows, whole on every tensor-parallel rank, dealt out by token instead.

vLLM `--decode-context-parallel-size` divides MLA's rows and its indexer's keys over the ranks. It costs speed, so it is
taken only where nothing else holds the asked context, and that is never better than tight.
"""

from __future__ import annotations

from inspector.fitting.fit_plan import Plan
from inspector.model.cache_model import Cache, CachePart, LayerCache
from inspector.records import replace


def divided(plan: Plan) -> Plan | None:
    """The plan with each rank's share of the rows; None where the engine cannot, or no row is whole on every rank."""
    ranks = len(plan.devices)
    able = plan.engine.context_parallel and plan.placement in ("tp", "ep") and ranks > 1
    if not able or not isinstance(plan.cache, Cache):
        return None
    layers = tuple(_layer(x, ranks) for x in plan.cache.layers)
    if layers == plan.cache.layers:
        return None
    return replace(plan, cache=replace(plan.cache, layers=layers))


def _layer(layer: LayerCache, ranks: int) -> LayerCache:
    if not layer.family.startswith("latent attention"):
        return layer
    return replace(layer, parts=tuple(_part(p, ranks) for p in layer.parts))


def _part(part: CachePart, ranks: int) -> CachePart:
    rows = part.sharding == "replicated" and part.window is None and part.row_bytes > 0
    return replace(part, sharding="heads", heads=ranks) if rows else part
