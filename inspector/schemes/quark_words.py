"""AMD Quark's 4-bit integers: eight to an I32 under the weight's plain name.

per_group: `X.weight` I32 [K, N/8] (transposed), `X.weight_scale` [K/g, N], zero points [K/g, N/8]. N and bits follow
from the scales' width, K from the rows; files older than Quark 1.0 have the scale as [N, K/g]. per_channel and
per_tensor: I32 [N, K/8] with [N] or one scale, where bits are the config's. Two-level weights add
`X.weight_scale_2`. Source: amd-quark 0.13 `torch/utils/pack.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import block_of, told
from inspector.storing.companions import extras
from inspector.storing.dtypes import WIDE

NAME = "quark_words"
_ZEROS: Final = (".weight_zero_point", ".zero_point")
ROLES = (".weight", ".weight_scale", *_ZEROS)
_WORD: Final = 32
_WIDTHS: Final = (2, 4, 8)


def recognise(group: Group) -> Claim | None:
    """Words whose scales have a column for every packed value, or one scale for every row of declared bits."""
    weight, scale = group.tensors.get(".weight"), group.tensors.get(".weight_scale")
    zeros = [r for r in _ZEROS if r in group.tensors]
    if weight is None or scale is None or weight.dtype != "I32" or scale.dtype not in WIDE | {"F8_E4M3"}:
        return None
    if len(weight.shape) != 2 or not weight.elements or not scale.elements or len(zeros) > 1:
        return None
    zero = group.tensors[zeros[0]] if zeros else None
    found = _grouped(group, weight, scale, zero) or _rows(group, weight, scale, zero)
    if found is None:
        return None
    bits, shape, size = found
    others = extras(group, shape)
    if others is None:
        return None
    return Claim(
        NAME,
        Precision(f"{'u' if zeros else ''}int{bits}", bits, (1, size)),
        shape[0] * shape[1],
        (".weight",),
        (".weight_scale", *zeros, *others),
        shape=shape,
        evidence=f"{told(group.tensors, '.weight', '.weight_scale', *zeros)}: {_WORD // bits} values per word",
    )


_Found = tuple[int, tuple[int, int], int]
"""(bits, (N, K), group)."""


def _grouped(group: Group, weight: Stored, scale: Stored, zero: Stored | None) -> _Found | None:
    if len(scale.shape) != 2:
        return None
    columns, words = weight.shape
    for groups, rows in (scale.shape, scale.shape[::-1]):
        bits = next((b for b in _WIDTHS if rows * b == _WORD * words), None)
        size = block_of(columns, groups, group.declared.group)
        if bits is None or size is None or size < min(8, columns):
            continue
        if zero is None or zero.shape in ((groups, words), scale.shape):
            return bits, (rows, columns), size
    return None


def _rows(group: Group, weight: Stored, scale: Stored, zero: Stored | None) -> _Found | None:
    rows, words = weight.shape
    bits = group.declared.bits
    if group.declared.method != "quark" or bits not in _WIDTHS or scale.elements not in (1, rows):
        return None
    if len(scale.shape) == 2 and scale.shape[0] != scale.elements:
        return None
    if zero is not None and zero.elements not in (scale.elements, -(-scale.elements * bits // _WORD)):
        return None
    columns = words * _WORD // bits
    return bits, (rows, columns), columns
