"""HIGGS: pairs of weights as indices into a lattice, packed for the FLUTE kernels.

`X.weight` I16 [N b / 16, K], `X.scales` [N, K / g], `X.tables` [2^b], `X.tables2` [2^b, 2^b, 2]. The tables give the
bits, the scales N; K is the width, padded to the Hadamard size. Source: transformers `integrations/higgs.py`
(`HiggsLinear`).
"""

from __future__ import annotations

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "higgs"
ROLES = (".weight", ".scales", ".tables", ".tables2")


def recognise(group: Group) -> Claim | None:
    """Words whose rows, for the table's bits, are those of the scales."""
    weight, scales, table = (group.tensors.get(r) for r in ROLES[:3])
    if weight is None or scales is None or table is None or weight.dtype != "I16":
        return None
    if len(weight.shape) != 2 or len(scales.shape) != 2 or foreign(group, ROLES):
        return None
    bits = table.elements.bit_length() - 1
    rows, columns = scales.shape[0], weight.shape[1]
    if bits not in (2, 3, 4) or table.elements != 1 << bits or 16 * weight.shape[0] != rows * bits:
        return None
    if scales.dtype not in WIDE or not scales.elements or columns % scales.shape[1]:
        return None
    size = columns // scales.shape[1]
    return Claim(
        NAME,
        Precision(f"vq@{float(bits)}", float(bits), (1, size)),
        rows * columns,
        (".weight",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: {bits} bits, one scale per {size}",
    )
