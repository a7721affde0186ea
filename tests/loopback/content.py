"""What a file of a repo holds: real bytes, or leading bytes and zeros that are made when somebody asks."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

WEIGHT_SUFFIXES = (
    ".safetensors",
    ".gguf",
    ".bin",
    ".pth",
    ".pt",
    ".ckpt",
    ".onnx",
    ".onnx_data",
    ".h5",
    ".msgpack",
)
LFS_LIMIT = 10 * 1024 * 1024
"""Bytes from which the Hub refuses plain git for a file."""

_ZEROS = bytes(1 << 16)


@dataclass(frozen=True, slots=True)
class Virtual:
    """A file of `size` bytes that starts with `header`; the rest are zeros, and count as weight bytes."""

    header: bytes
    size: int

    def __post_init__(self) -> None:
        if self.size < len(self.header):
            raise ValueError(f"a virtual file of {self.size} bytes cannot hold {len(self.header)} header bytes")


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of one commit. `sha256` is the LFS content id, None for a plain git file, whose id is `oid`.

    `load` gives the stored leading bytes; it is called only when somebody reads the file, at most once per read.
    """

    path: str
    size: int
    oid: str
    sha256: str | None
    load: Callable[[], bytes]

    @property
    def content_id(self) -> str:
        """What identifies the bytes: the LFS sha256, else the git blob id."""
        return self.sha256 or self.oid

    @property
    def lfs(self) -> bool:
        """True where git holds a pointer only."""
        return self.sha256 is not None

    def weights_start(self) -> int:
        """Offset of the first weight byte: the end of the header, or `size` where nothing is weights."""
        if not self.path.endswith(WEIGHT_SUFFIXES):
            return self.size
        stored = self.load()
        if self.path.endswith(".safetensors") and len(stored) >= 8:
            return min(8 + int(struct.unpack("<Q", stored[:8])[0]), self.size)
        return len(stored) if len(stored) < self.size else self.size

    def read(self, start: int, stop: int) -> Iterator[bytes | memoryview]:
        """Bytes `start..stop` in chunks of at most 64 KiB."""
        stored = self.load() if start < stop else b""
        view = memoryview(stored)
        while start < stop:
            if start < len(stored):
                chunk: bytes | memoryview = view[start : min(stop, len(stored), start + len(_ZEROS))]
            else:
                chunk = memoryview(_ZEROS)[: min(len(_ZEROS), stop - start)]
            yield chunk
            start += len(chunk)


def entry(path: str, content: bytes | Virtual, *, lfs: bool | None = None) -> Entry:
    """An entry for bytes in memory. Real bytes get their true ids; a virtual file's sha256 is made up, but stable.

    `lfs` None follows the Hub's habit: weight files and everything of 10 MiB or more are LFS, the rest is plain git.
    """
    stored, size = (content.header, content.size) if isinstance(content, Virtual) else (content, len(content))
    if lfs is None:
        lfs = path.endswith(WEIGHT_SUFFIXES) or size >= LFS_LIMIT
    if isinstance(content, Virtual):
        sha256 = hashlib.sha256(b"virtual %d " % size + stored).hexdigest()
        blob = b"virtual %d " % size + stored
    else:
        sha256 = hashlib.sha256(stored).hexdigest()
        blob = stored
    oid = git_oid(pointer(sha256, size) if lfs else blob)
    return Entry(path, size, oid, sha256 if lfs else None, lambda: stored)


def pointer(sha256: str, size: int) -> bytes:
    """The Git LFS pointer text that git keeps in the file's place."""
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{sha256}\nsize {size}\n".encode()


def git_oid(blob: bytes) -> str:
    """The id that git gives a blob."""
    return hashlib.sha1(b"blob %d\0" % len(blob) + blob).hexdigest()
