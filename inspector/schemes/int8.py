"""Integers stored one to an I8: `X.weight` I8 [N, K] with one scale per row, matrix, tile or declared group.

compressed-tensors `int-quantized` and `naive-quantized` (`X.weight_scale` [N, 1] or [1], `X.weight_zero_point` of the
same shape; fewer bits than eight still take a byte each), ModelOpt W8A16 and W8A8_SQ_PER_CHANNEL ([N],
`pre_quant_scale`), Quark, sglang `w8a8_int8` and `blockwise_int8` (`X.weight_scale_inv` of 128x128 tiles), MXINT8
(U8 scales per 32). I8 is also a container of two 4-bit values: a finer grid than one scale per row proves no width,
so it needs the config's bits and group. Quark stores groups transposed: [K, N] with [K/g, N].
Source: compressed-tensors `compressors/int_quantized`; ModelOpt `export/quant_utils.py`; Quark
`torch/utils/pack.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import grid, told
from inspector.storing.companions import extras
from inspector.storing.dtypes import WIDE
from inspector.storing.packing import MX, MX_SCALES, axis

NAME = "int8"
_PAIRS: Final = (
    (".weight", ".weight_scale"),
    (".weight", ".weight_scale_inv"),
    ("_weight", "_weight_scale"),
    ("", "_weight_scale"),
)
ROLES = (
    ".weight",
    "_weight",
    ".weight_scale",
    ".weight_scale_inv",
    "_weight_scale",
    ".weight_zero_point",
    ".weight_g_idx",
)
_ONE_EACH: Final = frozenset({"compressed-tensors"})
"""Methods whose narrower integers take a whole I8 each."""
_OTHERS: Final = frozenset({"gemma", "w4afp8", "sdnq"})
"""Methods that have a scheme of their own for the same roles."""
_BYTE: Final = 8


def recognise(group: Group) -> Claim | None:
    """I8 under scales that leave no other reading, or that the config confirms."""
    pairs = [(p, s) for p, s in _PAIRS if p in group.tensors and s in group.tensors]
    if len(pairs) != 1 or group.declared.method in _OTHERS:
        return None
    payload, role = pairs[0]
    weight, scale = group.tensors[payload], group.tensors[role]
    bits = group.declared.bits or _BYTE
    if weight.dtype != "I8" or not weight.elements or bits > _BYTE:
        return None
    if bits < _BYTE and group.declared.method not in _ONE_EACH:
        return None
    block = _block(group, weight, scale, role)
    others = extras(group, weight.shape)
    if block is None or others is None or not _zero_point(group, scale):
        return None
    zero = tuple(r for r in (".weight_zero_point", ".weight_g_idx") if r in group.tensors)
    return Claim(
        NAME,
        Precision(f"int{bits}", bits, block),
        weight.elements,
        (payload,),
        (role, *zero, *others),
        shape=weight.shape,
        evidence=f"{told(group.tensors, payload, role)}: one value per I8, one scale per {block[0]}x{block[1]}",
    )


def _block(group: Group, weight: Stored, scale: Stored, role: str) -> tuple[int, int] | None:
    if scale.dtype in MX_SCALES:
        return (1, MX) if role != ".weight_scale_inv" and axis(weight.shape, scale.shape, MX) == -1 else None
    block = grid(weight.shape, scale.shape) if scale.dtype in WIDE else None
    if block is None or block[1] == weight.shape[-1]:
        return block
    if role == ".weight_scale_inv":
        return block if block[0] > 1 else None
    size = group.declared.group
    if group.declared.method == "quark" and block[1] == 1 and block[0] == size and group.declared.bits == _BYTE:
        return 1, size
    if group.declared.bits is None or scale.shape[:-1] != weight.shape[:-1]:
        return None
    return (1, size) if size is not None and scale.shape[-1] == -(-weight.shape[-1] // size) else None


def _zero_point(group: Group, scale: Stored) -> bool:
    """One zero point for every scale, where there are any."""
    zero = group.tensors.get(".weight_zero_point")
    return zero is None or (zero.dtype in ("I8", "U8", "I32") and zero.elements == scale.elements)
