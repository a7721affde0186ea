"""Repos that claims are about, each read once: one listing, one pass over the headers of each set asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from inspector import address
from inspector.address import Address
from inspector.claim.claim_model import Setting, Subject
from inspector.claim.claim_verdict import Expense
from inspector.collector import paused
from inspector.errors import InspectorError, SourceError, UsageError
from inspector.fitting.cluster import parse_cluster
from inspector.fitting.outlook import cache_for, configs_of, fits_for, serving_engine
from inspector.inspection import examine
from inspector.model import Checkpoint, Cost, Footprint, Json, Progress, Report, Source
from inspector.model.cache_model import Cache, UnknownCache
from inspector.model.fit_model import PLACEMENTS, Fit, Workload
from inspector.records import dataclass, field, replace
from inspector.tasks import Tasks, run

FILES_AT_ONCE: Final = 16
"""Files of one repo read at once, where several repos are."""
AT_ONCE: Final = 8
"""Repos read at once; each reads its own files at once besides."""

Opener = Callable[[Address], Source]
"""Opens the bytes of one repo: the Hub, a folder, or a snapshot."""


@dataclass(slots=True)
class MeasuredRepo:
    """One checkpoint that was read; caches and fits are worked out when they are asked for, once each.

    They come from where a report has them, so that a table is held against what `inspect` says.
    """

    report: Report
    checkpoint: Checkpoint
    footprint: Footprint
    _caches: dict[str, Cache | UnknownCache] = field(default_factory=dict)
    _fits: dict[Setting, Fit] = field(default_factory=dict)

    @property
    def config(self) -> Mapping[str, Json]:
        """The config.json that speaks of the weights; empty where there is none."""
        return configs_of(self.checkpoint)[0] or {}

    def cache(self, kv_dtype: str | None) -> Cache | UnknownCache:
        """One sequence's cache, main layers only. Raises `UsageError` for an unknown dtype."""
        key = kv_dtype or ""
        if key not in self._caches:
            asked = Workload(kv_dtype=kv_dtype)
            self._caches[key] = cache_for(self.checkpoint, asked, serving_engine(self.checkpoint, asked))
        return self._caches[key]

    def fit(self, setting: Setting) -> Fit:
        """The fit on a cluster, at 8,192 tokens unless the setting says. Raises `UsageError` for its words."""
        if setting not in self._fits:
            cluster = parse_cluster(setting.cluster or "")
            placement = next((p for p in PLACEMENTS if p == setting.placement), None)
            workload = Workload(kv_dtype=setting.kv_dtype, placement=placement)
            if setting.context is not None:
                workload = replace(workload, context=setting.context)
            (self._fits[setting],) = fits_for(self.checkpoint, self.footprint, workload, (cluster,))
        return self._fits[setting]


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

    async def each() -> None:
        repos = Tasks([(where, _read(where, wanted, opener, fits)) for where, wanted in groups.items()], at_once)
        while ended := await repos.some():
            for _, task in ended:
                out, cost = task.result()
                found.update(out)
                costs.append(cost)
            if progress is not None:
                total = sum(c.bytes_fetched for c in costs)
                progress(Progress("reading repos", len(costs), len(groups), total))

    interrupted = False
    try:
        with paused():
            run(each())
    except KeyboardInterrupt:
        interrupted = True
        stopped = SourceError("", "interrupted before it was read", "Run it again.")
        for wanted in groups.values():
            for subject in wanted:
                found.setdefault(subject, stopped)
    seconds = round(time.perf_counter() - started, 3)
    requests, fetched = sum(c.requests for c in costs), sum(c.bytes_fetched for c in costs)
    return Gathered(found, interrupted, Expense(len(groups), requests, fetched, seconds))


async def _read(
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
            result = await _examined(source, where, variant, any(s in fits for s in group))
            out.update(dict.fromkeys(group, result))
        return out, source.cost()
    finally:
        source.close()


async def _examined(source: Source, where: Address, variant: str | None, sliced: bool) -> MeasuredRepo | InspectorError:
    try:
        report, checkpoint, footprint = await examine(source, variant=variant, path=where.path, sliced=sliced)
    except UsageError as error:
        return error
    except InspectorError as error:
        return error
    except Exception as error:
        # One repo that breaks this program must not cost the others their verdicts.
        return SourceError(where.name, f"internal error: {type(error).__name__}: {error}"[:300], "Please report it.")
    return MeasuredRepo(report, _slim(checkpoint), footprint)


def _slim(checkpoint: Checkpoint) -> Checkpoint:
    """What caches and fits read of a checkpoint, without half a million tensors per repo of a table."""
    documents = {p: d for p, d in checkpoint.documents.items() if not (isinstance(d, dict) and "weight_map" in d)}
    headers = checkpoint.headers if checkpoint.selection.format == "gguf" else ()
    return replace(checkpoint, headers=headers, documents=documents, indexes=())
