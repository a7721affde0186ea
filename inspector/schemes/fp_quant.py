"""FP-Quant: E2M1 pairs in bytes with rotations, MXFP4 or NVFP4.

`X.qweight` U8 [N, K / 2], `X.scales` U8 [N, K / 32] (mxfp4) or [N, K / 16] (nvfp4), global scales and two Hadamard
matrices. `X.weight` and `X.dqweight` are empty, or the weight in full: beside `qweight` a master copy, which is not a
second parameter; alone the pseudo-quantised weight itself. Source: IST-DASLab/FP-Quant `fp_quant/module/linear.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Note, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import FLOATS, WIDE

NAME = "fp_quant"
_COPIES: Final = (".weight", ".dqweight")
_OTHERS: Final = (
    ".scales",
    ".weight_global_scale",
    ".act_global_scale",
    ".forward_hadamard_matrix",
    ".backward_hadamard_matrix",
)
ROLES = (".qweight", *_COPIES, *_OTHERS)
_SCALES: Final = frozenset({"U8", "F8_E8M0", "F8_E4M3"})


def recognise(group: Group) -> Claim | None:
    """Bytes with 16 or 32 values under a scale byte, or the full weight of a pseudo-quantised module."""
    weight, scales = _stored(group, ".qweight"), _stored(group, ".scales")
    if foreign(group, ROLES):
        return None
    if weight is None and scales is None:
        return _pseudo(group)
    if weight is None or scales is None or weight.dtype != "U8" or scales.dtype not in _SCALES:
        return None
    if len(weight.shape) != 2 or len(scales.shape) != 2 or weight.shape[0] != scales.shape[0]:
        return None
    columns = 2 * weight.shape[1]
    size = next((g for g in (32, 16) if columns == g * scales.shape[1]), None)
    copies = [c for c in _COPIES if _stored(group, c) is not None]
    if size is None or any(group.tensors[c].shape != (weight.shape[0], columns) for c in copies):
        return None
    notes = [Note("master_weights", "the full weight is stored beside the packed one", group.base + c) for c in copies]
    return Claim(
        NAME,
        Precision("fp4_e2m1", 4, (1, size)),
        weight.shape[0] * columns,
        (".qweight",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(weight.shape[0], columns),
        evidence=f"{told(group.tensors, '.qweight', '.scales')}: two E2M1 per byte, one scale per {size}",
        notes=tuple(notes),
    )


def _pseudo(group: Group) -> Claim | None:
    copies = [c for c in _COPIES if _stored(group, c) is not None]
    marked = group.tensors.keys() & {".dqweight", *_OTHERS[3:]}
    if len(copies) != 1 or not marked or group.tensors[copies[0]].dtype not in WIDE:
        return None
    weight = group.tensors[copies[0]]
    name, bits = FLOATS[weight.dtype]
    return Claim(
        NAME,
        Precision(name, bits),
        weight.elements,
        (copies[0],),
        tuple(r for r in ROLES if r in group.tensors and r != copies[0]),
        shape=weight.shape,
        evidence=f"{told(group.tensors, copies[0])}: not packed, the quantised copy is empty or not stored",
    )


def _stored(group: Group, role: str) -> Stored | None:
    tensor = group.tensors.get(role)
    return tensor if tensor is not None and tensor.elements else None
