"""Weights in the block types of GGML: the storage dtype names the layout, the scales are inside the blocks.

So weight bytes are all bytes of the tensor. NVFP4 keeps a second scale apart (F32, one per tensor or expert, left out
where it is 1.0): `X.scale` and `X.input_scale` beside `X.weight`, from some writers `X.weight.scale`; BitNet's ternary
weights have `X.scale` too. Plain floats of GGUF are read by the `dense` scheme, lookup tables by `buffers`.
"""

from __future__ import annotations

import math
from typing import Final

from inspector.gguf.ggml_types import QUANTS, GgmlType
from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.dtypes import WIDE

NAME = "ggml"
ROLES = (".weight", ".scale", ".input_scale", ".weight.scale", ".weight.input_scale")
_SCALES: Final = frozenset(ROLES) - {".weight"}


def recognise(group: Group) -> Claim | None:
    """One tensor of a GGML block type, alone or with its per-tensor or per-expert scales."""
    payload = [r for r in ("", ".weight") if r in group.tensors and group.tensors[r].dtype in QUANTS]
    if len(payload) != 1:
        return None
    weight = group.tensors[payload[0]]
    overhead = tuple(r for r, t in group.tensors.items() if r in _SCALES and _scale(t, weight))
    if len(payload) + len(overhead) != len(group.tensors):
        return None
    kind = QUANTS[weight.dtype]
    beside = f" with {', '.join(sorted(overhead))} beside it" if overhead else ""
    return Claim(
        NAME,
        _precision(kind, weight.shape),
        weight.elements,
        (payload[0],),
        overhead,
        shape=weight.shape,
        evidence=f"{weight.dtype} {list(weight.shape)}: blocks of {kind.block} in {kind.size} bytes{beside}",
    )


def _scale(tensor: Stored, weight: Stored) -> bool:
    """One float for the tensor, or one for each of its experts (or, in BitNet, rows)."""
    return tensor.dtype in WIDE and tensor.elements in (1, weight.shape[0])


def _precision(kind: GgmlType, shape: tuple[int, ...]) -> Precision:
    if kind.bits == 16:
        return Precision("bf16", 16)
    whole = kind.tensor_meta > 0
    return Precision(kind.name, kind.bits, (math.prod(shape[:-1]), shape[-1]) if whole else (1, kind.block))
