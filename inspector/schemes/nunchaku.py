"""Nunchaku: SVDQuant W4A4 and AWQ W4A16 for diffusion transformers.

svdq_w4a4: `X.qweight` I8 [N, K / 2], `X.wscales` [K / g, N] (BF16: int4, g 64; F8_E4M3: nvfp4, g 16),
`X.smooth_factor` [K], low-rank `X.proj_down` [K, r] and `X.proj_up` [N, r] (`smooth`, `lora_down`, `lora_up` in the
original), `wcscales`, `wtscale`. awq_w4a16: `X.qweight` I32 [N / 4, K / 2], `X.wscales` and `X.wzeros` [K / g, N].
The low-rank branch corrects the same weight, so it is overhead. Source: diffusers `quantizers/nunchaku/utils.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "nunchaku"
ROLES = (
    ".qweight",
    ".wscales",
    ".wzeros",
    ".wcscales",
    ".wtscale",
    ".smooth_factor",
    ".smooth_factor_orig",
    ".smooth",
    ".smooth_orig",
    ".proj_down",
    ".proj_up",
    ".lora_down",
    ".lora_up",
)
_INPUTS: Final = (".smooth_factor", ".smooth", ".proj_down", ".lora_down")
_OUTPUTS: Final = (".proj_up", ".lora_up", ".wcscales")
_SMALLEST: Final = 16


def recognise(group: Group) -> Claim | None:
    """Bytes or words whose N and K are those of the transposed scales."""
    weight, scales = group.tensors.get(".qweight"), group.tensors.get(".wscales")
    if weight is None or scales is None or foreign(group, ROLES):
        return None
    if len(weight.shape) != 2 or len(scales.shape) != 2 or not weight.elements or not scales.elements:
        return None
    zeros = group.tensors.get(".wzeros")
    columns = 2 * weight.shape[1]
    rows = weight.shape[0] * (4 if weight.dtype == "I32" else 1)
    name = _name(weight, scales, zeros)
    if name is None or scales.shape[1] != rows or columns % scales.shape[0]:
        return None
    size = columns // scales.shape[0]
    if size < _SMALLEST or not _sides(group, rows, columns):
        return None
    return Claim(
        NAME,
        Precision(name, 4, (1, size)),
        rows * columns,
        (".qweight",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: {rows} x {columns} values of 4 bits, one scale per {size}",
    )


def _name(weight: Stored, scales: Stored, zeros: Stored | None) -> str | None:
    if weight.dtype == "I32":
        return "uint4" if zeros is not None and zeros.shape == scales.shape and scales.dtype in WIDE else None
    if weight.dtype != "I8" or zeros is not None:
        return None
    return "fp4_e2m1" if scales.dtype == "F8_E4M3" else "int4" if scales.dtype in WIDE else None


def _sides(group: Group, rows: int, columns: int) -> bool:
    """Whether every factor of a side has that side's length first."""
    sides = [(r, columns) for r in _INPUTS] + [(r, rows) for r in _OUTPUTS]
    return all(group.tensors[r].shape[:1] == (n,) for r, n in sides if r in group.tensors)
