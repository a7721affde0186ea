"""The container of a snapshot: a plain zip of a manifest and contents named by their sha256, read with suspicion.

Rules: PKWARE APPNOTE 6.3 without zip64, encryption, comments or extra disks; methods stored and deflated. Written the
same way every time, so that the same contents give the same file. A zip's own directory is believed for nothing: sizes
are bounded before anything is unpacked and while it is, entries may not overlap, and each content is held to its name.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Mapping
from hashlib import sha256
from typing import BinaryIO, Final, NoReturn

from inspector.errors import MalformedFile
from inspector.escape import terminal
from inspector.records import dataclass
from inspector.snapshot_file import MAGIC, MANIFEST

FOLDER: Final = "content/"
ENTRY_MOST: Final = 100_000_008
"""Bytes of one content: the largest safetensors header with its length."""
TOTAL_MOST: Final = 1_000_000_000
"""Bytes of all contents together, and of the file."""
MANIFEST_MOST: Final = 64_000_000
ENTRIES_MOST: Final = 65_534
_RATIO_FROM: Final = 1_000_000
_RATIO_MOST: Final = 200
"""Headers deflate to a twentieth; a content of 1 MB or more that would deflate below this is stored as it is."""

_STORED: Final = 0
_DEFLATED: Final = 8
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_END: Final = struct.Struct("<4s4H2LH")
_DAY: Final = 0x21
"""1 January 1980 in a zip: the earliest date that it can say."""
_NAME: Final = re.compile(r"content/[0-9a-f]{64}|manifest\.json")
_OUTSIDE: Final = re.compile(r"\A[/\\]|\A[A-Za-z]:|(?:\A|[/\\])\.\.(?:[/\\]|\Z)")
_AGAIN: Final = "Make it again with `inspect record` or `inspect lock`."


@dataclass(frozen=True, slots=True)
class Packed:
    """One content as a zip stores it: `size` bytes unpacked, `method` 0 (stored) or 8 (deflated)."""

    size: int
    crc: int
    method: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Entry:
    """Where one content lies in the file: `at` is the offset of its packed bytes."""

    size: int
    crc: int
    method: int
    at: int
    packed: int


def pack(data: bytes) -> tuple[str, Packed]:
    """The name of a content, and the content packed."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    squeezed = squeezer.compress(data) + squeezer.flush()
    plain = len(squeezed) >= len(data) or (len(data) >= _RATIO_FROM and len(squeezed) * _RATIO_MOST < len(data))
    packed = Packed(len(data), zlib.crc32(data), _STORED if plain else _DEFLATED, data if plain else squeezed)
    return FOLDER + sha256(data).hexdigest(), packed


def assemble(manifest: bytes, contents: Mapping[str, Packed]) -> bytes:
    """The whole file: the manifest, then contents by name. Raises `MalformedFile` for more than a reader takes."""
    entries = [(MANIFEST, pack(manifest)[1]), *((name, contents[name]) for name in sorted(contents))]
    total = sum(p.size for _, p in entries)
    if total > TOTAL_MOST or len(entries) > ENTRIES_MOST or len(manifest) > MANIFEST_MOST:
        message = f"would hold {total:,} bytes in {len(entries):,} parts, above {TOTAL_MOST:,} in {ENTRIES_MOST:,}"
        raise MalformedFile("snapshot", message, "Record fewer repos in one file.")
    out, directory = bytearray(), bytearray()
    for name, p in entries:
        raw = name.encode("ascii")
        fields = (20, 0, p.method, 0, _DAY, p.crc, len(p.data), p.size, len(raw), 0)
        directory += _CENTRAL.pack(b"PK\x01\x02", 0x0314, *fields, 0, 0, 0, 0o100644 << 16, len(out)) + raw
        out += _LOCAL.pack(MAGIC, *fields) + raw + p.data
    end = _END.pack(b"PK\x05\x06", 0, 0, len(entries), len(entries), len(directory), len(out), 0)
    return bytes(out + directory + end)


def directory(stream: BinaryIO, place: str) -> dict[str, Entry]:
    """The entries of a file, none unpacked. Raises `MalformedFile` for what no snapshot has, saying which."""
    size = stream.seek(0, 2)
    if size > TOTAL_MOST:
        _refuse(place, f"has {size:,} bytes; a snapshot has at most {TOTAL_MOST:,}")
    stream.seek(0)
    if size < _END.size + _LOCAL.size or stream.read(4) != MAGIC:
        _refuse(place, "is not a snapshot: it is no zip file")
    stream.seek(size - _END.size)
    magic, disk, first, here, count, length, start, comment = _END.unpack(stream.read(_END.size))
    if magic != b"PK\x05\x06" or comment:
        _refuse(place, "is cut off, or something stands behind its end")
    if disk or first or here != count or count > ENTRIES_MOST or start + length != size - _END.size:
        _refuse(place, "has a directory that does not end where it should")
    stream.seek(start)
    found = _central(stream.read(length), count, place)
    entries = {name: _located(stream, name, entry, start, place) for name, entry in found.items()}
    _apart(entries, place)
    if MANIFEST not in entries:
        _refuse(place, f"is not a snapshot: it has no {MANIFEST}")
    return entries


