"""MXFP4 as gpt-oss stores it: `X_blocks` U8 [E, N, K/32, 16] with `X_scales` U8 [E, N, K/32] (E8M0 bytes).

Sixteen bytes hold 32 E2M1 values. Source: transformers `integrations/mxfp4.py`; openai/gpt-oss `torch/weights.py`.
"""

from __future__ import annotations

from inspector.model import Claim, Group, Precision

NAME = "mxfp4_blocks"
ROLES = ("_blocks", "_scales")
_GROUP = 32


def recognise(group: Group) -> Claim | None:
    """Blocks of 16 bytes, one scale byte for each."""
    blocks, scales = group.tensors.get("_blocks"), group.tensors.get("_scales")
    if blocks is None or scales is None or (blocks.dtype, scales.dtype) != ("U8", "U8"):
        return None
    if blocks.shape[-1:] != (_GROUP // 2,) or blocks.shape[:-1] != scales.shape:
        return None
    return Claim(
        NAME,
        Precision("fp4_e2m1", 4, (1, _GROUP)),
        2 * blocks.elements,
        ("_blocks",),
        ("_scales",),
        shape=(*blocks.shape[:-2], blocks.shape[-2] * _GROUP) if len(blocks.shape) > 1 else None,
        evidence=f"_blocks U8 {list(blocks.shape)} with _scales U8 {list(scales.shape)}: 32 E2M1 in 16 bytes",
    )
