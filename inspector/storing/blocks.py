"""How many weights share one scale, from the two shapes alone.

A scale grid over a weight of n rows has ceil(n / block) rows (finegrained FP8: transformers
`integrations/finegrained_fp8.py`; kv_a_proj_with_mqa of DeepSeek-V3, 576 rows, has 5 scale rows for blocks of 128).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


def block_of(size: int, scales: int, declared: int | None = None) -> int | None:
    """The block along one dimension of `size` weights with `scales` scales; None where none is plausible.

    One scale for all is a block of `size`. Where several blocks would give the same grid, the declared one is
    taken if it is among them, else the only power of two, else the exact quotient.
    """
    if size <= 0 or scales <= 0 or scales > size:
        return None
    low = -(-size // scales)
    high = size if scales == 1 else -(-size // (scales - 1)) - 1
    if scales == 1:
        return size
    if low > high:
        return None
    if declared is not None and low <= declared <= high:
        return declared
    power = 1 << (low - 1).bit_length() if low > 1 else 1
    if low <= power <= high:
        return power
    return low if size % scales == 0 else None


def grid(
    weight: tuple[int, ...], scale: tuple[int, ...], declared: tuple[int, int] | None = None
) -> tuple[int, int] | None:
    """(rows, columns) of weights per scale for a weight [..., N, K]; None where the shapes do not fit together.

    Accepts a grid [..., n, k], one scale per row ([N] or [N, 1]), one per leading index of a 3-D weight
    ([E], [E, 1, 1]) and one for all ([] or [1]).
    """
    if not weight:
        return None
    rows, columns = (weight[-2] if len(weight) > 1 else 1), weight[-1]
    if not scale or all(d == 1 for d in scale):
        return rows, columns
    if len(scale) == len(weight):
        if scale[:-2] != weight[:-2]:
            return None
        scale_rows = scale[-2] if len(scale) > 1 else 1
        down = block_of(rows, scale_rows, declared[0] if declared else None)
        across = block_of(columns, scale[-1], declared[1] if declared else None)
        return None if down is None or across is None else (down, across)
    if scale == weight[:-1]:
        return 1, columns
    if scale == weight[:-2]:
        return rows, columns
    return None


class Shaped(Protocol):
    """A stored tensor, as far as evidence needs it."""

    @property
    def dtype(self) -> str:
        """Storage dtype."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Stored shape."""
        ...


def told(tensors: Mapping[str, Shaped], *roles: str) -> str:
    """The tensors of these roles in words, for evidence: '.qweight I32 [64, 256], .scales F16 [4, 256]'."""
    return ", ".join(f"{r or 'tensor'} {tensors[r].dtype} {list(tensors[r].shape)}" for r in roles if r in tensors)
