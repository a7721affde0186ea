"""SD.Next SDNQ: any integer or float width, packed to bytes without the weight's shape.

`X.weight` U8 (packed, 8 x bytes / bits values) or the plain dtype, `X.scale` [N, groups, 1] or [N, 1], `X.zero_point`
where unsigned, second-level scales, `X.svd_up` / `X.svd_down`. The width is the config's `weights_dtype` (a module's
own in `modules_dtype_dict`); the last dimension of 3-, 5-, 6- and 7-bit packing must agree, and every scale must
serve equally many values. Source: Disty0/sdnq `sdnq/quantizer.py`, `sdnq/packed_int/pack.py`.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from inspector.model import Claim, Group, Json, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import FLOATS, WIDE

NAME = "sdnq"
_SCALES: Final = (".scale", ".scale_2", ".scale_zero_point", ".zero_point", ".zero_point_scale", ".zero_point_2")
ROLES = (".weight", *_SCALES, ".svd_up", ".svd_down")
_INTEGER: Final = re.compile(r"u?int([1-8])$")
_FLOAT: Final = re.compile(r"float([2-8])_(e\d)(m\d)(fnu?)?$")
_LAST: Final = MappingProxyType({3: 3, 5: 5, 6: 3, 7: 7})
"""Bits -> bytes in which one run of values is packed, where that is the last stored dimension."""


def recognise(group: Group) -> Claim | None:
    """Bytes of the declared width, a whole number of them under every scale."""
    weight, scale = group.tensors.get(".weight"), group.tensors.get(".scale")
    if weight is None or scale is None or group.declared.method != NAME or foreign(group, ROLES):
        return None
    named = _width(group)
    if named is None or not weight.elements or not scale.elements or scale.dtype not in WIDE:
        return None
    name, bits = named
    values = _values(weight, name, bits)
    if values is None or values % scale.elements:
        return None
    if values == scale.elements or (len(scale.shape) > 1 and scale.shape[-1] != 1 and scale.shape[0] != 1):
        return None
    return Claim(
        NAME,
        Precision(name, bits, (1, values // scale.elements)),
        values,
        (".weight",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        evidence=f"{told(group.tensors, *ROLES)}: {values:,} values of {bits} bits (weights_dtype {name})",
    )


def _values(weight: Stored, name: str, bits: int) -> int | None:
    if weight.dtype in FLOATS:
        return weight.elements if FLOATS[weight.dtype][0] == name else None
    if bits == 8:
        return weight.elements if weight.dtype == ("U8" if name.startswith("u") else "I8") else None
    if weight.dtype != "U8" or (bits in _LAST and weight.shape[-1:] != (_LAST[bits],)) or (8 * weight.nbytes) % bits:
        return None
    return 8 * weight.nbytes // bits


def _width(group: Group) -> tuple[str, int] | None:
    """(precision name, bits) that the config gives this module."""
    word: Json = group.declared.entry.get("weights_dtype")
    own = group.declared.entry.get("modules_dtype_dict")
    for other, names in own.items() if isinstance(own, dict) else ():
        if isinstance(names, list) and any(n in (group.base, f"{group.base}.weight") for n in names):
            word = other
    if not isinstance(word, str):
        return None
    integer, real = _INTEGER.match(word), _FLOAT.match(word)
    if integer is not None:
        return word, int(integer[1])
    return (f"fp{real[1]}_{real[2]}{real[3]}", int(real[1])) if real is not None else None
