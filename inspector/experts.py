"""Experts of one layer that are stored alike are looked at once.

A layer of 384 experts has 2,304 tensors and one kind of expert: names, dtypes and shapes are compared, and the first
expert stands for all. Where one differs, or a layer's experts lie in several files, each is looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from inspector.model import Header, TensorInfo

_EXPERTS = ".experts."


class Pile(NamedTuple):
    """Tensors that are there `times` times, under names that differ in one number."""

    tensors: Sequence[TensorInfo]
    times: int


def piles(headers: Sequence[Header], times: Sequence[int]) -> list[Pile]:
    """The tensors of `headers`, of which each stands for as many as `times` says, experts taken together."""
    found: list[Pile] = []
    parted = [_parted(h.tensors) for h in headers]
    owners = Counter(owner for _, layers in parted for owner in layers)
    for (others, layers), count in zip(parted, times, strict=True):
        rest = others
        for owner, experts in layers.items():
            tensors, *_ = experts.values()
            if owners[owner] == 1 and all(map(tensors.alike, experts.values())):
                found.append(Pile(tensors.tensors, count * len(experts)))
            else:
                rest = [*rest, *(t for expert in experts.values() for t in expert.tensors)]
        found.append(Pile(rest, count))
    return found


class _Expert:
    """One expert's tensors, and in one list what must be the same of another one: tails of names, dtypes, shapes."""

    __slots__ = ("tensors", "told")

    def __init__(self) -> None:
        self.tensors: list[TensorInfo] = []
        self.told: list[object] = []

    def alike(self, other: _Expert) -> bool:
        """Whether the other one differs in its number alone."""
        return self.told == other.told


def _parted(tensors: Sequence[TensorInfo]) -> tuple[list[TensorInfo], dict[str, dict[str, _Expert]]]:
    """Tensors that are no numbered expert's, and by what stands before `.experts.`, and by number, those that are."""
    others: list[TensorInfo] = []
    layers: dict[str, dict[str, _Expert]] = {}
    for tensor in tensors:
        name, dtype, shape, _, start, end = tensor
        owner, found, rest = name.partition(_EXPERTS)
        number, dot, tail = rest.partition(".")
        if not found or not number.isdigit():
            others.append(tensor)
            continue
        experts = layers.get(owner)
        if experts is None:
            experts = layers[owner] = {}
        expert = experts.get(number)
        if expert is None:
            expert = experts[number] = _Expert()
        expert.tensors.append(tensor)
        expert.told += (dot, tail, dtype, shape, end - start)
    return others, layers
