"""compressed-tensors `pack-quantized`: integers packed into I32 words along K.

`X.weight_packed` I32 [N, words], `X.weight_scale` [N, K/g] (or [N, 1], [1]), `X.weight_shape` [2], optional
`X.weight_zero_point` I32 [ceil(N b / 32), K/g] (packed along N) and `X.weight_g_idx` [K]. Words hold 32 // b values
each in files from before June 2026, and are dense since: words = ceil(K b / 32); the two differ for 3, 5, 6 and 7 bits.
Bits are those that fit every tensor; the config decides between several. 3-D groups of experts are alike.
Source: vllm-project/compressed-tensors `compressors/pack_quantized` and its change of 22 June 2026.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Note, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import SECOND_SCALES, extras
from inspector.storing.dtypes import WIDE

NAME = "compressed_tensors"
_WITNESSES: Final = (".weight_zero_point", ".weight_g_idx")
ROLES = (".weight_packed", ".weight_scale", ".weight_shape", *_WITNESSES, *SECOND_SCALES[:2])
_WORD: Final = 32


def recognise(group: Group) -> Claim | None:
    """Packed words for which exactly one width agrees with scales, witnesses and config."""
    packed, scale = group.tensors.get(".weight_packed"), group.tensors.get(".weight_scale")
    if packed is None or scale is None or packed.dtype != "I32" or len(packed.shape) < 2 or not packed.elements:
        return None
    if scale.dtype not in WIDE | {"F8_E4M3"} or not scale.elements or _halved(group):
        return None
    groups = _groups(packed, scale)
    if groups is None:
        return None
    fits = {b: k for b in range(1, 9) if (k := _columns(group, packed, groups, b)) is not None}
    said = group.declared.bits
    bits = said if said in fits else next(iter(fits), 0) if len(fits) == 1 and _proven(group, said) else 0
    if not bits:
        return None
    columns = fits[bits]
    shape = (*packed.shape[:-1], columns)
    others = extras(group, shape)
    if others is None:
        return None
    size = group.declared.group if group.declared.group and groups > 1 else -(-columns // groups)
    return Claim(
        NAME,
        Precision(f"{'u' if '.weight_zero_point' in group.tensors else ''}int{bits}", bits, (1, size)),
        packed.elements // packed.shape[-1] * columns,
        (".weight_packed",),
        (".weight_scale", *(r for r in (".weight_shape", *_WITNESSES) if r in group.tensors), *others),
        shape=shape,
        evidence=f"{told(group.tensors, '.weight_packed', '.weight_scale', *_WITNESSES)}: {bits} bits, "
        f"one scale per {size}",
        notes=_differs(group, bits),
    )


def _halved(group: Group) -> bool:
    """True where the config promises zero points and none are here: what would prove the width is missing."""
    return group.declared.entry.get("symmetric") is False and ".weight_zero_point" not in group.tensors


def _groups(packed: Stored, scale: Stored) -> int | None:
    """Scales along K; None where the scale's shape does not belong to the rows."""
    if scale.elements == 1 or scale.shape == packed.shape[:-1]:
        return 1
    return scale.shape[-1] if scale.shape[:-1] == packed.shape[:-1] else None


def _columns(group: Group, packed: Stored, groups: int, bits: int) -> int | None:
    """K for this width, if words, scales, zero points, g_idx and the declared group all agree on one."""
    words, size = packed.shape[-1], group.declared.group
    zero, index = (group.tensors.get(r) for r in _WITNESSES)
    if zero is not None and not _zero_point(zero, packed, groups, bits):
        return None
    if index is not None:
        columns = index.elements
    elif _WORD % bits == 0:
        columns = words * (_WORD // bits)
    elif size is not None:
        columns = size * groups
    else:
        return None
    if words not in (-(-columns * bits // _WORD), -(-columns // (_WORD // bits))):
        return None
    if groups == 1:
        return columns
    agree = columns % groups == 0 if size is None else -(-columns // size) == groups
    return columns if agree else None


def _zero_point(zero: Stored, packed: Stored, groups: int, bits: int) -> bool:
    """Zero points packed along N, or left as they are (one for each scale)."""
    rows = packed.shape[-2]
    if zero.dtype != "I32":
        return zero.shape[-1:] in ((groups,), ()) and zero.elements in (1, packed.elements // packed.shape[-1] * groups)
    return zero.shape == (*packed.shape[:-2], -(-rows * bits // _WORD), groups)


def _proven(group: Group, said: int | None) -> bool:
    """True where a single fitting width may stand without, or against, declared bits: a tensor must prove it."""
    zero, index = (group.tensors.get(r) for r in _WITNESSES)
    witness = (zero is not None and zero.dtype == "I32") or index is not None
    return witness or (said is None and group.declared.group is not None)


def _differs(group: Group, bits: int) -> tuple[Note, ...]:
    said = group.declared.bits
    if said in (None, bits):
        return ()
    words = f"{group.declared.where} says {said} bits, the shapes say {bits}; the shapes are believed"
    return (Note("config_contradicts_headers", words, group.base),)
