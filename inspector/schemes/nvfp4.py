"""NVFP4: two E2M1 values per byte along K, one F8_E4M3 scale per 16, one wide scale for the matrix or expert.

ModelOpt: `X.weight` U8 [N, K/2], `X.weight_scale` [N, K/16], `X.weight_scale_2` (scalar, or [E] for fused experts,
whose `gate_up_proj` [E, K/2, N] is transposed); NVFP4_AWQ adds `pre_quant_scale` [K], NVFP4_SVD `svdquant_lora_a/b`.
compressed-tensors: `X.weight_packed` with `X.weight_global_scale` (the reciprocal). Embeddings too. ComfyUI and BFL
pad the grid to tiles of 128x4. Bytes under E4M3 scales at 8 to one have no other known reading; the wide scale is
not needed to tell. Source: ModelOpt `qtensor/nvfp4_tensor.py`; compressed-tensors `compressors/nvfp4`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import extras
from inspector.storing.packing import axis, logical, padded

NAME = "nvfp4"
_PAIRS: Final = (
    (".weight", ".weight_scale"),
    (".weight_packed", ".weight_scale"),
    ("_weight", "_weight_scale"),
    ("", "_weight_scale"),
)
ROLES = (".weight", "_weight", ".weight_packed", ".weight_scale", "_weight_scale")
_GROUP: Final = 16
_PER_SCALE: Final = _GROUP // 2


def recognise(group: Group) -> Claim | None:
    """Bytes of which eight share an E4M3 scale."""
    pairs = [(p, s) for p, s in _PAIRS if p in group.tensors and s in group.tensors]
    if len(pairs) != 1 or ".weight_zero_point" in group.tensors:
        return None
    payload, role = pairs[0]
    weight, scale = group.tensors[payload], group.tensors[role]
    if weight.dtype != "U8" or scale.dtype != "F8_E4M3":
        return None
    at = axis(weight.shape, scale.shape, _PER_SCALE)
    if at is None:
        if not padded(weight.shape, scale.shape, _PER_SCALE):
            return None
        at = -1
    shape = logical(weight.shape, at, 2)
    others = extras(group, shape)
    if others is None:
        return None
    return Claim(
        NAME,
        Precision("fp4_e2m1", 4, (1, _GROUP)),
        2 * weight.elements,
        (payload,),
        (role, *others),
        shape=shape,
        evidence=f"{told(group.tensors, payload, role, *others)}: two E2M1 per byte, one E4M3 scale per {_GROUP}",
    )
