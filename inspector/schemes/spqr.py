"""SpQR: 3-bit weights with their scales in 64-bit words, and outliers apart.

`X.dense_weights` I64 [tiles x 16]: a word holds the 16 weights of one row of a 16 x 16 tile with their two
statistics; `X.row_offsets`, `X.col_vals` (outliers), `X.in_perm` I16 [K] or empty. Only bits 3 and tiles of 16 x 16
exist (transformers `SpQRConfig` refuses others), so weights = words x 16. Source: spqr_quant `inference.py`
(`_calculate_weight_buffer_size`); transformers `integrations/spqr.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import foreign

NAME = "spqr"
ROLES = (".dense_weights", ".row_offsets", ".col_vals", ".in_perm")
_TILE: Final = 16
_SIZES: Final = (("bits", 3), ("beta1", _TILE), ("beta2", _TILE))


def recognise(group: Group) -> Claim | None:
    """Words by whole tiles; K from the permutation where there is one."""
    words, offsets, outliers = (group.tensors.get(r) for r in ROLES[:3])
    if words is None or offsets is None or outliers is None or foreign(group, ROLES):
        return None
    if words.dtype != "I64" or len(words.shape) != 1 or not words.elements or words.elements % _TILE:
        return None
    if any(group.declared.entry.get(key, value) != value for key, value in _SIZES):
        return None
    weights = _TILE * words.elements
    order = group.tensors.get(".in_perm")
    shape = None
    if order is not None and order.elements:
        if order.elements % _TILE or weights % (_TILE * order.elements):
            return None
        shape = weights // order.elements, order.elements
    return Claim(
        NAME,
        Precision("uint3", 3, (1, _TILE)),
        weights,
        (".dense_weights",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=shape,
        evidence=f"{told(group.tensors, *ROLES)}: 16 weights of 3 bits with scale and zero in every word",
    )
