"""compressed-tensors `pack-quantized`: integers packed into I32 words along K.

`X.weight_packed` I32 [N, words], `X.weight_scale` [N, K/group] (or [N, 1], [1]), `X.weight_shape` [2], optional
`X.weight_zero_point` and `X.weight_g_idx`. Bits are the config's; shapes hold them to account: for group g,
words = ceil(g x groups x bits / 32). Source: vllm-project/compressed-tensors `compressors/pack_quantized`.
"""

from __future__ import annotations

from inspector.model import Claim, Group, Precision, Stored

NAME = "compressed_tensors"
ROLES = (".weight_packed", ".weight_scale", ".weight_shape", ".weight_zero_point", ".weight_g_idx")
_WORD = 32


def recognise(group: Group) -> Claim | None:
    """Packed words whose scales and declared bits agree on K."""
    packed, scale = group.tensors.get(".weight_packed"), group.tensors.get(".weight_scale")
    bits = group.declared.bits
    if packed is None or scale is None or packed.dtype != "I32" or len(packed.shape) < 2:
        return None
    if bits is None or not 1 <= bits <= 8 or scale.shape[:-1] not in (packed.shape[:-1], ()):
        return None
    columns = _columns(packed, scale, bits, group)
    if columns is None:
        return None
    rows = 1
    for d in packed.shape[:-1]:
        rows *= d
    size = columns // scale.shape[-1] if scale.shape and scale.shape[-1] > 1 else columns
    others = tuple(r for r in ROLES[1:] if r in group.tensors)
    sign = "u" if ".weight_zero_point" in group.tensors else ""
    return Claim(
        NAME,
        Precision(f"{sign}int{bits}", bits, (1, size)),
        rows * columns,
        (".weight_packed",),
        others,
        shape=(*packed.shape[:-1], columns),
        evidence=f"weight_packed I32 {list(packed.shape)} with weight_scale {scale.dtype} {list(scale.shape)}: "
        f"{bits} bits, one scale per {size}",
    )


def _columns(packed: Stored, scale: Stored, bits: int, group: Group) -> int | None:
    """K of the weight, if words, scales and the declared group agree on one; None otherwise."""
    words, groups = packed.shape[-1], scale.shape[-1] if scale.shape else 1
    size = group.declared.group
    if _WORD % bits == 0:
        columns = words * (_WORD // bits)
        if groups == 1 or (size is None and columns % groups == 0):
            return columns
        return columns if size is not None and size > 0 and -(-columns // size) == groups else None
    if groups == 1 or size is None or size <= 0:
        return None
    columns = size * groups
    return columns if words in (-(-columns * bits // _WORD), -(-columns // (_WORD // bits))) else None
