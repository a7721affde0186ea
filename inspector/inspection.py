"""`inspect`: a repo, folder or file in, a `Report` out. The only composition of the layers."""

from __future__ import annotations

import fnmatch
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Final

from inspector import address
from inspector.begun import Asked, begin
from inspector.collector import paused
from inspector.keep.keeping import Kept, open_store, this_program
from inspector.model import Checkpoint, Cost, Footprint, Json, Note, Progress, Report, Source, TensorRow
from inspector.net import environment
from inspector.noting import KEPT, few
from inspector.records import replace
from inspector.sources import open_source
from inspector.tasks import Loop, finish

if TYPE_CHECKING:
    from inspector.ahead import Ahead
    from inspector.checkpoint import Loaded
    from inspector.model.fit_model import Cluster, Workload


_LATER: Final = (
    *("checkpoint", "witness.patterns", "declared", "storing.companions", "schemes", "grouping", "measure", "menu"),
    *("kv.layer_rules", "attention", "cache", "fitting.outlook", "keep.report_form", "render"),
)
"""What a run needs after the headers are in, in steps of a few milliseconds."""


def inspect(
    repo: str | os.PathLike[str],
    *,
    revision: str | None = None,
    repo_type: str | None = None,
    variant: str | None = None,
    tensors: bool = False,
    match: str | None = None,
    metadata: bool = False,
    token: str | None = None,
    endpoint: str | None = None,
    timeout: float | None = None,
    jobs: int | None = None,
    offline: bool | None = None,
    clusters: Sequence[str | Cluster] = (),
    workload: Workload | None = None,
    survey: bool = False,
    cached: bool = False,
    progress: Callable[[Progress], None] | None = None,
    trace: Callable[[str], None] | None = None,
    ahead: Ahead | None = None,
) -> Report:
    """Read the headers of `repo` (a Hub name, URL, folder or file; a path object is local) and report what ships.

    `tensors` lists every stored tensor, `match` those whose name fits the glob. `clusters` ("2x dgx-spark") asks
    whether it fits, under the `workload` (8,192 tokens in one sequence); a `survey` of many machines leaves out the
    words and the search for other counts. `cached` keeps what was read of a Hub in the user's cache, and asks for
    nothing that is kept. `progress` is called as files come in; nothing is printed.
    `ahead` is a source that has been asked already, used where it is that of `repo`.

    Raises `UsageError` for what the caller asked wrongly, `SourceError` where bytes could not be had,
    `MalformedFile` or `UnsupportedFile` where no file could be read.
    """
    started = time.perf_counter()
    machines = _machines(clusters)
    where = address.parse(repo, revision=revision, kind=repo_type, endpoint=endpoint)
    hub = environment.endpoint(os.environ, endpoint)
    plain = replace(where, revision=None)
    asked = Asked(plain, hub, variant, tensors, match, metadata, machines, workload, survey)
    begun = None if ahead is None else ahead.reading(where, asked if cached else None)
    if begun is None:
        store = open_store() if cached and where.kind in ("model", "dataset", "space") else None
        kept = None if store is None else Kept(store, asked, this_program())
        if kept is not None and (report := kept.report(where.revision)) is not None:
            return _again(report, None, started)
        early = ahead if ahead is not None and ahead.where == where else None
        source = open_source(
            where,
            token=token,
            endpoint=endpoint,
            timeout=timeout,
            jobs=jobs,
            offline=offline,
            trace=trace,
            store=store,
            hub=None if early is None else early.source,
        )
        loop, since = (Loop(), started) if early is None else (early.loop, early.since)
        begun = begin(where, asked, source, kept, loop, since)
    source, kept, started, begun.listener = begun.source, begun.kept, begun.since, progress
    try:
        with paused():
            loaded = begun.loop.run(finish(begun.task), idle=_import_ahead())
            if isinstance(loaded, Report):
                return _again(loaded, source, started)
            from inspector.measure import measure

            footprint, rows = measure(loaded.checkpoint, _wanted(tensors, match), sliced=bool(machines))
    finally:
        begun.loop.close()
        source.close()
    report = _report(loaded, footprint, rows, _cost(source, loaded, started))
    if metadata:
        report = replace(report, metadata=_metadata(loaded))
    from inspector.fitting.outlook import fits_for
    from inspector.model.fit_model import Workload

    load = workload or Workload()
    fits = fits_for(loaded.checkpoint, footprint, load, machines, survey=survey)
    report = _with_cache(replace(report, fits=fits), loaded.checkpoint, load)
    if kept is not None:
        kept.keep(report)
    return _retried(report)


def _retried(report: Report) -> Report:
    """The report with a note on requests that were sent again: not kept, for it is of this run only."""
    retried = report.cost.retried
    if not retried:
        return report
    reasons = ", ".join(f"{why} ({count:,})" for why, count in retried)
    count = sum(n for _, n in retried)
    words = f"{count:,} requests were sent again" if count > 1 else "1 request was sent again"
    return replace(report, notes=(*report.notes, Note("retried", f"{words}: {reasons}")))


