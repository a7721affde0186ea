"""Read a repo as a report would and keep exactly the bytes that were needed: what a snapshot holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from inspector.checkpoint import load
from inspector.errors import InspectorError
from inspector.formats import Reader
from inspector.formats import reader as reader_of
from inspector.gguf.quant_names import taken_apart
from inspector.model import Cost, Listing, Progress, Selection, Source
from inspector.net.learning import told
from inspector.records import dataclass, field
from inspector.snapshots.snapshot_model import Asked, Fault, Piece, Read, Recorded
from inspector.snapshots.snapshot_zip import FOLDER, Packed, pack
from inspector.weights import format_of

_STEPS: Final = (65_536, 256, 1)


class RecordingSource:
    """A `Source` that passes on another's bytes and keeps them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.documents: dict[str, bytes] = {}
        self.runs: dict[str, list[tuple[int, bytearray]]] = {}
        self.ends: set[str] = set()
        self.faults: dict[str, Fault] = {}

    @property
    def jobs(self) -> int:
        """As many as the other's."""
        return self._source.jobs

    async def listing(self) -> Listing:
        """The other's listing."""
        return await self._source.listing()

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand on a range and keep what was taken of it; an error of the other is kept too, one of `feed` is not."""
        run = bytearray()
        stopped = False

        def keep(chunk: bytes) -> bool:
            nonlocal stopped
            run.extend(chunk)
            stopped = True
            stopped = feed(chunk)
            return stopped

        try:
            handed = await self._source.stream(path, start, length, keep)
        except InspectorError as error:
            # `stopped` is still set where `feed` raised: its bytes are good, and it will raise again on replay.
            self._fault(path, error) if not stopped else self._keep(path, start, run, ends=False)
            raise
        self._keep(path, start, run, ends=handed < length and not stopped)
        return handed

    def size_of(self, path: str) -> int | None:
        """What the source behind has learned of a file's size."""
        return told(self._source, path)

    async def small(self, path: str) -> bytes:
        """Hand on a whole file and keep it."""
        try:
            data = await self._source.small(path)
        except InspectorError as error:
            self._fault(path, error)
            raise
        self.documents[path] = data
        self.faults.pop(path, None)
        return data

    def cost(self) -> Cost:
        """The other's cost."""
        return self._source.cost()

    def close(self) -> None:
        """Close the other."""
        self._source.close()

    def _fault(self, path: str, error: InspectorError) -> None:
        if path not in self.documents and path not in self.runs:
            self.faults[path] = Fault.of(error)

    def _keep(self, path: str, start: int, run: bytearray, *, ends: bool) -> None:
        self.faults.pop(path, None)
        self.runs.setdefault(path, []).append((start, run))
        if ends:
            self.ends.add(path)


@dataclass(frozen=True, slots=True)
class Recording:
    """A repo as recorded with its contents packed, by name. `problems` are the errors that loading it gave."""

    recorded: Recorded
    contents: Mapping[str, Packed]
    problems: tuple[InspectorError, ...] = ()
    cost: Cost = field(default_factory=Cost)


async def record(
    asked: Asked,
    source: Source,
    variants: Sequence[str | None] = (None,),
    progress: Callable[[Progress], None] | None = None,
) -> Recording:
    """Read the default set of weights, or those named, and keep the bytes that it took, to the last of each header.

    Raises what the listing raises. Errors of one file are part of the recording, as they are part of a report.
    """
    recorder = RecordingSource(source)
    listing = await recorder.listing()
    formats = {f.path: format_of(f) or "" for f in listing.files}
    sizes = {f.path: f.size for f in listing.files}
    problems: list[InspectorError] = []
    for variant in variants:
        try:
            loaded = await load(recorder, variant=variant, path=asked.path, progress=progress)
        except InspectorError as error:
            problems.append(error)
        else:
            selection = loaded.checkpoint.selection
            formats.update({f.path: selection.format for f in selection.files})
            sizes.update(_pieces(selection))
    contents: dict[str, Packed] = {}

    def keep(data: bytes) -> str:
        name, packed = pack(data)
        contents[name] = packed
        return name.removeprefix(FOLDER)

    documents = {path: keep(data) for path, data in recorder.documents.items()}
    reads: dict[str, Read] = {}
    for path, runs in recorder.runs.items():
        pieces = joined(runs)
        reader = reader_of(formats[path])
        ends = path in recorder.ends
        if reader is not None and len(pieces) == 1 and pieces[0][0] == 0:
            whole = pieces[0][1]
            length = needed(reader, path, sizes.get(path), whole)
            ends = ends and length == len(whole)
            pieces = [(0, whole[:length])]
        reads[path] = Read(tuple(Piece(start, len(data), keep(data)) for start, data in pieces if data), ends)
    recorded = Recorded(asked, tuple(variants), listing, documents, reads, dict(recorder.faults))
    return Recording(recorded, contents, tuple(problems), source.cost())


def _pieces(selection: Selection) -> dict[str, int | None]:
    """The first raw piece of a file that was taken apart, with the size of them all, which bounds its header."""
    sets = [p.files for p in selection.parts if p.joined]
    sets += [v.files for v in selection.menu if v.files and taken_apart(v.files[0].name).piece]
    sizes = {files[0].path: [f.size for f in files] for files in sets if files}
    return {path: None if None in all_of else sum(s or 0 for s in all_of) for path, all_of in sizes.items()}


def joined(runs: Sequence[tuple[int, bytearray]]) -> list[tuple[int, bytes]]:
    """Runs of bytes as pieces in order, those that touch or overlap made one."""
    pieces: list[tuple[int, bytearray]] = []
    for start, run in sorted(runs, key=lambda r: r[0]):
        if pieces and start <= pieces[-1][0] + len(pieces[-1][1]):
            pieces[-1][1].extend(run[max(0, pieces[-1][0] + len(pieces[-1][1]) - start) :])
        else:
            pieces.append((start, bytearray(run)))
    return [(start, bytes(run)) for start, run in pieces]


def needed(reader_type: type[Reader], path: str, size: int | None, data: bytes) -> int:
    """The shortest beginning of `data` after which a reader has its header, or refuses; all of it if neither.

    Where a network's chunks end differs from run to run; where a header ends does not.
    """
    start, end = 0, len(data)
    for step in _STEPS:
        reader = reader_type(path, size)
        if start:
            reader.feed(data[:start])
        for at in range(start, end, step):
            if _done(reader, data[at : min(at + step, end)]):
                start, end = at, min(at + step, end)
                break
        else:
            return len(data)
    return end


def _done(reader: Reader, chunk: bytes) -> bool:
    try:
        return reader.feed(chunk)
    except InspectorError:
        return True
