"""A source becomes a validated checkpoint: choose files, read every header at once, hold them against each other.

Nothing after this module does I/O. Documents, index and headers are fetched together: the names of the listing say
which files are probably chosen; where the documents say otherwise the rest is read afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Final

from inspector import json_faults
from inspector.agreement import agreed
from inspector.cross_check import cross_check
from inspector.errors import InspectorError, MalformedFile, SourceError
from inspector.formats import READERS, Reader, safetensors, shard_index
from inspector.formats import reader as reader_of
from inspector.gguf.gguf_notes import notes as gguf_notes
from inspector.gguf.quant_names import taken_apart
from inspector.model import (
    ALL,
    Alike,
    Checkpoint,
    File,
    Header,
    Json,
    Listing,
    Note,
    Part,
    Progress,
    Selection,
    ShardIndex,
    Source,
)
from inspector.net.learning import Keeper, sized, told
from inspector.reading import planned
from inspector.records import dataclass, field, replace
from inspector.selection import CONFIGS, select, wanted_documents
from inspector.tasks import Task, Tasks
from inspector.twins import Twins

_ROUNDS: Final = 8
"""How often what was read may change what is chosen."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A checkpoint, how many bytes past headers its reads took along, and headers of other sets of the menu."""

    checkpoint: Checkpoint
    weight_bytes_read: int
    others: Mapping[str, Header]


@dataclass(slots=True)
class _Gathered:
    """What has come in so far."""

    headers: dict[str, Header] = field(default_factory=dict)
    documents: dict[str, Json] = field(default_factory=dict)
    unread: dict[str, bytes] = field(default_factory=dict)
    """Shard indexes as text, until the headers are in that they may agree with."""
    indexes: dict[str, ShardIndex] = field(default_factory=dict)
    failed: dict[str, InspectorError] = field(default_factory=dict)
    twins: Twins = field(default_factory=Twins)
    notes: list[Note] = field(default_factory=list)
    beyond: int = 0


