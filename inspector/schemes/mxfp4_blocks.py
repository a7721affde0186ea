"""MXFP4 as gpt-oss stores it: `X_blocks` U8 [E, N, K/32, 16] with `X_scales` U8 [E, N, K/32] (E8M0 bytes).

Sixteen bytes hold 32 E2M1 values. The maker's own files say `X.blocks` and `X.scales`.
Source: transformers `integrations/mxfp4.py`; openai/gpt-oss `torch/weights.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told

NAME = "mxfp4_blocks"
_PAIRS: Final = (("_blocks", "_scales"), (".blocks", ".scales"))
ROLES = ("_blocks", "_scales", ".blocks", ".scales")
_GROUP: Final = 32


def recognise(group: Group) -> Claim | None:
    """Blocks of 16 bytes, one scale byte for each."""
    pairs = [(p, s) for p, s in _PAIRS if p in group.tensors and s in group.tensors]
    if len(pairs) != 1:
        return None
    payload, role = pairs[0]
    blocks, scales = group.tensors[payload], group.tensors[role]
    if blocks.dtype != "U8" or scales.dtype not in ("U8", "F8_E8M0"):
        return None
    if len(blocks.shape) < 2 or blocks.shape[-1] != _GROUP // 2 or blocks.shape[:-1] != scales.shape:
        return None
    return Claim(
        NAME,
        Precision("fp4_e2m1", 4, (1, _GROUP)),
        2 * blocks.elements,
        (payload,),
        (role,),
        shape=(*blocks.shape[:-2], blocks.shape[-2] * _GROUP),
        evidence=f"{told(group.tensors, payload, role)}: 32 E2M1 in 16 bytes",
    )