def unpack(stream: BinaryIO, name: str, entry: Entry, place: str) -> bytes:
    """One content, held to the size, checksum and sha256 that it is said to have. Raises `MalformedFile`."""
    stream.seek(entry.at)
    data = stream.read(entry.packed)
    if len(data) != entry.packed:
        _refuse(place, f"ends inside {name}: {entry.packed:,} bytes are said, {len(data):,} are there")
    if entry.method == _DEFLATED:
        data = _inflate(data, name, entry.size, place)
    if len(data) != entry.size:
        _refuse(place, f"{name} has {len(data):,} bytes, the directory says {entry.size:,}")
    if zlib.crc32(data) != entry.crc:
        _refuse(place, f"the checksum of {name} does not match: the file is damaged")
    if name != MANIFEST and sha256(data).hexdigest() != name.removeprefix(FOLDER):
        _refuse(place, f"the sha256 of {name} does not match: it is not what was recorded")
    return data


def _inflate(data: bytes, name: str, size: int, place: str) -> bytes:
    """Unpacked bytes, at most one more than `size`."""
    reader = zlib.decompressobj(-15)
    try:
        out = reader.decompress(data, size + 1)
    except zlib.error:
        _refuse(place, f"{name} cannot be unpacked: the file is damaged")
    if len(out) > size:
        _refuse(place, f"{name} unpacks to more than the {size:,} bytes that the directory says")
    if not reader.eof or reader.unused_data:
        _refuse(place, f"{name} does not end where the directory says")
    return out


def _central(data: bytes, count: int, place: str) -> dict[str, tuple[int, int, int, int, int]]:
    """name -> (size, crc, method, offset of the local header, packed size)."""
    found: dict[str, tuple[int, int, int, int, int]] = {}
    at = total = 0
    for _ in range(count):
        if len(data) - at < _CENTRAL.size:
            _refuse(place, "has a directory that is cut off")
        (magic, made, _needs, flags, method, _time, _day, crc, packed, size, long, extra, comment, _disk, _internal,
         external, offset) = _CENTRAL.unpack_from(data, at)  # fmt: skip
        raw = data[at + _CENTRAL.size :][:long]
        at += _CENTRAL.size + long + extra + comment
        if magic != b"PK\x01\x02" or at > len(data):
            _refuse(place, "has a directory that is cut off")
        name = raw.decode("utf-8", "replace")
        _sound_name(name, place)
        if name in found:
            _refuse(place, f"holds {name} twice")
        if flags & 0x2041:
            _refuse(place, f"{name} is encrypted; a snapshot never is")
        if made >> 8 == 3 and external >> 28 not in (0, 8):
            _refuse(place, f"{name} is a link or a special file; a snapshot holds plain files only")
        if method not in (_STORED, _DEFLATED):
            _refuse(place, f"{name} is packed by method {method}; a snapshot uses 0 and 8")
        total += size
        _bounded(name, size, packed, total, place)
        found[name] = (size, crc, method, offset, packed)
    if at != len(data):
        _refuse(place, "has more in its directory than it counts")
    return found


def _sound_name(name: str, place: str) -> None:
    if _NAME.fullmatch(name):
        return
    shown = terminal(name, 80)
    if _OUTSIDE.search(name):
        _refuse(place, f"names a place outside itself: '{shown}'")
    _refuse(place, f"holds '{shown}', which no snapshot has")


def _bounded(name: str, size: int, packed: int, total: int, place: str) -> None:
    most = MANIFEST_MOST if name == MANIFEST else ENTRY_MOST
    if size > most or packed > most:
        _refuse(place, f"{name} would unpack to {size:,} bytes; at most {most:,} are read")
    if total > TOTAL_MOST:
        _refuse(place, f"would unpack to {total:,} bytes and more; at most {TOTAL_MOST:,} are read")
    if size >= _RATIO_FROM and size > (_RATIO_MOST + 1) * packed:
        _refuse(place, f"{name} would unpack {packed:,} bytes to {size:,}: a zip bomb, no header")


def _located(stream: BinaryIO, name: str, said: tuple[int, int, int, int, int], end: int, place: str) -> Entry:
    size, crc, method, offset, packed = said
    stream.seek(offset)
    head = stream.read(_LOCAL.size)
    if len(head) < _LOCAL.size or offset + _LOCAL.size > end or head[:4] != MAGIC:
        _refuse(place, f"has no entry where the directory says that {name} is")
    long, extra = struct.unpack_from("<2H", head, 26)
    if stream.read(long) != name.encode("ascii"):
        _refuse(place, f"has another name at {name} than its directory")
    at = offset + _LOCAL.size + long + extra
    if at + packed > end:
        _refuse(place, f"{name} reaches past the end of the contents")
    return Entry(size, crc, method, at, packed)


def _apart(entries: Mapping[str, Entry], place: str) -> None:
    """Overlapping entries make a small file unpack to petabytes."""
    reached = 0
    for name, entry in sorted(entries.items(), key=lambda item: item[1].at):
        if entry.at < reached:
            _refuse(place, f"{name} overlaps the entry before it")
        reached = entry.at + entry.packed


def _refuse(place: str, message: str) -> NoReturn:
    raise MalformedFile(place, message, _AGAIN)
