"""HQQ: the weight regrouped to [values / g, g] and packed along its first dimension.

`X.W_q` U8 [R / (8 / b), g] with `X.scale` and `X.zero` [R, 1] for R = N K / g groups (axis 1); 3 bits are ten to an
I32 word; 5 and 6 bits take a byte each. Axis 0 is [g, R] with scales [1, R]. `view_as_float` stores the same bytes
under a float dtype. Meta keys (`nbits`, `shape`, ...) are tensors. Source: mobiusml/hqq `core/quantize.py`,
`core/bitpack.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "hqq"
_META: Final = (
    ".nbits",
    ".group_size",
    ".shape",
    ".axis",
    ".packing",
    ".unpack_view_dtype",
    ".view_as_float",
    ".quant_scale",
    ".quant_zero",
    ".compute_dtype",
    ".offload_meta",
    ".encoded_state_dict",
    ".stores_quant_config",
    ".channel_wise",
    ".optimize",
    ".round_zero",
)
ROLES = (".W_q", ".scale", ".zero", *_META)
_WHOLE_BYTE: Final = (5, 6, 8)


def recognise(group: Group) -> Claim | None:
    """Groups counted by their scales; bits from how many rows hold them."""
    weight, scale, zero = (group.tensors.get(r) for r in ROLES[:3])
    if weight is None or scale is None or zero is None or foreign(group, ROLES):
        return None
    if weight.dtype not in ("U8", "I32", *WIDE) or len(weight.shape) != 2 or not weight.elements:
        return None
    if scale.dtype not in WIDE or len(scale.shape) != 2 or zero.elements not in (1, scale.elements):
        return None
    found = None
    if scale.shape[1] == 1 and scale.elements > 1:
        found = _rows(weight, scale.elements, group.declared.bits)
    elif scale.shape[0] == 1 and scale.elements > 1:
        found = _columns(weight, scale.elements, group.declared.bits, group.declared.group)
    if found is None:
        return None
    bits, size = found
    return Claim(
        NAME,
        Precision(f"uint{bits}", bits, (1, size)),
        scale.elements * size,
        (".W_q",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        evidence=f"{told(group.tensors, *ROLES[:3])}: {scale.elements} groups of {size}, {bits} bits",
    )


def _rows(weight: Stored, groups: int, declared: int | None) -> tuple[int, int] | None:
    """(bits, group) with one row per group before packing."""
    rows = weight.shape[0]
    width = weight.nbytes // rows
    fits = [(b, width) for b in (8, 4, 2, 1) if 8 * rows == b * groups and weight.dtype != "I32"]
    if rows == -(-groups // 10) and width % 4 == 0 and weight.dtype != "U8":
        fits.append((3, width // 4))
    if len(fits) != 1:
        return None
    bits, size = fits[0]
    if bits == 8:
        return (declared, size) if declared in _WHOLE_BYTE else None
    return bits, size


def _columns(weight: Stored, groups: int, bits: int | None, size: int | None) -> tuple[int, int] | None:
    """(bits, group) as declared, if the packed rows of groups stored as columns agree."""
    rows, width = weight.shape[0], weight.nbytes // weight.shape[0]
    if bits is None or size is None:
        return None
    if bits == 3:
        return (bits, size) if rows == -(-size // 10) and width == 4 * groups else None
    stored = 8 if bits in _WHOLE_BYTE else bits
    return (bits, size) if bits in (1, 2, 4, *_WHOLE_BYTE) and 8 * rows == size * stored and width == groups else None
