"""Record several repos side by side, and say what is different from an older recording."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from inspector.address import Address
from inspector.collector import paused
from inspector.errors import InspectorError, UsageError
from inspector.escape import terminal
from inspector.inspection import examine
from inspector.model import Progress, Report, Source
from inspector.records import dataclass
from inspector.snapshots.recording import Recording, record
from inspector.snapshots.snapshot import Snapshot, dump
from inspector.snapshots.snapshot_model import Asked, Fault, Recorded, Refused
from inspector.snapshots.snapshot_zip import Packed
from inspector.sources.snapshot import SnapshotSource, asked_for
from inspector.tasks import Tasks, run

AT_ONCE: Final = 8
"""Repos read at once; each reads its own files at once besides."""

_FIGURES: Final[tuple[tuple[str, Callable[[Report], object]], ...]] = (
    ("file bytes", lambda r: r.file_bytes),
    ("tensor bytes", lambda r: r.tensor_bytes),
    ("parameters", lambda r: r.parameters),
    ("files", lambda r: r.files),
    ("tensors", lambda r: r.tensors),
    ("pre-quantised", lambda r: r.prequantised.verdict),
    ("precisions", lambda r: ", ".join(sorted({c.precision for c in r.cells if c.precision})) or "none"),
)


@dataclass(frozen=True, slots=True)
class Locked:
    """What came of recording some addresses: recordings, and those that gave not even a listing."""

    recordings: tuple[Recording, ...]
    refused: tuple[Refused, ...]
    requests: int
    bytes_fetched: int

    @property
    def problems(self) -> tuple[tuple[str, str], ...]:
        """(repo, what could not be read) of everything that is not whole."""
        found = [(r.asked.label, str(r.fault.error())) for r in self.refused]
        for one in self.recordings:
            label = one.recorded.asked.label
            found += [(label, str(e)) for e in one.problems]
            faults = one.recorded.faults
            if faults and not one.problems:
                first = min(faults)
                more = f" (and {len(faults) - 1:,} more files)" if len(faults) > 1 else ""
                found.append((label, f"{faults[first].error()}{more}"))
        return tuple(found)

    @property
    def unread(self) -> bool:
        """Whether anything could not be read; a set of weights that a repo does not have is no such thing."""
        errors = [e for r in self.recordings for e in r.problems if not isinstance(e, UsageError)]
        return bool(errors or self.refused or any(r.recorded.faults for r in self.recordings))

    def file(self, version: str, *, refusals: bool = True) -> bytes:
        """The snapshot's bytes. With `refusals` it holds why the others could not be read, to be said again."""
        contents: dict[str, Packed] = {}
        for one in self.recordings:
            contents.update(one.contents)
        return dump([r.recorded for r in self.recordings], self.refused if refusals else (), contents, version)


def record_all(
    wanted: Mapping[Address, Sequence[str | None]],
    opener: Callable[[Address], Source],
    progress: Callable[[Progress], None] | None = None,
) -> Locked:
    """Record every address with its sets of weights, eight at once. Only Ctrl-C is raised."""
    done: list[Recording] = []
    refused: list[Refused] = []

    async def each() -> None:
        recordings = Tasks([(where, _one(where, v, opener)) for where, v in wanted.items()], AT_ONCE)
        while ended := await recordings.some():
            for _, task in ended:
                found = task.result()
                if isinstance(found, Recording):
                    done.append(found)
                else:
                    refused.append(found)
            if progress is not None:
                taken = sum(r.cost.bytes_fetched for r in done)
                progress(Progress("recording repos", len(done) + len(refused), len(wanted), taken))

    with paused():
        run(each())
    done.sort(key=lambda r: (r.recorded.asked.label, r.recorded.listing.ref.kind, r.recorded.asked.path or ""))
    refused.sort(key=lambda r: (r.asked.label, r.kind))
    requests = sum(r.cost.requests for r in done)
    return Locked(tuple(done), tuple(refused), requests, sum(r.cost.bytes_fetched for r in done))


