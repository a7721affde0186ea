"""Tensor lists and the safetensors headers made of them."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterable, Mapping
from typing import NamedTuple

ITEM_BITS = {
    "F64": 64,
    "I64": 64,
    "F32": 32,
    "I32": 32,
    "U32": 32,
    "BF16": 16,
    "F16": 16,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "I8": 8,
    "U8": 8,
}


class Tensor(NamedTuple):
    """One tensor of a layout."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def elements(self) -> int:
        """Product of the shape; 1 for a scalar."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Stored bytes."""
        return self.elements * ITEM_BITS[self.dtype] // 8


class Rows(list[Tensor]):
    """A growing list of tensors with one method per way of storing a linear layer."""

    def add(self, name: str, dtype: str, *shape: int) -> None:
        """One tensor as it is."""
        self.append(Tensor(name, dtype, shape))

    def bf16(self, name: str, *shape: int) -> None:
        """One BF16 tensor."""
        self.add(name, "BF16", *shape)

    def f32(self, name: str, *shape: int) -> None:
        """One F32 tensor."""
        self.add(name, "F32", *shape)

    def tiled(self, base: str, out: int, inn: int, *, tile: int, scale: str, scale_dtype: str) -> None:
        """FP8 `base.weight` with one scale per tile x tile, ragged edges rounded up."""
        self.add(f"{base}.weight", "F8_E4M3", out, inn)
        self.add(f"{base}.{scale}", scale_dtype, -(-out // tile), -(-inn // tile))

    def packed_fp4(self, base: str, out: int, inn: int) -> None:
        """Two E2M1 values per I8 byte, one E8M0 scale per 32 along the input."""
        self.add(f"{base}.weight", "I8", out, inn // 2)
        self.add(f"{base}.scale", "F8_E8M0", out, -(-inn // 32))


def header(tensors: Iterable[Tensor], metadata: Mapping[str, str] | None = None) -> tuple[bytes, int]:
    """The bytes before the tensor data (8-byte length and JSON, padded with spaces to 8), and the size of the data."""
    described: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    at = 0
    for tensor in tensors:
        end = at + tensor.nbytes
        described[tensor.name] = {"dtype": tensor.dtype, "shape": tensor.shape, "data_offsets": (at, end)}
        at = end
    text = json.dumps(described, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text, at


def by_dtype(tensors: Iterable[Tensor], order: Iterable[str]) -> list[Tensor]:
    """A stable sort by dtype in the given order, as the safetensors writer does by falling alignment."""
    rank = {dtype: i for i, dtype in enumerate(order)}
    return sorted(tensors, key=lambda t: rank[t.dtype])


def greedy(tensors: Iterable[Tensor], limit: int) -> list[list[Tensor]]:
    """Shards filled in order, a new one where the next tensor would pass `limit` bytes."""
    shards: list[list[Tensor]] = [[]]
    size = 0
    for tensor in tensors:
        if shards[-1] and size + tensor.nbytes > limit:
            shards.append([])
            size = 0
        shards[-1].append(tensor)
        size += tensor.nbytes
    return shards


def totals(tensors: Iterable[Tensor]) -> dict[str, dict[str, int]]:
    """Tensors, elements and bytes by dtype."""
    out: dict[str, dict[str, int]] = {}
    for tensor in tensors:
        row = out.setdefault(tensor.dtype, {"tensors": 0, "elements": 0, "bytes": 0})
        row["tensors"] += 1
        row["elements"] += tensor.elements
        row["bytes"] += tensor.nbytes
    return out
