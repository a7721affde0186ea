"""BitNet b1.58, packed offline: `X.weight` U8 [N / 4, K], four ternary values of different rows in a byte.

`X.weight_scale` is one number for the matrix. That a byte holds four values is said by the config alone
(`quant_method` "bitnet"); bytes with one scale are not read without it. Nominal precision is log2(3) bits, stored 2.
Source: transformers `integrations/bitnet.py` (`pack_weights`, VALUES_PER_ITEM = 4).
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "bitnet"
ROLES = (".weight", ".weight_scale")
_PER_BYTE: Final = 4
_NOMINAL: Final = 1.58


def recognise(group: Group) -> Claim | None:
    """Declared bytes under one scale."""
    weight, scale = group.tensors.get(".weight"), group.tensors.get(".weight_scale")
    if weight is None or scale is None or group.declared.method != NAME or foreign(group, ROLES):
        return None
    if weight.dtype != "U8" or len(weight.shape) != 2 or scale.dtype not in WIDE or scale.elements != 1:
        return None
    rows, columns = _PER_BYTE * weight.shape[0], weight.shape[1]
    return Claim(
        NAME,
        Precision("ternary", _NOMINAL, (rows, columns)),
        rows * columns,
        (".weight",),
        (".weight_scale",),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: four ternary values per byte (quant_method bitnet)",
    )
