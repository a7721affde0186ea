"""A source becomes a validated checkpoint: choose files, read every header at once, hold them against each other.

Nothing after this module does I/O. Documents, index and headers are fetched together: the names of the listing say
which files are probably chosen; where the documents say otherwise the rest is read afterwards.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from typing import Final, cast

from inspector import json_faults
from inspector.cross_check import cross_check
from inspector.errors import InspectorError, MalformedFile
from inspector.formats import READERS, Reader, safetensors, shard_index
from inspector.gguf.gguf_notes import notes as gguf_notes
from inspector.gguf.quant_names import taken_apart
from inspector.model import (
    ALL,
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
from inspector.net.learning import sized, told
from inspector.reading import planned
from inspector.selection import CONFIGS, select, wanted_documents
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
    indexes: dict[str, ShardIndex] = field(default_factory=dict)
    failed: dict[str, InspectorError] = field(default_factory=dict)
    twins: Twins = field(default_factory=Twins)
    notes: list[Note] = field(default_factory=list)
    beyond: int = 0


def load(
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
    listing = source.listing()
    gathered = _Gathered()
    wanted = wanted_documents(listing, variant=variant, path=path)
    selection = select(listing, {}, variant=variant, path=path)
    with ThreadPoolExecutor(max_workers=max(1, source.jobs), thread_name_prefix="inspect") as pool:
        try:
            _gather(pool, source, listing, wanted, selection, gathered, progress)
            for _ in range(_ROUNDS):
                # What a header says may show that a file is no set of weights: then another one is chosen.
                before, selection = selection, select(listing, _said(gathered), variant=variant, path=path)
                _gather(pool, source, listing, (), selection, gathered, progress)
                if set(selection.files) <= set(before.files):
                    break
            if variant is not None and variant.lower() == ALL and selection.menu:
                _gather(pool, source, listing, (), _every(selection), gathered, progress)
                selection = select(listing, _said(gathered), variant=variant, path=path)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            # Whoever waits for a server wakes: an interrupted run ends at once.
            source.close()
            raise
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


def _gather(
    pool: ThreadPoolExecutor,
    source: Source,
    listing: Listing,
    documents: Sequence[str],
    selection: Selection,
    gathered: _Gathered,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Fetch documents and the headers of the chosen files that are not in yet."""
    reader = READERS.get(selection.format)
    sizes = {f.path: f.size for f in listing.files}
    pending: dict[Future[object], str] = {}
    if reader is not None:
        known = max((h.length for h in gathered.headers.values()), default=None)
        for part in selection.parts:
            for file, length in planned(part, sizes.get(part.index) if part.index else None, selection.format, known):
                if file.path in gathered.headers or file.path in gathered.failed or file.pointer:
                    continue
                pending[pool.submit(fill, source, file, selection.format, length)] = file.path
    for path in documents:
        pending[pool.submit(source.small, path)] = path
    total, done = len(pending), 0
    while pending:
        if progress is not None:
            waiting = tuple(pending.values())
            progress(Progress("reading headers", done, total, source.cost().bytes_fetched, waiting))
        ready, _ = wait(pending, return_when=FIRST_COMPLETED)
        for future in ready:
            _receive(pending.pop(future), future, gathered)
            done += 1
    if progress is not None and total:
        progress(Progress("reading headers", done, total, source.cost().bytes_fetched))


def _receive(path: str, future: Future[object], gathered: _Gathered) -> None:
    try:
        value = future.result()
        if isinstance(value, bytes):
            _document(path, value, gathered)
        else:
            # Here, not where it was read: the interpreter decodes one at a time anyway.
            reader = cast(Reader, value)
            header = gathered.twins.header(reader) if isinstance(reader, safetensors.Reader) else reader.header()
            gathered.headers[path] = header
            gathered.beyond += max(0, reader.received - header.length)
    except InspectorError as e:
        if path.endswith(".json"):
            gathered.notes.append(Note("unreadable_document", _words(e), path))
        else:
            gathered.failed[path] = e


def _document(path: str, data: bytes, gathered: _Gathered) -> None:
    """Keep a parsed JSON document. Raises `MalformedFile` where it is not JSON."""
    if path.endswith(".json") and b'"weight_map"' in data:
        index = shard_index.parse(data, path)
        gathered.indexes[path] = index
        gathered.documents[path] = {
            "weight_map": index.weight_map,
            "metadata": {"total_size": index.total_size},
        }
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


def fill(source: Source, file: File, format: str, length: int) -> Reader:
    """A reader that has taken in one file's header.

    The first read is `length` bytes; where the header is longer, a second read continues at the next byte.
    """
    reader = READERS[format](file.path, file.size)
    position, wanted = 0, length
    while wanted:
        got = source.stream(file.path, position, wanted, reader.feed)
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