async def _one(
    where: Address, variants: Sequence[str | None], opener: Callable[[Address], Source]
) -> Recording | Refused:
    asked = asked_for(where)
    try:
        source = opener(where)
        try:
            if isinstance(source, SnapshotSource):
                # A recording of a recording is that of the repo in it.
                asked = source.asked
                variants = source.variants if tuple(variants) == (None,) else variants
            return await record(asked, source, variants)
        finally:
            source.close()
    except InspectorError as error:
        kind = where.kind if where.kind in ("dataset", "space", "local", "url") else "model"
        return Refused(kind, asked, Fault.of(error))


def changes(old: Snapshot, new: Snapshot) -> tuple[str, ...]:
    """What is different in `new`, a line each: repos that came and went, commits, figures; none if all is equal."""
    before, after = _by_key(old.repos), _by_key(new.repos)
    lines: list[str] = []
    for key in sorted(before.keys() | after.keys(), key=str):
        was, now = before.get(key), after.get(key)
        if was is None and now is not None:
            lines.append(f"+ {_shown(now)} at {_commit(now)}")
        elif was is not None and now is None:
            lines.append(f"- {_shown(was)}, was at {_commit(was)}")
        elif was is not None and now is not None and was != now:
            lines += [f"~ {_shown(now)}: {_moved(was, now)}", *_figures(old, was, new, now)]
    return (*lines, *_refusals(old.refused, new.refused))


def _by_key(repos: Iterable[Recorded]) -> dict[tuple[str, Asked], Recorded]:
    return {(r.listing.ref.kind, r.asked): r for r in repos}


def _shown(recorded: Recorded) -> str:
    return terminal(recorded.asked.label, 120)


def _commit(recorded: Recorded) -> str:
    return terminal((recorded.listing.ref.revision or "no commit")[:12])


def _moved(was: Recorded, now: Recorded) -> str:
    if was.listing.ref.revision != now.listing.ref.revision:
        return f"commit {_commit(was)} -> {_commit(now)}"
    if was.listing != now.listing:
        return f"another listing at {_commit(now)}"
    return f"other files of it were read, at {_commit(now)}"


def _figures(old: Snapshot, was: Recorded, new: Snapshot, now: Recorded) -> list[str]:
    lines = []
    for variant in now.variants:
        if variant not in was.variants:
            lines.append(f"    {terminal(variant or 'the default', 60)}: recorded now, not before")
            continue
        before, after = _report(old, was, variant), _report(new, now, variant)
        name = f" of {terminal(variant, 60)}" if variant else ""
        if isinstance(before, str) or isinstance(after, str):
            words = [x if isinstance(x, str) else "readable" for x in (before, after)]
            if words[0] != words[1]:
                lines.append(f"    weights{name}: {words[0]} -> {words[1]}")
            continue
        differ = [f"    {what}{name}: {_change(get(before), get(after))}" for what, get in _FIGURES
                  if get(before) != get(after)]  # fmt: skip
        lines += differ or [f"    all figures{name} are the same"]
    return lines


def _report(snapshot: Snapshot, recorded: Recorded, variant: str | None) -> Report | str:
    source = SnapshotSource(snapshot, recorded)
    try:
        return run(examine(source, variant=variant, path=recorded.asked.path))[0]
    except InspectorError as error:
        return terminal(str(error), 200)
    finally:
        source.close()


def _change(before: object, after: object) -> str:
    if isinstance(before, int) and isinstance(after, int):
        return f"{before:,} -> {after:,} ({after - before:+,})"
    shown = ["unknown" if x is None else f"{x:,}" if isinstance(x, int) else str(x) for x in (before, after)]
    return f"{shown[0]} -> {shown[1]}"


def _refusals(old: Sequence[Refused], new: Sequence[Refused]) -> list[str]:
    known = {(r.kind, r.asked) for r in old}
    return [f"! {terminal(r.asked.label, 120)}: could not be read" for r in new if (r.kind, r.asked) not in known]
