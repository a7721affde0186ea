"""Parse a size of memory as people write it: '256GB' is 256 x 10^9 bytes, '256GiB' is 256 x 2^30."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Final, NamedTuple

_SIZE: Final = re.compile(r"^\s*(\d{1,15}(?:\.\d{1,9})?)\s*([kmgt]?)(i?)b\s*$", re.IGNORECASE)
_POWER: Final = "kmgt"


class Size(NamedTuple):
    """Whole bytes, and whether the unit was binary."""

    bytes: int
    binary: bool


def parse_size(text: str) -> Size | None:
    """A size with its unit, rounded down to whole bytes; None where the text is something else."""
    found = _SIZE.match(text)
    if found is None or (found[3] and not found[2]):
        return None
    step = 1024 if found[3] else 1000
    power = _POWER.index(found[2].lower()) + 1 if found[2] else 0
    return Size(int(Fraction(found[1]) * step**power), bool(found[3]))
