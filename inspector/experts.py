"""Experts of one layer that are stored alike are looked at once.

A layer of 384 experts has 2,304 tensors and one kind of expert: names, dtypes and shapes are compared, over all files
that the layer lies in, and one expert stands for those that are like it. Of headers that are alike but for the layer
one is looked at, and the others' experts hold the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspector.model import Alike, Header, TensorInfo
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


@dataclass(frozen=True, slots=True)
class _File:
    """One header: tensors of no numbered expert; and by layer and number what each expert has in it."""

    others: Sequence[TensorInfo]
    layers: Mapping[str, Mapping[str, int]]


class _Held:
    """All that experts hold, numbered: an expert is one number, however many tensors it has."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, str, str, tuple[int, ...], int], int] = {}
        self._steps: list[_Step | None] = [None]
        self._sums: dict[tuple[int, int], int] = {}
        self._files: dict[int, _File] = {}

    def tensors(self, held: int, name: str) -> list[TensorInfo]:
        """The tensors of the expert of that name (`m.experts.7`)."""
        return [step.like._replace(name=name + step.tail) for step in self._taken(held)]

    def both(self, held: int, more: int) -> int:
        """What an expert holds to which one file gives `held` and a later one `more`."""
        if held == _NOTHING or more == _NOTHING:
            return held or more
        found = self._sums.get((held, more))
        if found is None:
            found = held
            for step in self._taken(more):
                found = self._after(found, step.tail, step.like)
            self._sums[held, more] = found
        return found

    def file(self, header: Header) -> _File:
        """What is in one header."""
        tensors = header.tensors
        if not isinstance(tensors, Alike):
            return self._decoded(tensors)
        model, old, own = self._decoded(tensors.model), tensors.old, tensors.own
        # `m.experts.3.` may itself be what two headers differ in: then the number is another one in each.
        if _EXPERTS in f".{old}.{own}" or not all(f"{owner}.".startswith(old) for owner in model.layers):
            return self._gathered(tuple(tensors))
        cut = len(old)
        others = [t._replace(name=own + t.name[cut:], file=tensors.file) for t in model.others]
        # `layers.4.mlp` for `layers.3.mlp`, and `layers.4` for `layers.3`, of which the prefix has the dot too.
        layers = {(own + f"{owner}."[cut:]).removesuffix("."): held for owner, held in model.layers.items()}
        return _File(others, layers)

    def _decoded(self, tensors: Sequence[TensorInfo]) -> _File:
        """The same for tensors that several headers share, looked at once."""
        found = self._files.get(id(tensors))
        if found is None:
            found = self._files[id(tensors)] = self._gathered(tensors)
        return found

    def _gathered(self, tensors: Sequence[TensorInfo]) -> _File:
        others: list[TensorInfo] = []
        layers: dict[str, dict[str, int]] = {}
        owner, experts = None, dict[str, int]()
        numbers, steps = self._numbers, self._steps
        for tensor in tensors:
            name, dtype, shape, _, start, end = tensor
            before, found, rest = name.partition(_EXPERTS)
            number, dot, tail = rest.partition(".")
            if not found or not number.isdigit():
                if rest[:1].isdigit():
                    # `experts.3_scale` belongs to one expert, by a name that is not taken apart here.
                    layers.setdefault(before, {})[""] = _NOTHING
                others.append(tensor)
                continue
            if before != owner:
                owner = before
                experts = layers.setdefault(owner, {})
            key = experts.get(number, _NOTHING), dot + tail, dtype, shape, end - start
            now = numbers.get(key)
            if now is None:
                now = numbers[key] = len(steps)
                steps.append(_Step(key[0], key[1], tensor))
            experts[number] = now
        return _File(others, layers)

    def _after(self, held: int, tail: str, tensor: TensorInfo) -> int:
        key = held, tail, tensor.dtype, tensor.shape, tensor.nbytes
        if key not in self._numbers:
            self._numbers[key] = len(self._steps)
            self._steps.append(_Step(held, tail, tensor))
        return self._numbers[key]

    def _taken(self, held: int) -> list[_Step]:
        found: list[_Step] = []
        while (step := self._steps[held]) is not None:
            found.append(step)
            held = step.before
        return found[::-1]


def piles(headers: Sequence[Header], times: Sequence[int]) -> list[Pile]:
    """The tensors of `headers`, of which each stands for as many as `times` says, experts taken together."""
    held = _Held()
    layers: dict[tuple[str, int], dict[str, int]] = {}
    found: list[Pile] = []
    for header, count in zip(headers, times, strict=True):
        file = held.file(header)
        found.append(Pile(file.others, count))
        for owner, experts in file.layers.items():
            layer = layers.setdefault((owner, count), {})
            # Few experts begin in one file and end in the next.
            both = {n: held.both(layer[n], experts[n]) for n in layer.keys() & experts.keys()} if layer else {}
            layer |= experts
            layer |= both
    for (owner, count), experts in layers.items():
        found += _experts(f"{owner}{_EXPERTS}", experts, count, held)
    return found


def _experts(stem: str, experts: Mapping[str, int], count: int, held: _Held) -> list[Pile]:
    """The experts of one layer, those that hold the same as one pile."""
    if "" in experts:
        return [Pile(held.tensors(what, stem + number), count) for number, what in experts.items() if number]
    alike: dict[int, list[str]] = {}
    for number, what in experts.items():
        alike.setdefault(what, []).append(number)
    found: list[Pile] = []
    for what, numbers in alike.items():
        first = held.tensors(what, stem + numbers[0])
        if len({t.name for t in first}) == len(first):
            found.append(Pile(first, count * len(numbers)))
        else:
            # Stored twice under one name: each copy is to be met.
            found.append(Pile([t for n in numbers for t in held.tensors(what, stem + n)], count))
    return found
