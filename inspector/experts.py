"""Experts of one layer that are stored alike are looked at once.

A layer of 384 experts has 2,304 tensors and one kind of expert: names, dtypes and shapes are compared, over all files
that the layer lies in, and one expert stands for those that are like it.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspector.model import Header, TensorInfo
from inspector.records import dataclass

_EXPERTS = ".experts."
_NOTHING = 0


@dataclass(frozen=True, slots=True)
class Pile:
    """Tensors that are there `times` times, under names that differ in one number."""

    tensors: Sequence[TensorInfo]
    times: int


@dataclass(frozen=True, slots=True)
class _Step:
    """What an expert holds: what it held before one tensor came, what its name ends in, and a tensor like it."""

    before: int
    tail: str
    like: TensorInfo


class _Held:
    """All that experts hold, numbered: an expert is one number, however many tensors it has."""

    def __init__(self) -> None:
        self.numbers: dict[tuple[int, str, str, tuple[int, ...], int], int] = {}
        self.steps: list[_Step | None] = [None]

    def tensors(self, held: int, name: str) -> list[TensorInfo]:
        """The tensors of the expert of that name (`m.experts.7`)."""
        found: list[TensorInfo] = []
        while (step := self.steps[held]) is not None:
            found.append(step.like._replace(name=name + step.tail))
            held = step.before
        return found[::-1]


def piles(headers: Sequence[Header], times: Sequence[int]) -> list[Pile]:
    """The tensors of `headers`, of which each stands for as many as `times` says, experts taken together."""
    held = _Held()
    layers: dict[tuple[str, int], dict[str, int]] = {}
    found = [Pile(_gathered(h.tensors, layers, n, held), n) for h, n in zip(headers, times, strict=True)]
    for (owner, count), experts in layers.items():
        alike: dict[int, list[str]] = {}
        for number, what in experts.items():
            alike.setdefault(what, []).append(number)
        if "" in experts:
            for number, what in experts.items():
                if number:
                    found.append(Pile(held.tensors(what, f"{owner}{_EXPERTS}{number}"), count))
            continue
        for what, numbers in alike.items():
            first = held.tensors(what, f"{owner}{_EXPERTS}{numbers[0]}")
            if len({t.name for t in first}) == len(first):
                found.append(Pile(first, count * len(numbers)))
            else:
                # Stored twice under one name: each copy is to be met.
                every = [t for n in numbers for t in held.tensors(what, f"{owner}{_EXPERTS}{n}")]
                found.append(Pile(every, count))
    return found


def _gathered(
    tensors: Sequence[TensorInfo], layers: dict[tuple[str, int], dict[str, int]], count: int, held: _Held
) -> list[TensorInfo]:
    """Those that are no numbered expert's; of the others `layers` learns, by layer and number, what each holds."""
    others: list[TensorInfo] = []
    owner, experts = None, dict[str, int]()
    numbers, steps = held.numbers, held.steps
    for tensor in tensors:
        name, dtype, shape, _, start, end = tensor
        before, found, rest = name.partition(_EXPERTS)
        number, dot, tail = rest.partition(".")
        if not found or not number.isdigit():
            if rest[:1].isdigit():
                # `experts.3_scale` belongs to one expert, by a name that is not taken apart here.
                layers.setdefault((before, count), {})[""] = _NOTHING
            others.append(tensor)
            continue
        if before != owner:
            owner = before
            experts = layers.setdefault((owner, count), {})
        key = experts.get(number, _NOTHING), dot + tail, dtype, shape, end - start
        now = numbers.get(key)
        if now is None:
            now = numbers[key] = len(steps)
            steps.append(_Step(key[0], key[1], tensor))
        experts[number] = now
    return others
