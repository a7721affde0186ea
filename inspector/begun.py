"""The reading of one repo once it has begun: for whom, out of which source, and the task that is waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector.address import Address
from inspector.keep.keeping import Kept
from inspector.model import Progress, Report, Source
from inspector.records import dataclass
from inspector.tasks import Loop, Task

if TYPE_CHECKING:
    from inspector.checkpoint import Loaded
    from inspector.model.fit_model import Cluster, Workload


@dataclass(frozen=True, slots=True)
class Asked:
    """Everything that a report depends on but the commit: `where` names none, `hub` is the Hub's address."""

    where: Address
    hub: str
    variant: str | None = None
    tensors: bool = False
    match: str | None = None
    metadata: bool = False
    clusters: tuple[Cluster, ...] = ()
    workload: Workload | None = None
    survey: bool = False


@dataclass(slots=True)
class Begun:
    """What is read from `source` in `loop` since a time of `time.perf_counter`; `listener` hears as files come in."""

    where: Address
    asked: Asked
    kept: Kept | None
    source: Source
    loop: Loop
    since: float
    task: Task[Report | Loaded]
    listener: Callable[[Progress], None] | None = None


def begin(where: Address, asked: Asked, source: Source, kept: Kept | None, loop: Loop, since: float) -> Begun:
    """Begin to read; the task gives the kept report of the commit where there is one, else the checkpoint."""

    def tell(progress: Progress) -> None:
        if begun.listener is not None:
            begun.listener(progress)

    async def read() -> Report | Loaded:
        listing = await source.listing()
        if kept is not None and (report := kept.report(listing.ref.revision)) is not None:
            return report
        from inspector.checkpoint import load

        path, variant = where.path or where.folder, asked.variant
        if where.kind == "snapshot":
            path, variant = _chosen(source, path, variant)
        return await load(source, variant=variant, path=path, progress=tell)

    begun = Begun(where, asked, kept, source, loop, since, loop.start(read()))
    return begun


def _chosen(source: Source, path: str | None, variant: str | None) -> tuple[str | None, str | None]:
    """The one file and the set of weights to read: as asked, else as a snapshot was asked when it was recorded."""
    if path is not None or variant is not None:
        return path, variant
    from inspector.sources.snapshot import SnapshotSource

    if not isinstance(source, SnapshotSource):
        return path, variant
    return source.path, source.variant