async def load(
    source: Source,
    *,
    variant: str | None = None,
    path: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Loaded:
    """Read what the answer needs from `source`.

    Raises `UsageError` for a variant that is not there, `SourceError` where nothing could be read. One file that
    fails among several is listed in `Checkpoint.failed`; the others are still read.
    """
    listing = await source.listing()
    gathered = _Gathered()
    wanted = wanted_documents(listing, variant=variant, path=path)
    selection = select(listing, {}, variant=variant, path=path)
    await _gather(source, listing, wanted, selection, gathered, progress)
    for _ in range(_ROUNDS):
        # What a header says may show that a file is no set of weights: then another one is chosen.
        before, selection = selection, select(listing, _said(gathered), variant=variant, path=path)
        await _gather(source, listing, (), selection, gathered, progress)
        if set(selection.files) <= set(before.files):
            break
    if variant is not None and variant.lower() == ALL and selection.menu:
        await _gather(source, listing, (), _every(selection), gathered, progress)
        selection = select(listing, _said(gathered), variant=variant, path=path)
    if any(f.size is None for f in selection.files):
        listing, selection = sized(listing, selection, {p: h.file_size for p, h in gathered.headers.items()})
    checkpoint = _assemble(listing, selection, gathered)
    chosen = {h.file for h in checkpoint.headers}
    return Loaded(checkpoint, gathered.beyond, {p: h for p, h in gathered.headers.items() if p not in chosen})


def _said(gathered: _Gathered) -> dict[str, Json]:
    """Documents, and what GGUF headers say of themselves."""
    return {**gathered.documents, **{p: h.metadata for p, h in gathered.headers.items() if p not in gathered.documents}}


def _every(selection: Selection) -> Selection:
    """A selection of all whole sets of the menu."""
    whole = [v.files for v in selection.menu if not v.missing and v.files]
    parts = tuple(Part(files[0].folder, files, joined=taken_apart(files[0].name).piece) for files in whole)
    return replace(selection, parts=parts)


async def _gather(
    source: Source,
    listing: Listing,
    documents: Sequence[str],
    selection: Selection,
    gathered: _Gathered,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Fetch documents and the headers of the chosen files that are not in yet."""
    sizes = {f.path: f.size for f in listing.files}
    jobs: list[tuple[str, Coroutine[Any, Any, Reader | bytes]]] = []
    if selection.format in READERS:
        known = max((h.length for h in gathered.headers.values()), default=None)
        for part in selection.parts:
            for file, length in planned(part, sizes.get(part.index) if part.index else None, selection.format, known):
                if file.path in gathered.headers or file.path in gathered.failed or file.pointer:
                    continue
                jobs.append((file.path, fill(source, file, selection.format, length)))
    # First what is large and asked for whole: headers fill the time until the last of it is in.
    reading = Tasks([*((path, source.small(path)) for path in documents), *jobs], source.jobs)
    done = 0
    try:
        while True:
            if progress is not None and reading.total:
                waiting = tuple(reading.waiting)
                progress(Progress("reading headers", done, reading.total, source.cost().bytes_fetched, waiting))
            ended = await reading.some()
            if not ended:
                break
            for path, task in ended:
                _receive(path, task, source, gathered)
            done += len(ended)
    finally:
        reading.cancel()
    for path, data in gathered.unread.items():
        _index(path, data, selection, gathered)
    gathered.unread.clear()


def _index(path: str, data: bytes, selection: Selection, gathered: _Gathered) -> None:
    """Read a shard index: decoded only where it is not plain that it says what the headers say."""
    files = next(([f.path for f in p.files] for p in selection.parts if p.index == path), [])
    headers = [gathered.headers[f] for f in files if f in gathered.headers]
    try:
        index = (agreed(data, path, headers) if len(headers) == len(files) else None) or shard_index.parse(data, path)
    except InspectorError as e:
        gathered.notes.append(Note("unreadable_document", _words(e), path))
        return
    gathered.indexes[path] = index
    gathered.documents[path] = {"weight_map": index.weight_map, "metadata": {"total_size": index.total_size}}


def _receive(path: str, task: Task[Reader | bytes], source: Source, gathered: _Gathered) -> None:
    try:
        value = task.result()
        if isinstance(value, bytes):
            _document(path, value, gathered)
        else:
            header = gathered.twins.header(value) if isinstance(value, safetensors.Reader) else value.header()
            gathered.headers[path] = header
            if isinstance(header.tensors, Alike) and isinstance(source, Keeper):
                like = header.tensors
                source.alike(path, like.model[0].file, like.old, like.own, header.length)
            gathered.beyond += max(0, value.received - header.length)
    except InspectorError as e:
        if path.endswith(".json"):
            gathered.notes.append(Note("unreadable_document", _words(e), path))
        else:
            gathered.failed[path] = e


def _document(path: str, data: bytes, gathered: _Gathered) -> None:
    """Keep a parsed JSON document. Raises `MalformedFile` where it is not JSON."""
    if path.endswith(".json") and b'"weight_map"' in data:
        gathered.unread[path] = data
        return
    try:
        gathered.documents[path] = json.loads(data.decode("utf-8-sig"), parse_constant=_constant)
    except (ValueError, RecursionError) as e:
        raise MalformedFile(path, f"is not JSON: {json_faults.words(e)}", "It is ignored.") from None
    if not isinstance(gathered.documents[path], dict) and path.rpartition("/")[2] in CONFIGS:
        kind = type(gathered.documents.pop(path)).__name__
        raise MalformedFile(path, f"is a JSON {kind}, not an object", "It is ignored.")


def _constant(name: str) -> float | None:
    """NaN and infinities (met in configs of old trainers) are unknown, not numbers."""
    return None


async def fill(source: Source, file: File, format: str, length: int) -> Reader:
    """A reader that has taken in one file's header.

    The first read is `length` bytes; where the header is longer, a second read continues at the next byte.
    """
    kind = reader_of(format)
    if kind is None:
        raise SourceError(file.path, f"headers of the format {format} are not read")
    reader = kind(file.path, file.size)
    position, wanted = 0, length
    while wanted:
        got = await source.stream(file.path, position, wanted, reader.feed)
        position += got
        wanted = reader.missing if got == wanted else 0
    if file.size is None and not taken_apart(file.name).piece:
        reader.told(told(source, file.path))
    return reader


def _assemble(listing: Listing, selection: Selection, gathered: _Gathered) -> Checkpoint:
    """Everything that came in as one value; a file that failed is a note, also where it is the only one."""
    chosen = [f.path for f in selection.files]
    pointers = [f for f in selection.files if f.pointer]
    headers = tuple(gathered.headers[p] for p in chosen if p in gathered.headers)
    failed = [p for p in chosen if p in gathered.failed]
    notes = [*listing.notes, *selection.notes, *gathered.notes, *_pointers(pointers)]
    tried = [*failed, *(f.path for v in selection.menu for f in v.files if f.path not in chosen)]
    notes.extend(Note("unread_file", _words(gathered.failed[p]), p) for p in tried if p in gathered.failed)
    notes.extend(n for h in headers for n in h.notes)
    if selection.format == "gguf":
        notes.extend(gguf_notes(selection.parts, headers))
    indexes = []
    for part in selection.parts:
        index = gathered.indexes.get(part.index) if part.index else None
        if index is not None:
            indexes.append(index)
            own = {f.path for f in part.files}
            notes.extend(cross_check(index, part.folder, [h for h in headers if h.file in own]))
    return Checkpoint(listing, selection, headers, gathered.documents, tuple(indexes), tuple(notes))


def _words(error: InspectorError) -> str:
    """An error's message and advice; its place goes into the note's `where`."""
    return f"{error.message}. {error.advice}" if error.advice else error.message


def _pointers(files: Sequence[File]) -> list[Note]:
    if not files:
        return []
    what = "is a Git LFS pointer" if len(files) == 1 else f"and {len(files) - 1:,} more are Git LFS pointers"
    words = (
        f"{what} to {sum(f.size or 0 for f in files):,} bytes in all; tensors are unknown (git lfs pull fetches them)"
    )
    return [Note("lfs_pointer", words, files[0].path)]
