"""GGUF headers for tests, written from the specification and not by the code under test."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any

from inspector.model import Header

Tensor = tuple[str, tuple[int, ...], int, int]
"""name, ne (fastest first), type id, bytes without padding."""

CODES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


class Writer:
    """Bytes of one version and byte order."""

    def __init__(self, version: int = 3, big: bool = False) -> None:
        self.version = version
        self.order = ">" if big else "<"
        self.size = "I" if version == 1 else "Q"

    def pack(self, form: str, *values: Any) -> bytes:
        return struct.pack(self.order + form.replace("N", self.size), *values)

    def string(self, text: str | bytes) -> bytes:
        raw = text if isinstance(text, bytes) else text.encode()
        return self.pack("N", len(raw)) + raw

    def value(self, kind: int, value: Any) -> bytes:
        """A value; an array is (element kind, list)."""
        if kind == 8:
            return self.string(value)
        if kind == 9:
            inner, values = value
            return self.pack("IN", inner, len(values)) + b"".join(self.value(inner, v) for v in values)
        return self.pack(CODES[kind], value)

    def key(self, name: str | bytes, kind: int, value: Any) -> bytes:
        return self.string(name) + self.pack("I", kind) + self.value(kind, value)

    def info(self, name: str | bytes, ne: Sequence[int], kind: int, offset: int) -> bytes:
        return self.string(name) + self.pack("I" + "N" * len(ne) + "IQ", len(ne), *ne, kind, offset)

    def start(self, tensors: int, keys: int) -> bytes:
        return b"GGUF" + self.pack("INN", self.version, tensors, keys)


def padded(size: int, alignment: int = 32) -> int:
    return (size + alignment - 1) // alignment * alignment


def build(
    tensors: Sequence[Tensor] = (),
    keys: Sequence[tuple[str, int, Any]] = (),
    *,
    version: int = 3,
    big: bool = False,
    alignment: int = 32,
) -> tuple[bytes, int]:
    """(header up to the data section, size of the file with all padding)."""
    w = Writer(version, big)
    if alignment != 32:
        keys = [*keys, ("general.alignment", 4, alignment)]
    out = [w.start(len(tensors), len(keys))]
    out += [w.key(*key) for key in keys]
    offset = 0
    for name, ne, kind, size in tensors:
        out.append(w.info(name, ne, kind, offset))
        offset += padded(size, alignment)
    head = b"".join(out)
    head += b"\0" * (padded(len(head), alignment) - len(head))
    return head, len(head) + offset


def by_type(header: Header) -> dict[str, int]:
    """Bytes per storage dtype."""
    found: dict[str, int] = {}
    for t in header.tensors:
        found[t.dtype] = found.get(t.dtype, 0) + t.nbytes
    return found
