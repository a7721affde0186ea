"""From a measured checkpoint to its cache and to fits: which config speaks, which engine serves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from inspector.cache import cache_of
from inspector.kv.kv_dtypes import declared_dtype
from inspector.model import UNESTABLISHED, Checkpoint, Footprint, Json
from inspector.model.cache_model import Cache, UnknownCache
from inspector.model.fit_model import Cluster, Fit, Workload

if TYPE_CHECKING:
    from inspector.fitting.engines import Engine

_SIDE_CONFIG = "hf_quant_config.json"
_SIZED = {"truncated", "unreadable_document"}
"""Notes that leave a report incomplete although every tensor's size is known."""
_NO_CACHE = {
    "pipeline": "a pipeline of components keeps no KV cache as a whole",
    "adapter": "an adapter has the cache of its base model",
}


def cache_for(checkpoint: Checkpoint, workload: Workload, engine: Engine | None = None) -> Cache | UnknownCache:
    """The cache of one sequence, in the engine's state formats where it has its own.

    A config.json without weights still says what its model's context costs.
    """
    selection = checkpoint.selection
    if selection.kind in _NO_CACHE:
        return UnknownCache(_NO_CACHE[selection.kind])
    states: dict[str, str | None] = {
        "state_dtype": engine.state_dtype if engine else None,
        "conv_dtype": engine.conv_dtype if engine else None,
    }
    if selection.format == "gguf":
        metadata = next((h.metadata for h in checkpoint.headers if "general.architecture" in h.metadata), {})
        from inspector.gguf_cache import cache_of_gguf

        return cache_of_gguf(metadata, kv_dtype=workload.kv_dtype, with_draft=workload.with_draft, **states)
    config, side = configs_of(checkpoint)
    if config is None:
        beside = "here" if selection.kind == "nothing" else "beside the weights"
        return UnknownCache(f"there is no config.json {beside}")
    declared = declared_dtype(side, _SIDE_CONFIG) if side is not None else None
    return cache_of(config, kv_dtype=workload.kv_dtype, declared_kv=declared, with_draft=workload.with_draft, **states)


def fits_for(
    checkpoint: Checkpoint,
    footprint: Footprint,
    workload: Workload,
    clusters: Sequence[Cluster],
    *,
    survey: bool = False,
) -> tuple[Fit, ...]:
    """One fit per cluster, each with the engine asked for or the cluster's own default."""
    if not clusters:
        return ()
    # Most runs ask about no cluster, and should not pay for what answers that.
    from inspector.fitting.engines import choose_engine
    from inspector.fitting.fit import fit

    found = []
    incomplete = any(n.code in UNESTABLISHED - _SIZED for n in checkpoint.notes)
    caches: dict[str, Cache | UnknownCache] = {}
    for cluster in clusters:
        engine, why = choose_engine(workload.engine, checkpoint.selection.format, cluster)
        if engine.name not in caches:
            caches[engine.name] = cache_for(checkpoint, workload, engine)
        cache = caches[engine.name]
        found.append(fit(footprint, cache, cluster, workload, engine, chosen=why, incomplete=incomplete, survey=survey))
    return tuple(found)


def serving_engine(checkpoint: Checkpoint, workload: Workload) -> Engine | None:
    """The engine whose state formats the report's own cache has: the one asked for, llama.cpp's for GGUF."""
    name = workload.engine or ("llama.cpp" if checkpoint.selection.format == "gguf" else None)
    if name is None:
        return None
    from inspector.fitting.engines import engine_named

    return engine_named(name)


def configs_of(checkpoint: Checkpoint) -> tuple[Mapping[str, Json] | None, Mapping[str, Json] | None]:
    """config.json and hf_quant_config.json of the first part that has one, or of a root without weights."""
    parts = [part.configs for part in checkpoint.selection.parts] or [tuple(checkpoint.documents)]
    for paths in parts:
        documents = {p.rpartition("/")[2]: checkpoint.documents.get(p) for p in paths}
        config, side = documents.get("config.json"), documents.get(_SIDE_CONFIG)
        if isinstance(config, dict):
            return config, side if isinstance(side, dict) else None
    return None, None
