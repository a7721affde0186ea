"""compressed-tensors `marlin-24`: 2:4 sparse integers in the layout of the sparse Marlin kernel.

`X.weight_packed` I32 [K/32, 16 N b / 32] (tiles of 16 over the K/2 values that are kept), `X.scale_packed` [K/g, N],
`X.meta` I16 [K/32, 2 N]: one bit of `meta` per logical weight. N, K and bits all follow from the shapes. Parameters
are the dense count, zeros included. Source: vLLM `gptq_marlin_24.py`; compressed-tensors `marlin_24.py` (removed).
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import block_of, told
from inspector.storing.dtypes import WIDE

NAME = "marlin_24"
ROLES = (".weight_packed", ".scale_packed", ".meta")
_TILE: Final = 32
_PER_META: Final = 16
"""Logical weights that one I16 of `meta` speaks of."""


def recognise(group: Group) -> Claim | None:
    """Words, scales and sparsity metadata that agree on N and K."""
    packed, scale, meta = (group.tensors.get(r) for r in ROLES)
    if packed is None or scale is None or meta is None or (packed.dtype, meta.dtype) != ("I32", "I16"):
        return None
    if scale.dtype not in WIDE or not len(packed.shape) == len(scale.shape) == len(meta.shape) == 2:
        return None
    columns, rows = _TILE * packed.shape[0], scale.shape[1]
    if meta.elements * _PER_META != rows * columns or not packed.elements:
        return None
    bits = next((b for b in (4, 8) if 2 * packed.shape[1] == b * rows), None)
    size = block_of(columns, scale.shape[0], group.declared.group)
    if bits is None or size is None:
        return None
    return Claim(
        NAME,
        Precision(f"int{bits}", bits, (1, size)),
        rows * columns,
        (".weight_packed",),
        ROLES[1:],
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: 2:4 sparse, {bits} bits for each of two in four",
    )
