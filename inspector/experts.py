"""Experts of one layer that are stored alike are looked at once.

A layer of 384 experts has 2,304 tensors and one kind of expert: names, dtypes and shapes are compared, over all files
that the layer lies in, and one expert stands for those that are like it.
"""

from __future__ import annotations

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
    layers: dict[tuple[str, int], dict[str, _Expert]] = {}
    for header, count in zip(headers, times, strict=True):
        found.append(Pile(_gathered(header.tensors, layers, count), count))
    for (_, count), experts in layers.items():
        classes: dict[tuple[object, ...], list[_Expert]] = {}
        for expert in experts.values():
            classes.setdefault(tuple(expert.told), []).append(expert)
        for first, *more in classes.values():
            if len({t[0] for t in first.tensors}) == len(first.tensors):
                found.append(Pile(first.tensors, count * (1 + len(more))))
            else:
                # Stored twice under one name: each copy is to be met.
                found.append(Pile([t for e in (first, *more) for t in e.tensors], count))
    return found


class _Expert:
    """One expert's tensors, and in one list what must be the same of another one: tails of names, dtypes, shapes."""

    __slots__ = ("tensors", "told")

    def __init__(self) -> None:
        self.tensors: list[TensorInfo] = []
        self.told: list[object] = []


def _gathered(
    tensors: Sequence[TensorInfo], layers: dict[tuple[str, int], dict[str, _Expert]], count: int
) -> list[TensorInfo]:
    """Those that are no numbered expert's; the others go into `layers`, by what stands before `.experts.`."""
    others: list[TensorInfo] = []
    owner, experts = None, dict[str, _Expert]()
    for tensor in tensors:
        name, dtype, shape, _, start, end = tensor
        before, found, rest = name.partition(_EXPERTS)
        number, dot, tail = rest.partition(".")
        if not found or not number.isdigit():
            others.append(tensor)
            continue
        if before != owner:
            owner = before
            experts = layers.setdefault((owner, count), {})
        expert = experts.get(number)
        if expert is None:
            expert = experts[number] = _Expert()
        expert.tensors.append(tensor)
        expert.told += (dot, tail, dtype, shape, end - start)
    return others
