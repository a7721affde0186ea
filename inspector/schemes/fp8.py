"""FP8 weights with scales per tile, per channel or per tensor.

Layouts: `X.weight` F8_E4M3 [N, K] with `X.weight_scale_inv` (DeepSeek-V3, GLM: F32; Qwen3: BF16; MiniMax: U8 E8M0)
or `X.scale` F8_E8M0 (DeepSeek-V4, V4.1); fused experts `gate_up_proj` with `gate_up_proj_scale_inv`. The tile comes
from the two shapes, never from `weight_block_size`: V4.1 has 32x32 and 1x32 in one repo.
Source: transformers `integrations/finegrained_fp8.py`; DeepSeek-V3 README_WEIGHTS.md.
"""

from __future__ import annotations

from inspector.blocks import grid
from inspector.dtypes import FLOATS, FP8
from inspector.model import Claim, Group, Precision

NAME = "fp8"
ROLES = (".weight", ".weight_scale_inv", ".scale", "_scale_inv", ".weight_scale")
_SCALES = ROLES[1:]
_SCALE_DTYPES = frozenset({"F32", "BF16", "F16", "F8_E8M0", "U8"})


def recognise(group: Group) -> Claim | None:
    """An 8-bit float payload with exactly one scale tensor whose shape is a plausible grid over it."""
    payload = ".weight" if ".weight" in group.tensors else "" if "" in group.tensors else None
    scales = [r for r in _SCALES if r in group.tensors]
    if payload is None or len(scales) != 1:
        return None
    weight, scale = group.tensors[payload], group.tensors[scales[0]]
    if weight.dtype not in FP8 or scale.dtype not in _SCALE_DTYPES:
        return None
    block = grid(weight.shape, scale.shape, _declared(group))
    if block is None:
        return None
    name, bits = FLOATS[weight.dtype]
    return Claim(
        NAME,
        Precision(name, bits, block),
        weight.elements,
        (payload,),
        (scales[0],),
        shape=weight.shape,
        evidence=f"{weight.dtype} {list(weight.shape)} with {scales[0]} {scale.dtype} {list(scale.shape)}: "
        f"one scale per {block[0]}x{block[1]}",
    )


def _declared(group: Group) -> tuple[int, int] | None:
    size = group.declared.entry.get("weight_block_size")
    if isinstance(size, (list, tuple)) and len(size) == 2 and all(type(d) is int and d > 0 for d in size):
        return size[0], size[1]
    return None
