"""MXFP8: E4M3 or E5M2 elements, one E8M0 scale per 32 along K, stored as F8_E8M0 or as its byte (U8).

`X.weight` F8 [N, K] with `X.weight_scale_inv` or `X.weight_scale` U8 [N, K/32] (MiniMax-M3, compressed-tensors
`mxfp8-quantized`, ModelOpt MXFP8) or `X.scale` F8_E8M0 (Engram tables of DeepSeek-V4.1); ComfyUI pads the grid to
tiles of 128x4. Source: OCP Microscaling Formats v1.0; ModelOpt `qtensor/mxfp8_tensor.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import extras
from inspector.storing.dtypes import FLOATS
from inspector.storing.packing import MX, MX_SCALES, mx8

NAME = "mxfp8"
_PAYLOADS: Final = (".weight", "_weight", "")
_SCALES: Final = (
    ".weight_scale_inv",
    ".weight_scale",
    ".scale",
    "_scale_inv",
    "_weight_scale",
    "_weight_scale_inv",
    "_scale",
)
ROLES = (".weight", "_weight", *_SCALES)


def recognise(group: Group) -> Claim | None:
    """OCP FP8 elements with one E8M0 byte for every 32 of a row."""
    payloads = [r for r in _PAYLOADS if r in group.tensors]
    scales = [r for r in _SCALES if r in group.tensors]
    if len(payloads) != 1 or len(scales) != 1:
        return None
    payload = payloads[0]
    weight, scale = group.tensors[payload], group.tensors[scales[0]]
    if weight.dtype not in ("F8_E4M3", "F8_E5M2"):
        return None
    others = extras(group, weight.shape)
    if scale.dtype not in MX_SCALES or not mx8(weight.shape, scale.shape) or others is None:
        return None
    name, bits = FLOATS[weight.dtype]
    return Claim(
        NAME,
        Precision(name, bits, (1, MX)),
        weight.elements,
        (payload,),
        (scales[0], *others),
        shape=weight.shape,
        evidence=f"{told(group.tensors, payload, scales[0])}: one E8M0 scale per {MX}",
    )
