"""GPTQ: integers packed along K into words, one column of words per output.

`X.qweight` [ceil(K b / w), N] in words of w bits (I32; I16 and I8 with `pack_dtype`), `X.scales` [ceil(K / g), N],
`X.qzeros` [ceil(K / g), ceil(N b / w)] (v1 and v2 differ in values only), `X.g_idx` I32 [K]. Packing is continuous:
32 three-bit values fill 3 words; `gptq_p` reorders bits inside the same words. AutoRound's `auto_gptq` packing is the
same without `g_idx`. Source: ModelCloud/GPTQModel `nn_modules/qlinear/__init__.py` (`_register_gptq_buffers`) and
`utils/planar_packing.py`; K is a multiple of 32 there, which is what makes K exact where `g_idx` is not stored.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Declared, Group, Precision, Stored
from inspector.storing.blocks import block_of, told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import BITS, WIDE

NAME = "gptq"
ROLES = (".qweight", ".scales", ".qzeros", ".g_idx")
_WORDS: Final = frozenset({"I32", "I16", "I8"})
_SMALLEST: Final = 16
_DECLARED_BY: Final = frozenset({"gptq", "auto-round"})


def recognise(group: Group) -> Claim | None:
    """Words with scales of the same width; K from `g_idx`, bits from words or zero points, config last."""
    weight, scales = group.tensors.get(".qweight"), group.tensors.get(".scales")
    if weight is None or scales is None or foreign(group, ROLES):
        return None
    if weight.dtype not in _WORDS or scales.dtype not in WIDE or len(weight.shape) != 2 or len(scales.shape) != 2:
        return None
    if weight.shape[1] != scales.shape[1] or not weight.elements or not scales.elements:
        return None
    zeros, index = _stored(group, ".qzeros"), _stored(group, ".g_idx")
    if zeros is not None and (zeros.dtype not in _WORDS or zeros.shape[:-1] != scales.shape[:1]):
        return None
    if index is not None and (len(index.shape) != 1 or index.dtype not in ("I32", "I64")):
        return None
    found = _size(weight, scales, zeros, index, group.declared)
    if found is None:
        return None
    columns, bits = found
    size = block_of(columns, scales.shape[0], group.declared.group)
    if size is None or size < min(_SMALLEST, columns):
        return None
    rows = weight.shape[1]
    return Claim(
        NAME,
        Precision(f"uint{bits}" if zeros is not None else f"int{bits}", bits, (1, size)),
        rows * columns,
        (".qweight",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: {columns} values of {bits} bits in {weight.shape[0]} words",
    )


def _size(
    weight: Stored, scales: Stored, zeros: Stored | None, index: Stored | None, declared: Declared
) -> tuple[int, int] | None:
    """(K, bits) if exactly one pair fits the stored shapes."""
    word, (words, rows) = BITS[weight.dtype], weight.shape
    bits = [b for b in range(2, 9) if zeros is None or zeros.shape[1] == -(-rows * b // word)]
    if index is not None:
        fits = [(index.elements, b) for b in bits if words == -(-index.elements * b // word)]
        return fits[0] if len(fits) == 1 else None
    if zeros is None:
        bits = [b for b in bits if b == declared.bits and declared.method in _DECLARED_BY]
    fits = [(words * word // b, b) for b in bits if words * word % (32 * b) == 0]
    if len(fits) != 1:
        return None
    columns, groups = fits[0][0], scales.shape[0]
    if zeros is None and groups != (1 if declared.group is None else -(-columns // declared.group)):
        return None
    return fits[0]


def _stored(group: Group, role: str) -> Stored | None:
    """A companion that is there and not empty: some exports keep a zero-size `g_idx`."""
    tensor = group.tensors.get(role)
    return tensor if tensor is not None and tensor.elements else None
