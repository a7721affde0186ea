"""Along which axis stored elements share a scale, for layouts whose ratio is fixed by their format."""

from __future__ import annotations

from typing import Final

MX: Final = 32
"""Elements per scale in every OCP microscaling format."""
MX_SCALES: Final = frozenset({"F8_E8M0", "U8"})
"""Storage dtypes of an E8M0 scale."""
_TILE: Final = (128, 4)


def axis(weight: tuple[int, ...], scale: tuple[int, ...], per: int) -> int | None:
    """-1 or -2 where exactly `per` stored elements along it share a scale and all else is equal; None otherwise.

    -2 is for fused experts [E, K, N] alone: ModelOpt packs Llama-4's and gpt-oss's transposed
    (`export/unified_export_hf.py`).
    """
    if len(weight) < 2 or len(weight) != len(scale) or 0 in scale:
        return None
    if weight[:-1] == scale[:-1] and weight[-1] == per * scale[-1]:
        return -1
    if len(weight) == 3 and weight[0] == scale[0] and weight[2] == scale[2] and weight[1] == per * scale[1]:
        return -2
    return None


def padded(weight: tuple[int, ...], scale: tuple[int, ...], per: int) -> bool:
    """True for a scale grid padded to the tiles of 128 x 4 that Blackwell's kernels read (torchao, ComfyUI)."""
    if len(weight) != 2 or len(scale) != 2 or 0 in weight or weight[1] % per:
        return False
    rows, columns = -(-weight[0] // _TILE[0]) * _TILE[0], -(-(weight[1] // per) // _TILE[1]) * _TILE[1]
    return scale == (rows, columns)


def mx8(weight: tuple[int, ...], scale: tuple[int, ...]) -> bool:
    """True where 32 one-byte elements of a row share a scale (the last block of a row may be short)."""
    if len(weight) >= 2 and weight[:-1] == scale[:-1] and scale[-1] and scale[-1] == -(-weight[-1] // MX):
        return True
    return axis(weight, scale, MX) is not None or padded(weight, scale, MX)


def logical(stored: tuple[int, ...], at: int, numerator: int, denominator: int = 1) -> tuple[int, ...]:
    """[..., N, K] of a weight stored with its K at axis `at` and numerator / denominator elements in each."""
    columns = stored[at] * numerator // denominator
    return (*stored[:-1], columns) if at == -1 else (*stored[:-2], stored[-1], columns)
