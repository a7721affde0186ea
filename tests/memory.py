"""A source in memory that counts what is read: header bytes are real, tensor data is virtual zeros."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from inspector.model import Cost, File, Listing, Ref

Tensors = Mapping[str, tuple[str, tuple[int, ...], int]]
"""name -> (dtype, shape, bytes)."""


def header(tensors: Tensors, metadata: Mapping[str, str] | None = None) -> tuple[bytes, int]:
    """(length and JSON, bytes of tensor data) of a file that holds these tensors in this order."""
    table: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    position = 0
    for name, (dtype, shape, size) in tensors.items():
        table[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [position, position + size]}
        position += size
    text = json.dumps(table, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text, position


@dataclass
class MemorySource:
    """Files by path: bytes for small files, (header, data size) for weights."""

    files: Mapping[str, bytes | tuple[bytes, int]]
    chunk: int = 1 << 16
    reads: list[tuple[str, int, int]] = field(default_factory=list)
    jobs: int = 4

    async def listing(self) -> Listing:
        sizes = {p: len(f) if isinstance(f, bytes) else len(f[0]) + f[1] for p, f in self.files.items()}
        return Listing(Ref("memory", None, "local"), tuple(File(p, s) for p, s in sorted(sizes.items())))

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        self.reads.append((path, start, length))
        content = self.files[path]
        head, size = (
            (content, len(content)) if isinstance(content, bytes) else (content[0], len(content[0]) + content[1])
        )
        position, end = start, min(start + length, size)
        while position < end:
            piece = head[position : min(position + self.chunk, end)]
            piece = piece or b"\0" * (min(position + self.chunk, end) - position)
            position += len(piece)
            if feed(piece):
                break
        return position - start

    async def small(self, path: str) -> bytes:
        content = self.files[path]
        assert isinstance(content, bytes)
        return content

    def cost(self) -> Cost:
        return Cost(requests=len(self.reads))

    def close(self) -> None:
        return
