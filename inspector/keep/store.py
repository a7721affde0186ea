"""What was read once, kept in a folder: entries appear whole or not at all, and damaged ones are thrown away.

An entry is one file: a line with the checksum and the length of what follows. Names are hashes, so nothing of a repo
becomes a path. Several processes may use one folder; what two of them write under one name is the same.
"""

from __future__ import annotations

import os
import secrets
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

MAGIC: Final = b"inspect-cache-1"
LIMIT: Final = 1_000_000_000
"""Bytes that a cache may take before the least used entries go; headers of 48 shards take 11 MB."""
_KEEP: Final = 0.8
"""The part of the limit that is left after entries went."""
_SUFFIX: Final = ".entry"


class Info(NamedTuple):
    """How many entries there are, and the bytes that they take."""

    entries: int
    bytes: int


def folder(env: Mapping[str, str]) -> Path | None:
    """`INSPECT_CACHE`, else `inspect` in the platform's folder for caches; None where no home is known."""
    given = env.get("INSPECT_CACHE") or ""
    if given:
        return Path(given).expanduser()
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
            whole = path.read_bytes()
        except OSError:
            return None
        content = _checked(whole)
        with suppress(OSError):
            if content is None:
                path.unlink()
            else:
                os.utime(path)
        return content

    def put(self, key: str, *content: bytes) -> None:
        """Keep `content`, its parts one after another, replacing what was there."""
        checksum, length = 0, sum(map(len, content))
        for part_of in content:
            checksum = zlib.crc32(part_of, checksum)
        path = self._path(key)
        part = path.with_name(f"{secrets.token_hex(8)}.part")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            try:
                with part.open("wb") as file:
                    file.write(b"%s %08x %d\n" % (MAGIC, checksum, length))
                    file.writelines(content)
                part.replace(path)
            except BaseException:
                with suppress(OSError):
                    part.unlink()
                raise
        except OSError:
            return
        self._written += length

    def tidy(self) -> None:
        """Remove the least used entries beyond the limit, and parts that a killed process left an hour ago or more."""
        if not self._written:
            return
        found = list(self._files())
        total = sum(about.st_size for _, about in found)
        newest = max((about.st_mtime for _, about in found), default=0.0)
        found.sort(key=lambda item: item[1].st_mtime)
        allowed = self._limit if total <= self._limit else _KEEP * self._limit
        for path, about in found:
            old_part = path.suffix != _SUFFIX and about.st_mtime < newest - 3600
            if total > allowed or old_part:
                with suppress(OSError):
                    path.unlink()
                total -= about.st_size

    def info(self) -> Info:
        """What is there."""
        sizes = [about.st_size for _, about in self._files()]
        return Info(len(sizes), sum(sizes))

    def clear(self) -> Info:
        """Remove every entry, and say what was removed; other files of the folder stay."""
        gone = Info(0, 0)
        for path, about in self._files():
            with suppress(OSError):
                path.unlink()
                gone = Info(gone.entries + 1, gone.bytes + about.st_size)
        return gone

    def _path(self, key: str) -> Path:
        from hashlib import sha256

        name = sha256(key.encode("utf-8", "surrogatepass")).hexdigest()
        return self._where / name[:2] / f"{name[2:]}{_SUFFIX}"

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for path in self._where.glob("[0-9a-f][0-9a-f]/*"):
            if path.suffix in (_SUFFIX, ".part"):
                with suppress(OSError):
                    yield path, path.stat()


def _checked(whole: bytes) -> bytes | None:
    """The content of an entry, None where its length or its checksum is not as it was written."""
    line, _, content = whole[:64].partition(b"\n")
    words = line.split(b" ")
    if len(words) != 3 or words[0] != MAGIC:
        return None
    content = whole[len(line) + 1 :]
    good = words[2] == b"%d" % len(content) and words[1] == b"%08x" % zlib.crc32(content)
    return content if good else None
