"""Repos that claims are about, each read once: one listing, one pass over the headers of each set asked for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Final

from inspector import address
from inspector.address import Address
from inspector.cache import cache_of
from inspector.claim.claim_model import Setting, Subject
from inspector.claim.claim_verdict import Expense
from inspector.collector import paused
from inspector.errors import InspectorError, SourceError, UsageError
from inspector.fitting.cluster import parse_cluster
from inspector.fitting.engines import choose_engine
from inspector.fitting.fit import fit
from inspector.gguf_cache import cache_of_gguf
from inspector.inspection import examine
from inspector.model import Checkpoint, Cost, Footprint, Json, Progress, Report, Source
from inspector.model.cache_model import Cache, UnknownCache
from inspector.model.fit_model import PLACEMENTS, Fit, Workload

FILES_AT_ONCE: Final = 16
"""Files of one repo read at once, where several repos are."""
AT_ONCE: Final = 8
"""Repos read at once; each reads its own files at once besides."""

Opener = Callable[[Address], Source]
"""Opens the bytes of one repo: the Hub, a folder, or a snapshot."""


@dataclass(slots=True)
class MeasuredRepo:
    """One checkpoint that was read; caches and fits are worked out when they are asked for, once each."""

    report: Report
    config: Mapping[str, Json]
    metadata: Mapping[str, Json]
    footprint: Footprint
    _caches: dict[str, Cache | UnknownCache] = field(default_factory=dict)
    _fits: dict[Setting, Fit] = field(default_factory=dict)

    def cache(self, kv_dtype: str | None) -> Cache | UnknownCache:
        """One sequence's cache, main layers only. Raises `UsageError` for an unknown dtype."""
        key = kv_dtype or ""
        if key not in self._caches:
            self._caches[key] = self._cache(kv_dtype, None, None)
        return self._caches[key]

    def fit(self, setting: Setting) -> Fit:
        """The fit on a cluster, at 8,192 tokens unless the setting says. Raises `UsageError` for its words."""
        if setting not in self._fits:
            cluster = parse_cluster(setting.cluster or "")
            engine, chosen = choose_engine(None, self.report.format, cluster)
            placement = next((p for p in PLACEMENTS if p == setting.placement), None)
            workload = Workload(kv_dtype=setting.kv_dtype, placement=placement)
            if setting.context is not None:
                workload = replace(workload, context=setting.context)
            cache = self._cache(setting.kv_dtype, engine.state_dtype, engine.conv_dtype)
            incomplete = self.report.incomplete
            self._fits[setting] = fit(
                self.footprint, cache, cluster, workload, engine, chosen=chosen, incomplete=incomplete
            )
        return self._fits[setting]

    def _cache(self, kv_dtype: str | None, state: str | None, conv: str | None) -> Cache | UnknownCache:
        if self.report.format == "gguf":
            return cache_of_gguf(self.metadata, kv_dtype=kv_dtype)
        if not self.config:
            return UnknownCache("there is no config.json that says how it attends", "config.json")
        return cache_of(self.config, kv_dtype=kv_dtype, state_dtype=state, conv_dtype=conv)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What came in: a repo or the error per subject, whether Ctrl-C stopped it, and the cost."""

    found: Mapping[Subject, MeasuredRepo | InspectorError]
    interrupted: bool
    cost: Expense


def reports_for(
    subjects: Iterable[Subject],
    opener: Opener,
    *,
    fits: frozenset[Subject] = frozenset(),
    endpoint: str | None = None,
    at_once: int = AT_ONCE,
    progress: Callable[[Progress], None] | None = None,
) -> Gathered:
    """Read every subject, repos side by side. `fits` are those that are asked about a cluster. Nothing is raised.

    A `UsageError` stands for a name that is none, or a set that the repo does not have; others for an outage.
    """
    started = time.perf_counter()
    found: dict[Subject, MeasuredRepo | InspectorError] = {}
    groups: dict[Address, list[Subject]] = {}
    for subject in dict.fromkeys(subjects):
        try:
            where = address.parse(subject.repo, revision=subject.revision, endpoint=endpoint)
            groups.setdefault(where, []).append(subject)
        except InspectorError as error:
            found[subject] = error
    costs: list[Cost] = []
    lock = threading.Lock()

    def one(where: Address, wanted: Sequence[Subject]) -> dict[Subject, MeasuredRepo | InspectorError]:
        out, cost = _read(where, wanted, opener, fits)
        with lock:
            costs.append(cost)
        return out

    interrupted = False
    pool = ThreadPoolExecutor(max(1, min(at_once, len(groups))), thread_name_prefix="check")
    pending: dict[Future[dict[Subject, MeasuredRepo | InspectorError]], Address] = {}
    try:
        with paused():
            pending.update({pool.submit(one, where, wanted): where for where, wanted in groups.items()})
            while pending:
                ready, _ = wait(pending, return_when=FIRST_COMPLETED)
                for future in ready:
                    pending.pop(future)
                    found.update(future.result())
                if progress is not None:
                    total = sum(c.bytes_fetched for c in costs)
                    progress(Progress("reading repos", len(groups) - len(pending), len(groups), total))
        pool.shutdown()
    except KeyboardInterrupt:
        interrupted = True
        pool.shutdown(wait=False, cancel_futures=True)
        stopped = SourceError("", "interrupted before it was read", "Run it again.")
        for wanted in groups.values():
            for subject in wanted:
                found.setdefault(subject, stopped)
    seconds = round(time.perf_counter() - started, 3)
    requests, fetched = sum(c.requests for c in costs), sum(c.bytes_fetched for c in costs)
    return Gathered(found, interrupted, Expense(len(groups), requests, fetched, seconds))


def _read(
    where: Address, subjects: Sequence[Subject], opener: Opener, fits: frozenset[Subject]
) -> tuple[dict[Subject, MeasuredRepo | InspectorError], Cost]:
    """All sets of one repo over one open source, so that it is listed once."""
    out: dict[Subject, MeasuredRepo | InspectorError] = {}
    variants: dict[str | None, list[Subject]] = {}
    for subject in subjects:
        variants.setdefault(subject.variant, []).append(subject)
    try:
        source = opener(where)
    except InspectorError as error:
        return dict.fromkeys(subjects, error), Cost()
    try:
        for variant, group in variants.items():
            result = _examined(source, where, variant, any(s in fits for s in group))
            out.update(dict.fromkeys(group, result))
        return out, source.cost()
    finally:
        source.close()


def _examined(source: Source, where: Address, variant: str | None, sliced: bool) -> MeasuredRepo | InspectorError:
    try:
        report, checkpoint, footprint = examine(source, variant=variant, path=where.path, sliced=sliced)
    except UsageError as error:
        return error
    except InspectorError as error:
        return error
    except Exception as error:
        # One repo that breaks this program must not cost the others their verdicts.
        return SourceError(where.name, f"internal error: {type(error).__name__}: {error}"[:300], "Please report it.")
    return MeasuredRepo(report, _config(checkpoint), _metadata(checkpoint), footprint)


def _config(checkpoint: Checkpoint) -> Mapping[str, Json]:
    for part in checkpoint.selection.parts:
        for path in part.configs:
            document = checkpoint.documents.get(path)
            if path.rpartition("/")[2] == "config.json" and isinstance(document, dict):
                return document
    return {}


def _metadata(checkpoint: Checkpoint) -> Mapping[str, Json]:
    return checkpoint.headers[0].metadata if checkpoint.headers else {}
