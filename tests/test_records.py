"""Records do what frozen dataclasses do, and are dataclasses to whoever asks."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any

import pytest

from inspector.model import Cell, File, Report
from inspector.records import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Point:
    """A record."""

    x: int
    y: int = 2
    tags: list[str] = field(default_factory=list, compare=False)

    @property
    def total(self) -> int:
        return self.x + self.y


def fresh() -> Any:
    """A class like `Point` of which no record was made yet."""

    @dataclass(frozen=True, slots=True)
    class New:
        """A record."""

        x: int
        y: int = 2
        tags: list[str] = field(default_factory=list, compare=False)

        @property
        def total(self) -> int:
            return self.x + self.y

        def __post_init__(self) -> None:
            if self.x < 0:
                raise ValueError("below 0")

    return New


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    """The same, made by the standard library."""

    x: int
    y: int = 2
    tags: list[str] = dataclasses.field(default_factory=list, compare=False)


@dataclass(slots=True)
class Tally:
    """A record that changes."""

    count: int = 0
    seen: set[str] = field(default_factory=set)


@pytest.mark.parametrize("wrong", [(), (1, 2, [], 4)])
@pytest.mark.parametrize("before", [0, 7, 8, 30])
def test_the_first_records_are_like_the_later_ones(before: int, wrong: tuple[Any, ...]) -> None:
    """The first few are made without a compiled `__init__`; what is refused is refused in the same words."""
    kind = fresh()
    for n in range(before):
        assert kind(n).x == n
    said = []
    for one in (kind, Standard):
        with pytest.raises(TypeError) as caught:
            one(*wrong)
        said.append(str(caught.value).partition("__init__")[2])
    assert said[0] == said[1]
    kind = fresh()
    for n in range(before):
        kind(n)
    with pytest.raises(TypeError, match="z"):
        kind(1, z=3)
    kind = fresh()
    for n in range(before):
        kind(x=n, y=n)
    with pytest.raises(TypeError, match="x"):
        kind(1, x=3)
    with pytest.raises(ValueError, match="below 0"):
        kind(-1)
    one, other = kind(5, tags=["a"]), kind(5)
    assert (one.x, one.y, one.tags, one.total) == (5, 2, ["a"], 7)
    assert one == other
    assert other.tags is not kind(5).tags


def test_a_field_may_be_called_self() -> None:
    @dataclass(frozen=True, slots=True)
    class Own:
        self: int

    assert [Own(self=n).self for n in range(20)] == list(range(20))


def test_what_a_record_is_made_of() -> None:
    kinds: tuple[Any, ...] = (Point, fresh(), Standard)
    few_or_many: tuple[tuple[Any, ...], ...] = ((), (1, 2, [], 4))
    for kind in kinds:
        one: Any = kind(1)
        assert (one.x, one.y, one.tags) == (1, 2, [])
        assert repr(one) == f"{kind.__qualname__}(x=1, y=2, tags=[])"
        assert one == kind(1, 2, ["other"]) != kind(2)
        assert hash(one) == hash(kind(1, tags=["other"]))
        assert one.tags is not kind(1).tags
        assert one != (1, 2, [])
        for wrong in few_or_many:
            with pytest.raises(TypeError):
                kind(*wrong)
        with pytest.raises(TypeError):
            kind(1, z=3)
        with pytest.raises(dataclasses.FrozenInstanceError):
            one.x = 5
        with pytest.raises(dataclasses.FrozenInstanceError):
            del one.x
        assert one.x == 1
        assert not hasattr(one, "__dict__")
    assert Point(3).total == 5
    assert Point.__doc__ == "A record."


def test_copies() -> None:
    one = Point(1, 3, ["a"])
    for other in (copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one)), replace(one), replace(one, y=3)):
        assert (type(other), other, other.tags) == (Point, one, ["a"])
    assert replace(one, x=7) == Point(7, 3)
    with pytest.raises(TypeError):
        replace(one, z=1)  # type: ignore[call-arg]


def test_they_are_dataclasses_to_whoever_asks() -> None:
    assert dataclasses.is_dataclass(Point) and dataclasses.is_dataclass(Report)
    assert [f.name for f in dataclasses.fields(Point)] == ["x", "y", "tags"]
    assert dataclasses.asdict(Point(1)) == {"x": 1, "y": 2, "tags": []}
    assert dataclasses.replace(Point(1), y=9) == Point(1, 9)
    names = [f.name for f in dataclasses.fields(Cell)]
    assert names[:2] == ["component", "precision"]
    match Point(4, 5):
        case Point(x, y):
            assert (x, y) == (4, 5)
    assert replace(File("a/b", 3), size=4).name == "b"


def test_one_that_is_not_frozen() -> None:
    one, other = Tally(), Tally()
    one.count += 1
    one.seen.add("a")
    assert (one.count, other.seen, one == other) == (1, set(), False)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
