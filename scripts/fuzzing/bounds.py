"""What one input may cost: the fuzzer and tests/hostile hold every parser to these, and docs/limits.md prints them.

How large an input may be at all is each parser's own constant; docs/limits.md lists those too.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SECONDS: Final = 2.0
"""Processor time for any input, however small, on a machine that does `ADDITIONS` in `QUICK` seconds."""
SECONDS_PER_MB: Final = 3.0
"""Processor time more for each 1,000,000 bytes of it."""
ADDITIONS: Final = 1_000_000
QUICK: Final = 0.025
"""Where a machine is slower than that, or others use its cores as well, the bounds on time are as much longer."""
MEMORY: Final = 64_000_000
"""Bytes of memory for any input, however small."""
MEMORY_PER_BYTE: Final = 24
"""Bytes of memory more for each byte of it: JSON of tiny tensors becomes an object for every few bytes."""
MESSAGE: Final = 5_000
"""Characters of an error: names in it are shortened."""


class TooMuch(AssertionError):
    """An input took more than it may."""


@contextmanager
def bounded(size: int) -> Iterator[None]:
    """Raise `TooMuch` where what is done for an input of `size` bytes takes more than the bounds.

    Memory is how much higher the process reached than ever before, so it is exact for one large input in a process of
    its own, and a bound on growth for many small ones.
    """
    memory, before = MEMORY + MEMORY_PER_BYTE * size, _peak()
    with within(SECONDS + SECONDS_PER_MB * size / 1e6, f"an input of {size:,} bytes"):
        yield
    grew = _peak() - before
    if grew > memory:
        raise TooMuch(f"an input of {size:,} bytes took {grew:,} bytes of memory, the bound is {memory:,.0f}")


@contextmanager
def within(seconds: float, what: str = "this") -> Iterator[None]:
    """Raise `TooMuch` where what is done takes more processor time than that, on a machine of usual speed.

    How slow this one is is only measured where the time was passed.
    """
    began = time.process_time()
    yield
    took = time.process_time() - began
    if took > seconds and took > (bound := seconds * max(1.0, slowness())):
        raise TooMuch(f"{what} took {took:.1f} s, the bound is {bound:.1f}")


def slowness() -> float:
    """How many times longer this machine takes now than one of usual speed."""
    began, total = time.process_time(), 0
    for number in range(ADDITIONS):
        total += number
    return (time.process_time() - began) / QUICK


def _peak() -> int:
    """The most memory that this process ever had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