def _machines(clusters: Sequence[str | Cluster]) -> tuple[Cluster, ...]:
    if not clusters:
        return ()
    from inspector.fitting.cluster import parse_cluster

    return tuple(parse_cluster(c) if isinstance(c, str) else c for c in clusters)


def _again(report: Report, source: Source | None, started: float) -> Report:
    """A kept report with what it cost this time."""
    cost = source.cost() if source is not None else Cost()
    seconds = round(time.perf_counter() - started, 3)
    return replace(report, cost=replace(cost, cached_files=report.files, seconds=seconds))


def _import_ahead() -> Iterator[None]:
    """Import what comes after the reading, a little at a time, while servers are waited for."""
    for name in _LATER:
        import_module(f"inspector.{name}")
        yield


async def examine(
    source: Source,
    *,
    variant: str | None = None,
    path: str | None = None,
    sliced: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[Report, Checkpoint, Footprint]:
    """One set of weights of an open source: its report, and what that was made of. The source stays open.

    `sliced` adds to the footprint how devices share it. The report's cost is that of the source so far.
    """
    from inspector.checkpoint import load
    from inspector.measure import measure

    started = time.perf_counter()
    loaded = await load(source, variant=variant, path=path, progress=progress)
    footprint, _ = measure(loaded.checkpoint, None, sliced=sliced)
    return _report(loaded, footprint, None, _cost(source, loaded, started)), loaded.checkpoint, footprint


def _with_cache(report: Report, checkpoint: Checkpoint, workload: Workload) -> Report:
    """The report with the cache of one sequence, or with a note on why it is unknown."""
    from inspector.fitting.outlook import cache_for, serving_engine
    from inspector.model.cache_model import Cache

    cache = cache_for(checkpoint, workload, serving_engine(checkpoint, workload))
    if isinstance(cache, Cache):
        return replace(report, cache=cache)
    note = Note("cache_unknown", f"the cache is unknown: {cache.reason}", cache.where)
    return replace(report, notes=(*report.notes, note))


def _wanted(tensors: bool, match: str | None) -> Callable[[str], bool] | None:
    if match is not None:
        pattern = re.compile(fnmatch.translate(match))
        return lambda name: pattern.match(name) is not None
    return (lambda name: True) if tensors else None


def _cost(source: Source, loaded: Loaded, started: float) -> Cost:
    seconds = time.perf_counter() - started
    return replace(source.cost(), weight_bytes_read=loaded.weight_bytes_read, seconds=round(seconds, 3))


def _report(loaded: Loaded, footprint: Footprint, rows: tuple[TensorRow, ...] | None, cost: Cost) -> Report:
    from inspector.menu import filled

    checkpoint = loaded.checkpoint
    listing, selection = checkpoint.listing, checkpoint.selection
    known = bool(checkpoint.headers)
    tensor_bytes = footprint.tensor_bytes if known else None
    parameters = footprint.parameters if known else None
    totals = [i.total_size for i in checkpoint.indexes]
    return Report(
        repo=listing.ref.repo,
        revision=listing.ref.revision,
        format=selection.format,
        kind=selection.kind,
        incomplete=checkpoint.incomplete,
        variant=selection.variant,
        files=len(selection.files),
        tensors=sum(len(h.tensors) for h in checkpoint.headers) if known or not selection.files else None,
        file_bytes=_total([f.size for f in selection.files]) if selection.files else None,
        tensor_bytes=tensor_bytes,
        parameters=parameters,
        bits_per_weight=8 * tensor_bytes / parameters if tensor_bytes and parameters else None,
        prequantised=footprint.prequantised,
        dtypes=footprint.dtypes,
        cells=footprint.cells,
        menu=filled(checkpoint, footprint, loaded.others),
        excluded=selection.excluded,
        excluded_bytes=_total([e.bytes for e in selection.excluded]),
        other_bytes=_total([f.size for f in selection.other]),
        repo_bytes=_total([f.size for f in listing.files]),
        index_total_size=totals[0] if len(totals) == 1 else None,
        hub_total=listing.hub_total,
        base_model=_base_model(checkpoint),
        notes=few((*checkpoint.notes, *footprint.notes), KEPT),
        cost=cost,
        tensor_rows=rows,
    )


def _metadata(loaded: Loaded) -> dict[str, Mapping[str, Json]]:
    return {h.file: h.metadata for h in loaded.checkpoint.headers}


def _total(sizes: list[int | None]) -> int | None:
    return None if None in sizes else sum(s for s in sizes if s is not None)


def _base_model(checkpoint: Checkpoint) -> str | None:
    """The base that an adapter names in adapter_config.json."""
    if checkpoint.selection.kind != "adapter":
        return None
    for path, document in checkpoint.documents.items():
        if path.rpartition("/")[2] == "adapter_config.json" and isinstance(document, dict):
            base = document.get("base_model_name_or_path")
            return base if isinstance(base, str) else None
    return None
