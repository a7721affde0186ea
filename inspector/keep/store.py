"""What was read once, kept in a folder: entries appear whole or not at all, and damaged ones are thrown away.

A file holds what one run kept: a line with checksum and length of a table, the table with a line for each entry, then
their contents. Each entry has a name of its own for that file, a hard link: so forty-eight headers are one write, and
each of them is found by its content. Names are hashes, so nothing of a repo becomes a path, and all are in one folder:
to make others below it would cost more than all the rest. Several processes may use one folder; what two of them write
under one name is the same. A tally, a line for each run, tells about how much is there, so that only a run that may
have passed the bound looks at every entry.
"""

from __future__ import annotations

import math
import os
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspector.records import dataclass

try:
    # hashlib loads OpenSSL, 5 ms of every run; this is the same function out of the interpreter itself.
    from _blake2 import blake2b as _blake2b
except ImportError:
    from hashlib import blake2b as _blake2b

if TYPE_CHECKING:
    from io import FileIO

MAGIC: Final = b"inspect-cache-2"
LIMIT: Final = 1_000_000_000
"""Bytes that a cache may take before the least used entries go; headers of 48 shards take 11 MB."""
_KEEP: Final = 0.8
"""The part of the limit that is left after entries went."""
_SUFFIX: Final = ".entry"
_PART: Final = ".part"
_LEFT: Final = 3_600
"""Seconds after which a part is what a killed process has left."""
_BEGIN: Final = 65_536
"""Bytes of a file that are read first: the table, and the content of most entries that stand alone."""
_TALLY: Final = "tally"
_LOOKED: Final = b"looked"
"""What a tally begins with; then come the bytes that were there, and those that each run has added."""
_LONG: Final = 8_192
"""Bytes of a tally after which everything is looked at again."""
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


@dataclass(frozen=True, slots=True)
class Info:
    """How many entries there are, and the bytes that they take."""

    entries: int
    bytes: int


def folder(env: Mapping[str, str]) -> Path | None:
    """`INSPECT_CACHE`, else `inspect` in the platform's folder for caches; None where no home is known."""
    given = env.get("INSPECT_CACHE") or ""
    if given:
        with suppress(RuntimeError):
            return Path(given).expanduser()
        return None
    if env.get("XDG_CACHE_HOME"):
        return Path(env["XDG_CACHE_HOME"]) / "inspect"
    home = env.get("HOME") or env.get("USERPROFILE")
    if sys.platform == "win32":
        local = env.get("LOCALAPPDATA")
        return Path(local) / "inspect" / "Cache" if local else None
    if not home:
        return None
    return Path(home) / ("Library/Caches/inspect" if sys.platform == "darwin" else ".cache/inspect")


