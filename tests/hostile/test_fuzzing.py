"""What `scripts/fuzz` does with an input still works: every target on its seeds, and what fuzzing has found."""

from __future__ import annotations

import random
import time

import pytest

from scripts.fuzzing import bounds, mutating
from scripts.fuzzing.target import FOUR
from scripts.fuzzing.targets import TARGETS

FOUND = {
    "hardware": [b'[[device]]\nid = """a\nb"""\nvpsble_bytes = 42760404992\n'],
    "mapping": [b'\x03{"file": 1, "a\r\rb": 2}'],
    "trees": [b'\x01{"|-\\n": 1.0}'],
}
"""Inputs on which an invariant failed once."""


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_what_is_like_them_break_nothing(name: str) -> None:
    target = TARGETS[name]
    chance = random.Random(name)
    seeds = list(target.seeds())
    assert seeds
    for seed in chance.sample(seeds, min(len(seeds), 6)):
        target.hold(seed)
        target.hold(mutating.spoilt(seed, chance))
        changed = None if target.structured is None else mutating.tree(seed, target.structured, target.words, chance)
        target.hold(changed or seed[:-1])


@pytest.mark.parametrize(("name", "data"), [(n, d) for n, some in FOUND.items() for d in some])
def test_what_was_found(name: str, data: bytes) -> None:
    TARGETS[name].hold(data)


def test_a_structured_target_changes_its_seeds_as_trees() -> None:
    chance = random.Random(7)
    for target in TARGETS.values():
        if target.structured is not None:
            trees = [mutating.tree(s, target.structured, target.words, chance) for s in target.seeds()]
            assert any(t is not None for t in trees), target.name


def test_the_four_formats_get_the_longest_time() -> None:
    assert {t.name for t in TARGETS.values() if t.seconds == FOUR} == {"safetensors", "index", "gguf", "config"}


def test_too_much_time_or_memory_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    peaks, times = (
        iter([0, 100_000_000, 0, 100_000_000]),
        iter([0.0, 1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 0.02, 0.0, 3.0, 0.0, 0.05]),
    )
    monkeypatch.setattr(bounds, "_peak", lambda: next(peaks, 0))
    monkeypatch.setattr(time, "process_time", lambda: next(times))
    with pytest.raises(bounds.TooMuch, match="100,000,000 bytes of memory, the bound is 64,000,024"), bounds.bounded(1):
        pass
    with bounds.bounded(2_000_000):
        pass
    with pytest.raises(bounds.TooMuch, match=r"took 3.0 s, the bound is 2.0"), bounds.bounded(1):
        pass
    # The same on a machine of half the speed.
    with bounds.bounded(1):
        pass
