"""GGUF headers: magic, version, metadata keys, tensor infos, then tensor data; what each tensor takes of the file.

Rules: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md and `src/gguf.cpp` (d99724f2). Each offset is the sum
of the padded sizes before it; the file ends after the last one, with or without its padding. Bytes of a tensor are
those of its blocks, without padding, so tensors do not tile the data section as those of safetensors do.

Shapes are given as safetensors gives them, slowest dimension first: `ne` [in, out, experts] becomes (experts, out,
in). `start` and `end` count from the data section, which starts at `Header.length`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NoReturn

from inspector.errors import MalformedFile, UnsupportedFile
from inspector.gguf.ggml_types import READINGS, SETTLED, GgmlType, unknown_name
from inspector.gguf.gguf_stream import MAGIC, Entry, Fields, Stream
from inspector.gguf.gguf_values import U32
from inspector.model import Header, Note, TensorInfo

ALIGNMENT: Final = 32
"""Of the data section and each tensor in it, where `general.alignment` is absent."""
_READ: Final = 1 << 16
_READ_MOST: Final = 32 << 20


def is_gguf(beginning: bytes) -> bool:
    """True where a file's first four bytes are GGUF's magic, whatever its name is."""
    return beginning[:4] == MAGIC


class Reader:
    """Takes a file's bytes from 0 until the tensor infos end."""

    def __init__(self, file: str, file_size: int | None) -> None:
        self._file = file
        self._size = file_size
        self._stream = Stream(file, file_size)
        self._complete = False

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes; True when the header is complete. Raises `MalformedFile` at the first fault."""
        self._complete = self._stream.feed(chunk)
        return self._complete

    def told(self, file_size: int | None) -> None:
        """Take the file's size where an answer stated it and the listing did not."""
        self._size = file_size

    @property
    def received(self) -> int:
        """Bytes taken so far."""
        return self._stream.received

    @property
    def missing(self) -> int:
        """How many bytes to read next; 0 when complete, or when the file has no more.

        GGUF does not say how long its header is: as much as the vocabulary and the tensor infos will probably take by
        what was seen of them, and a little more; at least 64 kB and what is certainly needed, at most 32 MiB.
        """
        if self._complete:
            return 0
        received = self._stream.received
        probable = self._stream.probable_end - received
        # Early tokens and merges are the short ones, so the guess runs low; what is left after the tokens is little.
        more = probable // (4 if self._stream.past_tokens else 9)
        guess = max(_READ, min(probable + more + _READ // 2, _READ_MOST), self._stream.needed - received)
        return guess if self._size is None else max(0, min(guess, self._size - received))

    def header(self) -> Header:
        """The header. Raises `MalformedFile` where its bytes are not all there or its offsets are not the sums."""
        return lay_out(self._stream.fields(), self._file, self._size)


def parse(data: bytes, file: str, file_size: int | None = None) -> Header:
    """A header from `data`, which holds at least the whole of it. Raises `MalformedFile`."""
    reader = Reader(file, file_size)
    reader.feed(data)
    return reader.header()


def lay_out(fields: Fields, file: str, file_size: int | None) -> Header:
    """Tensors with their bytes. Raises `MalformedFile` naming the tensor, `UnsupportedFile` where bytes cannot be told.

    A file that is too short for its tensors is a note `truncated`, one that goes on after them `trailing_bytes`.
    """
    alignment = _alignment(fields, file)
    start = _padded(fields.end, alignment)
    room = None if file_size is None else file_size - start
    tensors, end = _place(fields.entries, alignment, room, file)
    notes = (*_of_format(fields, file), *_unknown(tensors, file), *_fits(tensors, start, end, file_size, file))
    return Header(file, start, file_size, tensors, fields.metadata, notes)


def _alignment(fields: Fields, file: str) -> int:
    if "general.alignment" not in fields.metadata:
        return ALIGNMENT
    value = fields.metadata["general.alignment"]
    kind, at = fields.kinds["general.alignment"]
    if kind != U32:
        raise MalformedFile(file, f"general.alignment has value type {kind}, must be {U32} (u32)", offset=at)
    if value <= 0 or value & (value - 1):
        raise MalformedFile(file, f"general.alignment is {value:,}, must be a power of two", offset=at)
    return int(value)


def _padded(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment


def _place(entries: Sequence[Entry], alignment: int, room: int | None, file: str) -> tuple[tuple[TensorInfo, ...], int]:
    """Tensors, and where the data section ends with the last padding. `room` is the data section's size in the file."""
    placed: list[TensorInfo] = []
    chosen: dict[int, GgmlType] = {}
    position = 0
    for number, entry in enumerate(entries):
        if entry.offset != position:
            fault = "a hole" if entry.offset > position else "an overlap"
            raise MalformedFile(
                file,
                f"tensor {entry.name[:200]!r} has the offset {entry.offset:,}, the padded sizes before it add up to "
                f"{position:,}: {fault}",
                "The file is damaged or from a writer that no reader agrees with.",
                offset=entry.at,
            )
        last = number + 1 == len(entries)
        gap = (None if room is None else room - position) if last else entries[number + 1].offset - position
        kind, size = _settle(entry, gap, last, alignment, chosen, file)
        name = unknown_name(entry.kind) if kind is None else kind.name
        placed.append(TensorInfo(entry.name, name, entry.ne[::-1], file, position, position + size))
        position += size if kind is None else _padded(size, alignment)
    return tuple(placed), position


def _settle(
    entry: Entry, gap: int | None, last: bool, alignment: int, chosen: dict[int, GgmlType], file: str
) -> tuple[GgmlType | None, int]:
    """The reading of the type id that the bytes to the next tensor (or the file's end) bear out, and its bytes.

    (None, gap) where none does. Readings borne out are remembered in `chosen`, for a last tensor in a cut-off file.
    """
    readings = READINGS.get(entry.kind, ())
    sizes = [(kind, size) for kind in readings if (size := kind.nbytes(entry.ne)) is not None]
    if entry.kind in SETTLED:
        if not sizes:
            _uneven(entry, readings[0], file)
        return sizes[0]
    if gap is not None:
        fits = [
            (kind, size)
            for kind, size in sizes
            if _padded(size, alignment) == gap or (last and size <= gap <= _padded(size, alignment))
        ]
        fits.sort(key=lambda fit: fit[0] is not chosen.get(entry.kind))
        if fits:
            chosen[entry.kind] = fits[0][0]
            return fits[0]
    if last:
        known = [fit for fit in sizes if fit[0] is chosen.get(entry.kind)] or sizes
        if known and (gap is None or gap <= 0 or entry.kind in chosen):
            return known[0]
        if gap is None or gap <= 0:
            _untold(entry, gap, file)
        return None, gap
    assert gap is not None
    if gap <= 0 or gap % alignment:
        raise MalformedFile(
            file,
            f"tensor {entry.name[:200]!r} of type id {entry.kind} starts at {entry.offset:,} and the next one at "
            f"{entry.offset + gap:,}, which leaves it no multiple of {alignment:,} bytes",
            offset=entry.at,
        )
    return None, gap


def _uneven(entry: Entry, kind: GgmlType, file: str) -> NoReturn:
    raise MalformedFile(
        file,
        f"tensor {entry.name[:200]!r} has rows of {entry.ne[0]:,}, {kind.name} comes in blocks of {kind.block}",
        offset=entry.at,
    )


def _untold(entry: Entry, gap: int | None, file: str) -> NoReturn:
    known = "the file's size is not known" if gap is None else f"the file ends {-gap:,} bytes before it starts"
    raise UnsupportedFile(
        file,
        f"the last tensor {entry.name[:200]!r} has the unknown type id {entry.kind} and {known}: its bytes cannot be "
        f"told (at byte {entry.at:,})",
    )


def _of_format(fields: Fields, file: str) -> list[Note]:
    notes = []
    if fields.version == 1:
        notes.append(Note("old_version", "is GGUF version 1, which llama.cpp no longer loads", file))
    if fields.big_endian:
        notes.append(Note("big_endian", "is big-endian: made for s390x, not loaded by other machines", file))
    if fields.doubles:
        count, first = len(fields.doubles), fields.doubles[0]
        words = f"metadata key {first[:200]!r} is there twice, the first is taken; llama.cpp refuses such a file"
        more = "" if count == 1 else f" ({count - 1:,} more like it)"
        notes.append(Note("duplicate_key", words + more, file))
    return notes


def _unknown(tensors: Sequence[TensorInfo], file: str) -> list[Note]:
    found: dict[str, list[int]] = {}
    for tensor in tensors:
        if tensor.dtype.startswith("type "):
            found.setdefault(tensor.dtype, []).append(tensor.nbytes)
    return [
        Note(
            "unknown_type",
            f"{name} is in no table, or not with this size: {len(sizes):,} tensors, {sum(sizes):,} bytes by their "
            "offsets (padding included), precision and parameters unknown",
            file,
        )
        for name, sizes in found.items()
    ]


def _fits(tensors: Sequence[TensorInfo], start: int, end: int, file_size: int | None, file: str) -> list[Note]:
    """Notes where the file is too short for its tensors (the last padding may be missing), or goes on after them."""
    if file_size is None:
        return []
    least = start + tensors[-1].end if tensors else 0
    if file_size < least:
        words = f"header and tensors need {least:,} bytes, the file has {file_size:,}: it is cut off"
        return [Note("truncated", f"{words} (figures are the header's)", file)]
    if file_size > start + end:
        words = (
            f"header and padded tensors cover {start + end:,} bytes, the file has {file_size:,}; the rest is nobody's"
        )
        return [Note("trailing_bytes", words, file)]
    return []