class Store:
    """The entries of one folder. Nothing here raises: what cannot be kept is not kept. Safe from any thread."""

    def __init__(self, where: Path, *, limit: int = LIMIT) -> None:
        self._where, self._limit = where, limit
        self._written = 0

    def get(self, key: str) -> bytes | None:
        """What is kept under `key`; None where there is nothing, or it is damaged (it is then removed)."""
        path = self._path(key)
        try:
            with path.open("rb", buffering=0) as file:
                content = _read(file, path.stem.encode())
        except OSError:
            return None
        with suppress(OSError):
            if content is None:
                path.unlink()
            else:
                os.utime(path)
        return content

    def put(self, key: str, *content: bytes) -> None:
        """Keep `content`, its parts one after another, replacing what was there."""
        self.put_all({key: content})

    def put_all(self, entries: Mapping[str, Sequence[bytes]]) -> None:
        """Keep several entries in one file, replacing what was there."""
        names = {self._path(key): content for key, content in entries.items()}
        part = self._part()
        try:
            try:
                written = _write(part, names)
            except FileNotFoundError:
                self._where.mkdir(mode=0o700, parents=True, exist_ok=True)
                _append(self._where / _TALLY, _LOOKED + b" 0\n")
                written = _write(part, names)
            self._written += written
            # Counted before it has a name: who is killed in between counts too much, and never too little.
            with suppress(OSError):
                _append(self._where / _TALLY, b"%d\n" % written)
            try:
                self._name(part, names)
            finally:
                part.unlink(missing_ok=True)
        except OSError:
            return

    def _name(self, part: Path, names: Mapping[Path, Sequence[bytes]]) -> None:
        """Give a written file the names of its entries."""
        for path, content in names.items():
            if len(names) == 1:
                part.replace(path)
                continue
            try:
                _link(part, path)
            except OSError:
                # A file system without hard links: a file for each.
                alone = self._part()
                _write(alone, {path: content})
                alone.replace(path)

    def tidy(self) -> None:
        """Remove the least used entries beyond the limit, and parts that a killed process left an hour ago or more."""
        if not self._written:
            return
        self._drop_parts()
        if self._tally() <= self._limit:
            return
        found = sorted(self._files(), key=lambda item: item[1].st_mtime)
        total = sum(_share(about) for _, about in found)
        allowed = self._limit if total <= self._limit else _KEEP * self._limit
        for path, about in found:
            if total > allowed:
                with suppress(OSError):
                    path.unlink()
                total -= _share(about)
        part = self._part()
        with suppress(OSError):
            try:
                _append(part, b"%s %d\n" % (_LOOKED, math.ceil(total)))
                part.replace(self._where / _TALLY)
            finally:
                part.unlink(missing_ok=True)

    def _drop_parts(self) -> None:
        """Remove what processes that were killed have left. The time is the folder's own, of what was just written."""
        with suppress(OSError):
            with os.scandir(self._where) as entries:
                parts = [entry for entry in entries if entry.name.endswith(_PART)]
            now = (self._where / _TALLY).stat().st_mtime if parts else 0.0
            for part in parts:
                if part.stat().st_mtime < now - _LEFT:
                    Path(part).unlink()

    def _part(self) -> Path:
        """A name for a file that is not whole yet."""
        return self._where / f"{os.urandom(8).hex()}{_PART}"

    def _tally(self) -> float:
        """About how many bytes there are; infinite where nobody has looked for long."""
        try:
            with (self._where / _TALLY).open("rb", buffering=0) as file:
                text = file.read(_LONG + 1) or b""
            looked, *counts = text.split()
            return sum(map(int, counts)) if looked == _LOOKED and len(text) <= _LONG else math.inf
        except (OSError, ValueError):
            return math.inf

    def info(self) -> Info:
        """What is there."""
        found = [about for path, about in self._files() if path.suffix == _SUFFIX]
        return Info(len(found), round(sum(map(_share, found))))

    def clear(self) -> Info:
        """Remove every entry, and say what was removed; other files of the folder stay."""
        gone, size = 0, 0.0
        for path, about in list(self._files()):
            with suppress(OSError):
                path.unlink()
                gone, size = gone + (path.suffix == _SUFFIX), size + _share(about)
        with suppress(OSError):
            (self._where / _TALLY).unlink(missing_ok=True)
        return Info(gone, round(size))

    def _path(self, key: str) -> Path:
        name = _blake2b(key.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()
        return self._where / f"{name}{_SUFFIX}"

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        # Until December 2026 entries were in folders below.
        for pattern in ("*", "[0-9a-f][0-9a-f]/*"):
            for path in self._where.glob(pattern):
                if path.suffix in (_SUFFIX, _PART):
                    with suppress(OSError):
                        yield path, path.stat()


def _share(about: os.stat_result) -> float:
    """An entry's share of the bytes of the file that it is in."""
    return about.st_size / max(1, about.st_nlink)


def _append(path: Path, line: bytes) -> None:
    with path.open("ab", buffering=0) as file:
        file.write(line)


def _link(part: Path, path: Path) -> None:
    try:
        os.link(part, path)
    except FileExistsError:
        path.unlink(missing_ok=True)
        os.link(part, path)


def _write(part: Path, names: Mapping[Path, Sequence[bytes]]) -> int:
    """A file with the entries, each known in its table by the stem of its name; its bytes."""
    lines, contents = [], b"".join(piece for content in names.values() for piece in content)
    at, view = 0, memoryview(contents)
    for path, content in names.items():
        length = sum(map(len, content))
        lines.append(b"%s %d %d %08x\n" % (path.stem.encode(), at, length, zlib.crc32(view[at : at + length])))
        at += length
    table = b"".join(lines)
    pieces = [memoryview(b"%s %08x %d\n%s" % (MAGIC, zlib.crc32(table), len(table), table)), view]
    file = os.open(part, _NEW, 0o600)
    try:
        for piece in pieces:
            done = 0
            while done < len(piece):
                done += os.write(file, piece[done:])
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
    finally:
        os.close(file)
    return sum(map(len, pieces))


def _read(file: FileIO, name: bytes) -> bytes | None:
    """The content of an entry, None where its length or its checksum is not as it was written."""
    begin = file.read(_BEGIN) or b""
    line, _, rest = begin.partition(b"\n")
    words = line.split(b" ")
    if len(words) != 3 or words[0] != MAGIC or not words[2].isdigit() or len(words[2]) > 12:
        return None
    length, whole = int(words[2]), os.fstat(file.fileno()).st_size
    if length > whole:
        return None
    table = rest[:length] + ((file.read(length - len(rest)) or b"") if length > len(rest) else b"")
    if words[1] != b"%08x" % zlib.crc32(table):
        return None
    row = next((r for r in table.splitlines() if r.startswith(name)), b"").split(b" ")
    if len(row) != 4:
        return None
    at, size = int(row[1]), int(row[2])
    if at + size > whole:
        return None
    if len(rest) >= length + at + size:
        content = rest[length + at : length + at + size]
    else:
        file.seek(len(line) + 1 + length + at)
        content = file.read(size) or b""
    return content if len(content) == size and row[3] == b"%08x" % zlib.crc32(content) else None
