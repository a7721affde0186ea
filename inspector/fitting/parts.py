"""What the weights of each device are made of: its bytes by component, which sum to the loads of the placement.

A placement divides alike what it shares alike, components together. Here the same shares are told apart again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import repeat

from inspector.fitting.placement import Load, dealt, shares
from inspector.model import Slice
from inspector.model.fit_model import Part, Placement

Weights = Sequence[Counter[str]]
"""Bytes by component, for each device."""


def sharded_parts(pieces: Iterable[tuple[Slice, Counter[str]]], placement: Placement, devices: int) -> list[list[Part]]:
    """The parts under tp, ep or dp; each slice comes with its bytes by component."""
    held, again = _empty(devices), _empty(devices)
    for piece, components in pieces:
        given = shares(piece, placement, devices)
        for rank, part in enumerate(mixed(components, given)):
            held[rank].update(part)
            if given[rank][1]:
                again[rank].update(part)
    return _listed(held, again)


def mixed(components: Counter[str], given: Sequence[tuple[int, bool]]) -> list[Counter[str]]:
    """Shares of a slice (bytes, held before), each in the slice's own mix, to within a byte per component.

    The mix of what is left is dealt each time, so that every share is exact and nothing is left in the end.
    """
    left = Counter(components)
    found: list[Counter[str]] = []
    for size, again in given:
        if again:
            found.append(found[-1])
            continue
        whole = left.total()
        part = Counter({name: n * size // whole for name, n in left.items()} if whole else {})
        short = size - part.total()
        for name, n in left.most_common():
            more = min(short, n - part[name])
            part[name] += more
            short -= more
        left -= part
        found.append(part)
    return found


def staged_parts(slices: Iterable[Slice], loads: Sequence[Load], tied: bool) -> list[list[Part]]:
    """The parts where devices take whole layers, as `Stages` deals them; `tied`: the embedding is at both ends."""
    held, again = _empty(len(loads)), _empty(len(loads))
    layer_at = {layer: rank for rank, load in enumerate(loads) for layer in load.layers or ()}
    memory = 0
    for piece in slices:
        if piece.component == "memory":
            memory += piece.bytes
        elif piece.layer is not None:
            held[layer_at[piece.layer]][piece.component] += piece.bytes
        elif piece.component in ("head", "norm", "draft"):
            held[-1][piece.component] += piece.bytes
        else:
            held[0][piece.component] += piece.bytes
            if tied and piece.component == "embedding":
                held[-1][piece.component] += piece.bytes
                again[-1][piece.component] += piece.bytes
    for part, size in zip(held, dealt(memory, len(loads), len(loads)), strict=True):
        part["memory"] += size
    return _listed(held, again)


def _empty(devices: int) -> list[Counter[str]]:
    return [Counter[str]() for _ in repeat(None, devices)]


def _listed(held: Weights, again: Weights) -> list[list[Part]]:
    return [
        [(name, part[name], copies[name]) for name in sorted(part, key=lambda n: (-part[n], n)) if part[name]]
        for part, copies in zip(held, again, strict=True)
    ]
