"""EETQ: `X.weight` I8 [K, N] (transposed) with `X.weight_scales` F16 [N], one scale per output.

Source: transformers `integrations/eetq.py` (`EetqLinear`).
"""

from __future__ import annotations

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.dtypes import WIDE

NAME = "eetq"
ROLES = (".weight", ".weight_scales")


def recognise(group: Group) -> Claim | None:
    """Bytes with a scale for each column."""
    weight, scales = group.tensors.get(".weight"), group.tensors.get(".weight_scales")
    if weight is None or scales is None or weight.dtype != "I8" or len(weight.shape) != 2:
        return None
    if scales.dtype not in WIDE or scales.shape != weight.shape[1:]:
        return None
    columns, rows = weight.shape
    return Claim(
        NAME,
        Precision("int8", 8, (1, columns)),
        rows * columns,
        (".weight",),
        (".weight_scales",),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: transposed, one scale per output",
    )
