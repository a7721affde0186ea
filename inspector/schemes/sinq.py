"""SINQ: HQQ's regrouping with a second scale for the columns, meta tensors under `.meta.`.

`X.W_q` [rows, g] with `X.meta.scale` and `X.meta.zero` for R = N K / g groups, `X.meta.scale2` over K. U8 holds 8 / b
values in a byte (rows = R b / 8); I32 holds ten of 3 bits, six of 5, five of 6. Other meta stands in a JSON file
beside the shards. Source: huawei-csl/SINQ `sinq/quantizer.py`, `sinq/bitpack.py`, `sinq/dual_shift.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "sinq"
ROLES = (".W_q", ".meta.scale", ".meta.zero", ".meta.scale2", ".meta.awq_scale")
_PER_WORD: Final = ((3, 10), (5, 6), (6, 5))


def recognise(group: Group) -> Claim | None:
    """Groups counted by their scales; bits from dtype and rows."""
    weight, scale = group.tensors.get(".W_q"), group.tensors.get(".meta.scale")
    if weight is None or scale is None or foreign(group, ROLES):
        return None
    if len(weight.shape) != 2 or not weight.elements or scale.dtype not in WIDE or scale.elements < 2:
        return None
    if scale.shape[-1] != 1:
        return None
    bits = _bits(weight, scale.elements)
    if bits is None:
        return None
    zero, size = group.tensors.get(".meta.zero"), weight.shape[1]
    if zero is not None and zero.elements not in (1, scale.elements):
        return None
    second = group.tensors.get(".meta.scale2")
    if second is not None and second.elements > 1 and second.elements % size:
        return None
    return Claim(
        NAME,
        Precision(f"uint{bits}" if zero is not None else f"int{bits}", bits, (1, size)),
        scale.elements * size,
        (".W_q",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        evidence=f"{told(group.tensors, *ROLES)}: {scale.elements} groups of {size}, {bits} bits",
    )


def _bits(weight: Stored, groups: int) -> int | None:
    rows = weight.shape[0]
    if weight.dtype == "U8":
        fits = [b for b in (8, 4, 2, 1) if 8 * rows == b * groups]
    elif weight.dtype == "I32":
        fits = [b for b, n in _PER_WORD if rows == -(-groups // n)]
    else:
        fits = []
    return fits[0] if len(fits) == 1 else None
