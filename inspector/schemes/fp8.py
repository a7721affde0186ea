"""FP8 weights with scales per tile, per channel or per tensor.

Layouts: `X.weight` F8_E4M3 [N, K] with `X.weight_scale_inv` (DeepSeek-V3, GLM: F32; Qwen3: BF16; MiniMax: U8 E8M0),
`X.scale` F8_E8M0 (DeepSeek-V4, V4.1), `X.weight_scale` (compressed-tensors, ModelOpt, FBGEMM, Quark),
`X.qscale_weight` (Mistral's own files) or `X.scale_weight` (ComfyUI); fused experts `gate_up_proj` with
`gate_up_proj_scale_inv`, `_weight_scale` or `_scale` (transformers' FBGEMM experts). The tile comes from the two
shapes, never from `weight_block_size`: V4.1 has 32x32 and 1x32 in one repo. Tiles of 1x32 under E8M0 are MXFP8.
Source: transformers `integrations/finegrained_fp8.py`, `fbgemm_fp8.py`; DeepSeek-V3 README_WEIGHTS.md.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import grid, told
from inspector.storing.companions import EXTRAS, extras
from inspector.storing.dtypes import FLOATS, FP8
from inspector.storing.packing import MX_SCALES, mx8

NAME = "fp8"
_SCALES: Final = (
    ".weight_scale_inv",
    ".weight_scale",
    ".scale",
    ".qscale_weight",
    ".scale_weight",
    "_scale_inv",
    "_weight_scale",
    "_weight_scale_inv",
    "_scale",
)
_PAYLOADS: Final = (".weight", "_weight", "")
ROLES = (".weight", "_weight", *_SCALES, ".weight_zero_point", *EXTRAS)
_OTHERS: Final = frozenset({"sdnq"})
"""Methods that have a scheme of their own for the same roles."""
_SCALE_DTYPES: Final = frozenset({"F32", "BF16", "F16", *MX_SCALES})


def recognise(group: Group) -> Claim | None:
    """An 8-bit float payload with exactly one scale tensor whose shape is a plausible grid over it."""
    payloads = [r for r in _PAYLOADS if r in group.tensors]
    scales = [r for r in _SCALES if r in group.tensors]
    if len(payloads) != 1 or len(scales) != 1:
        return None
    payload = payloads[0]
    weight, scale = group.tensors[payload], group.tensors[scales[0]]
    if weight.dtype not in FP8 or scale.dtype not in _SCALE_DTYPES or group.declared.method in _OTHERS:
        return None
    shape = plain(scale.shape, len(weight.shape))
    if scale.dtype in MX_SCALES and mx8(weight.shape, shape):
        return None
    block = grid(weight.shape, shape, _declared(group)) or _leading(weight.shape, shape)
    others = extras(group, weight.shape)
    if block is None or others is None:
        return None
    zero = group.tensors.get(".weight_zero_point")
    if zero is not None:
        if zero.elements != scale.elements:
            return None
        others = (".weight_zero_point", *others)
    name, bits = FLOATS[weight.dtype]
    return Claim(
        NAME,
        Precision(name, bits, block),
        weight.elements,
        (payload,),
        (scales[0], *others),
        shape=weight.shape,
        evidence=f"{told(group.tensors, payload, scales[0])}: one scale per {block[0]}x{block[1]}",
    )


def plain(scale: tuple[int, ...], dimensions: int) -> tuple[int, ...]:
    """A tile grid [n, 1, k, 1] as [n, k] (ModelOpt FP8_PB_WO keeps the axes that it reduced over)."""
    return scale[::2] if len(scale) == 2 * dimensions and all(d == 1 for d in scale[1::2]) else scale


def _leading(weight: tuple[int, ...], scale: tuple[int, ...]) -> tuple[int, int] | None:
    """One scale per output of a convolution [O, I, h, w], [O] or [O, 1, 1, 1]; or of experts [E, K, N], [E, N]."""
    if len(weight) == 3 and scale == (weight[0], weight[2]):
        return weight[1], 1
    if len(weight) < 3 or scale[:1] != weight[:1] or any(d != 1 for d in scale[1:]):
        return None
    columns = 1
    for d in weight[1:]:
        columns *= d
    return 1, columns


def _declared(group: Group) -> tuple[int, int] | None:
    size = group.declared.entry.get("weight_block_size")
    if isinstance(size, (list, tuple)) and len(size) == 2 and all(type(d) is int and d > 0 for d in size):
        return size[0], size[1]
    return None
