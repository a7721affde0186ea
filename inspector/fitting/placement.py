"""How bytes spread over devices: tensor, expert, data and pipeline parallelism, and whole layers by memory.

Pure arithmetic on slices; the rules are vLLM's and sglang's (what is replicated under tensor parallelism, even split
of layers over stages) and llama.cpp's (contiguous layers). Sums are exact: over all devices, weights are the
footprint plus `replicated`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

from inspector.model import Slice
from inspector.model.fit_model import Placement
from inspector.records import dataclass


@dataclass(frozen=True, slots=True)
class Load:
    """Weights on one device. `replicated` are those that an earlier device holds too.

    `layers` are the numbers of the layers whose cache it keeps; None where it keeps its rank's share of all.
    """

    weights: int
    replicated: int = 0
    layers: tuple[int, ...] | None = None


def sharded(slices: Sequence[Slice], placement: Placement, devices: int) -> list[Load]:
    """Loads under tp, ep or dp. A `kv_heads` slice has the number of KV heads (0: unknown) where a layer would stand.

    tp cuts every expert; ep and dp deal whole experts out, so a rank may hold one more than another; dp copies
    everything else. `memory` is split by rows in each.
    """
    weights = [0] * devices
    copies = [0] * devices
    for piece in slices:
        for rank, (size, again) in enumerate(shares(piece, placement, devices)):
            weights[rank] += size
            copies[rank] += size if again else 0
    return [Load(w, c) for w, c in zip(weights, copies, strict=True)]


def shares(piece: Slice, placement: Placement, devices: int) -> list[tuple[int, bool]]:
    """(bytes, held by an earlier rank too) for each rank."""
    if piece.share == "experts" and placement != "tp":
        return [(size, False) for size in dealt(piece.bytes, piece.experts or devices, devices)]
    if piece.component != "memory" and (piece.share == "copied" or (placement == "dp" and piece.share != "experts")):
        return [(piece.bytes, rank > 0) for rank in range(devices)]
    heads = (piece.layer or 0) if piece.share == "kv_heads" else 0
    if 0 < heads < devices:
        parts = dealt(piece.bytes, heads, heads)
        of = [rank * heads // devices for rank in range(devices)]
        return [(parts[head], rank > 0 and of[rank - 1] == head) for rank, head in enumerate(of)]
    return [(size, False) for size in dealt(piece.bytes, devices, devices)]


def dealt(size: int, units: int, devices: int) -> list[int]:
    """`size` bytes in `units` equal parts dealt to devices, the first ones taking what is left over."""
    each, left = divmod(units, devices)
    ends = [0]
    for rank in range(devices):
        ends.append(ends[-1] + each + (1 if rank < left else 0))
    return [size * b // units - size * a // units for a, b in pairwise(ends)]


@dataclass(frozen=True, slots=True)
class Stages:
    """A model as a chain: bytes of each layer in order, and what sits at its ends.

    `first` holds embeddings and towers, `last` the head, final norm and draft layers, `tied` the embedding that a
    model without a head needs at both ends, `everywhere` (memory tables) is split by rows over all devices.
    """

    layers: tuple[tuple[int, int], ...]
    first: int
    last: int
    tied: int
    everywhere: int

    def ends(self, devices: int) -> list[int]:
        """Bytes that each device holds besides layers."""
        sizes = dealt(self.everywhere, devices, devices)
        sizes[0] += self.first
        sizes[-1] += self.last + (self.tied if devices > 1 else 0)
        return sizes

    def loads(self, counts: Sequence[int]) -> list[Load]:
        """Loads when devices take `counts` layers each, in order."""
        found, start, devices = [], 0, len(counts)
        for rank, (count, end) in enumerate(zip(counts, self.ends(devices), strict=True)):
            mine = self.layers[start : start + count]
            start += count
            copies = self.tied if rank == devices - 1 and devices > 1 else 0
            found.append(Load(end + sum(size for _, size in mine), copies, tuple(n for n, _ in mine)))
        return found


def stages(slices: Sequence[Slice], cached: int = 0) -> Stages:
    """The chain of a model; `cached` is how many layers its cache has, should they not all hold weights."""
    layers: dict[int, int] = dict.fromkeys(range(cached), 0)
    first = last = tied = everywhere = head = 0
    for piece in slices:
        if piece.component == "memory":
            everywhere += piece.bytes
        elif piece.layer is not None:
            layers[piece.layer] = layers.get(piece.layer, 0) + piece.bytes
        elif piece.component in ("head", "norm", "draft"):
            last += piece.bytes
            head += piece.bytes if piece.component == "head" else 0
        else:
            first += piece.bytes
            tied += piece.bytes if piece.component == "embedding" else 0
    return Stages(tuple(sorted(layers.items())), first, last, 0 if head else tied, everywhere)


def even(layers: int, devices: int) -> list[int]:
    """Layers per pipeline stage as vLLM deals them: what is left over goes to the stages before the last."""
    counts = [layers // devices] * devices
    for at in range(layers % devices):
        counts[(devices - 2 - at) % devices] += 1
    return counts


def by_memory(sums: Sequence[int], ends: Sequence[int], capacities: Sequence[int]) -> list[int] | None:
    """Contiguous layers that every device has room for, filled in order; None where there is no such way.

    `sums` are the bytes of the first 0, 1, 2 … layers together: a search asks for hundreds of capacities. Filling each
    device as far as it goes is the best that contiguous layers allow, so None means that none exists.
    """
    counts, at = [], 0
    for end, capacity in zip(ends, capacities, strict=True):
        room = capacity - end
        if room < 0:
            return None
        # Layers without bytes give equal sums; the rightmost is the furthest.
        upto = bisect_right(sums, sums[at] + room, lo=at) - 1
        counts.append(upto - at)
        at = upto
    return counts if at == len(sums) - 1 else None


def balanced(sums: Sequence[int], ends: Sequence[int], capacities: Sequence[int]) -> list[int]:
    """Contiguous layers that leave the fullest device the most room (or the least shortage); `sums` as above."""
    low = -(sums[-1] + sum(ends)) - max(capacities, default=0)
    high = max(capacities, default=0)
    best = by_memory(sums, ends, [c - low for c in capacities])
    while low < high:
        middle = (low + high + 1) // 2
        found = by_memory(sums, ends, [c - middle for c in capacities])
        if found is None:
            high = middle - 1
        else:
            low, best = middle, found
    if best is None:  # cannot happen: with the lowest margin one device holds everything
        raise ValueError("no split of layers")
    return best
