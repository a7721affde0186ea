"""AMD Quark's weights in bytes whose width only the config can say: int2, int3, FP4 or FP6 under wide scales.

`X.weight` U8 [N, K b / 8] (int2: four to a byte; int3: eight to three bytes) with `X.weight_scale` [N, K/g], [N] or
one; integers in groups have the scale transposed, [K/g, N], and uint2 the weight too, [K, N/4]. The legacy `mx`
dtype has its E8M0 scales inlined and no companion: U8 [N, 17 K / 32] holds 32 FP4 values and their scale in 17
bytes, [N, 25 K / 32] 32 FP6 values in 25. The divisibility holds the config to account.
Source: amd-quark 0.13 `torch/utils/pack.py`, `torch/export/nn/modules/realquantizer.py`.
"""

from __future__ import annotations

import re
from typing import Final

from inspector.model import Claim, Group, Json, Precision, Stored
from inspector.storing.blocks import block_of, told
from inspector.storing.companions import extras, weight_entry
from inspector.storing.dtypes import WIDE
from inspector.storing.packing import MX

NAME = "quark_bytes"
ROLES = (".weight", ".weight_scale", ".weight_zero_point")
_DTYPE: Final = re.compile(r"(u?int|fp|float)([2-68])(?:_(e\dm\d))?$")
_FLOATS: Final = {4: "fp4_e2m1", 6: "fp6_e2m3"}
_INLINED: Final = {4: 17, 6: 25}
"""Element bits -> bytes of 32 elements with their scale."""


def recognise(group: Group) -> Claim | None:
    """Declared bytes under plausible scales, or legacy blocks with the scale inside."""
    weight = group.tensors.get(".weight")
    if weight is None or weight.dtype != "U8" or group.declared.method != "quark" or not weight.elements:
        return None
    scale = group.tensors.get(".weight_scale")
    if scale is None:
        return _inlined(group, weight) if len(group.tensors) == 1 else None
    named = _named(weight_entry(group.declared).get("dtype"))
    if named is None or scale.dtype not in WIDE or len(weight.shape) < 2:
        return None
    name, bits = named
    columns, rest = divmod(8 * weight.shape[-1], bits)
    found = None if rest else _oriented((*weight.shape[:-1], columns), scale, group.declared.group)
    if found is None:
        return None
    shape, size = found
    others, zero = extras(group, shape), group.tensors.get(".weight_zero_point")
    if others is None or (zero is not None and zero.elements not in (scale.elements, scale.elements * bits // 8)):
        return None
    others = (*(() if zero is None else (".weight_zero_point",)), *others)
    return Claim(
        NAME,
        Precision(name, bits, (1, size)),
        8 * weight.elements // bits,
        (".weight",),
        (".weight_scale", *others),
        shape=shape,
        evidence=f"{told(group.tensors, *ROLES)}: {bits} bits a value (dtype {name}), one scale per {size}",
    )


def _oriented(shape: tuple[int, ...], scale: Stored, said: int | None) -> tuple[tuple[int, ...], int] | None:
    """(logical [..., N, K], group) for unpacked `shape`, whichever of weight and scale is transposed."""
    if scale.elements == 1 or scale.shape in (shape[:-1], (*shape[:-1], 1)):
        return shape, shape[-1]
    fits = [(shape, scale.shape[-1])] if scale.shape[:-1] == shape[:-1] else []
    if len(shape) == len(scale.shape) == 2:
        fits += [(shape, scale.shape[0])] if scale.shape[1] == shape[0] else []
        fits += [(shape[::-1], scale.shape[0])] if scale.shape[1] == shape[1] else []
    sized = [(s, block_of(s[-1], groups, said)) for s, groups in fits]
    return next(((s, size) for s, size in sized if size is not None and said in (None, size)), None)


def _inlined(group: Group, weight: Stored) -> Claim | None:
    entry = weight_entry(group.declared)
    if entry.get("dtype") != "mx":
        return None
    element = _named(entry.get("mx_element_dtype"))
    fits = [b for b, size in _INLINED.items() if weight.shape and weight.shape[-1] % size == 0]
    if element is not None:
        fits = [b for b in fits if b == element[1]]
    if len(fits) != 1:
        return None
    bits = fits[0]
    blocks = weight.elements // _INLINED[bits]
    return Claim(
        NAME,
        Precision(element[0] if element is not None else _FLOATS[bits], bits, (1, MX)),
        MX * blocks,
        (".weight",),
        shape=(*weight.shape[:-1], weight.shape[-1] // _INLINED[bits] * MX),
        evidence=f"{told(group.tensors, '.weight')}: 32 values with their scale in {_INLINED[bits]} bytes (dtype mx)",
    )


def _named(dtype: Json) -> tuple[str, int] | None:
    """`int3` -> ("int3", 3), `fp6_e3m2` -> ("fp6_e3m2", 6); None for what takes no whole number of bits of bytes."""
    found = _DTYPE.match(dtype) if isinstance(dtype, str) else None
    if found is None:
        return None
    bits = int(found[2])
    if "int" in found[1]:
        return f"{found[1]}{bits}", bits
    return (f"fp{bits}_{found[3]}", bits) if found[3] else (_FLOATS[bits], bits) if bits in _FLOATS else None
