"""AWQ: 4-bit integers packed along the output (gemm) or along K (gemv, gemv_fast, llm-awq).

gemm: `X.qweight` I32 [K, N b / 32], `X.qzeros` I32 [K / g, N b / 32], `X.scales` [K / g, N]. gemv: I32 [N, K / 8]
with qzeros [N, W] and scales [N, 8 W], W padded. gemv_fast and llm-awq: I16 [N / 4, K] with scales and float zeros [8
W, N] (`scaled_zeros` in llm-awq). ParoQuant adds `theta`, `pairs` and `channel_scales` to gemm. Source:
casper-hansen/AutoAWQ `modules/linear/{gemm,gemv,gemv_fast}.py`; GPTQModel `qlinear/paroquant.py`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import block_of, told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "awq"
ROLES = (".qweight", ".qzeros", ".scales", ".scaled_zeros", ".theta", ".pairs", ".channel_scales")
_ZEROS: Final = frozenset({".qzeros", ".scaled_zeros"})
_BITS: Final = MappingProxyType({16: 2, 8: 4, 4: 8})
"""Values per word of 32 bits -> bits of each."""
_SMALLEST: Final = 16


def recognise(group: Group) -> Claim | None:
    """The layout whose scales have the width that its words demand."""
    weight, scales = group.tensors.get(".qweight"), group.tensors.get(".scales")
    if weight is None or scales is None or foreign(group, ROLES):
        return None
    if len(weight.shape) != 2 or len(scales.shape) != 2 or scales.dtype not in WIDE:
        return None
    if not weight.elements or not scales.elements:
        return None
    found = _gemm(group, weight, scales) or _gemv(group, weight, scales) or _fast(group, weight, scales)
    if found is None:
        return None
    rows, columns, bits, size = found
    return Claim(
        NAME,
        Precision(f"uint{bits}" if group.tensors.keys() & _ZEROS else f"int{bits}", bits, (1, size)),
        rows * columns,
        (".qweight",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: {rows} x {columns} values of {bits} bits, one scale per {size}",
    )


def _gemm(group: Group, weight: Stored, scales: Stored) -> tuple[int, int, int, int] | None:
    """(N, K, bits, group): N is the scales' width, and a word holds N / words of it."""
    columns, words = weight.shape
    groups, rows = scales.shape
    bits = _BITS.get(rows // words) if rows % words == 0 else None
    zeros = group.tensors.get(".qzeros")
    if weight.dtype != "I32" or bits is None or ".scaled_zeros" in group.tensors:
        return None
    if zeros is not None and (zeros.dtype != "I32" or zeros.shape != (groups, words)):
        return None
    size = block_of(columns, groups, group.declared.group)
    return None if size is None or size < min(_SMALLEST, columns) else (rows, columns, bits, size)


def _gemv(group: Group, weight: Stored, scales: Stored) -> tuple[int, int, int, int] | None:
    """Rows of words, one row of padded scales for each."""
    zeros = group.tensors.get(".qzeros")
    if weight.dtype != "I32" or zeros is None or zeros.dtype != "I32" or ".scaled_zeros" in group.tensors:
        return None
    rows, width = weight.shape[0], scales.shape[1] // 8
    if scales.shape != (rows, 8 * width) or zeros.shape != (rows, width):
        return None
    columns = 8 * weight.shape[1]
    size = _padded(columns, width, group.declared.group)
    return None if size is None else (rows, columns, 4, size)


def _fast(group: Group, weight: Stored, scales: Stored) -> tuple[int, int, int, int] | None:
    """Four rows interleaved in one, scales and zeros transposed and both floats."""
    zeros = group.tensors.get(".qzeros", group.tensors.get(".scaled_zeros"))
    if weight.dtype != "I16" or zeros is None or zeros.dtype not in WIDE or zeros.shape != scales.shape:
        return None
    rows, columns = 4 * weight.shape[0], weight.shape[1]
    if scales.shape[1] != rows or scales.shape[0] % 8:
        return None
    size = _padded(columns, scales.shape[0] // 8, group.declared.group)
    return None if size is None else (rows, columns, 4, size)


def _padded(columns: int, width: int, declared: int | None) -> int | None:
    """The group size whose zero points, padded as `calculate_zeros_width` does, are `width` words wide."""
    fits = []
    for size, several in ((128, 1), (64, 2), (32, 4), (columns, 1)):
        words = -(-(columns // size) // 8)
        if size >= 32 and -(-words // several) * several == width:
            fits.append(size)
    return declared if declared in fits else fits[0] if fits else None
