"""MLX: values packed along K into U32 words, embeddings and fused experts included.

`X.weight` U32 [..., N, K b / 32] with `X.scales` [..., N, K / g] and, when affine, `X.biases` (`X.qbiases` in
transformers' "metal" method). mxfp4, mxfp8 and nvfp4 have U8 scales and no biases, and 128, 256 and 64 bits to a
scale, which tells them apart. Affine bits and group come from the module's entry of `quantization`; without one only
where a single pair (bits, group) gives the stored bits per scale. Source: ml-explore/mlx `mlx/ops.cpp` (`quantize`),
mlx-lm `utils.py`.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "mlx"
ROLES = (".weight", ".scales", ".biases", ".qbiases", ".global_scale")
_MODES: Final = MappingProxyType({64: ("fp4_e2m1", 4, 16), 128: ("fp4_e2m1", 4, 32), 256: ("fp8_e4m3", 8, 32)})
"""Bits per scale -> (precision, bits, group) of the modes whose scale is a byte."""
_AFFINE: Final = tuple((b, g) for b in (2, 3, 4, 5, 6, 8) for g in (32, 64, 128))
_WORD: Final = 32


def recognise(group: Group) -> Claim | None:
    """Words whose bits per scale are those of one mode."""
    weight, scales = group.tensors.get(".weight"), group.tensors.get(".scales")
    if weight is None or scales is None or weight.dtype != "U32" or foreign(group, ROLES):
        return None
    if len(weight.shape) < 2 or weight.shape[:-1] != scales.shape[:-1] or not weight.elements or not scales.shape[-1]:
        return None
    each, rest = divmod(_WORD * weight.shape[-1], scales.shape[-1])
    found = None if rest else _fp(group, each) if scales.dtype == "U8" else _affine(group, each)
    if found is None:
        return None
    name, bits, size = found
    columns = size * scales.shape[-1]
    return Claim(
        NAME,
        Precision(name, bits, (1, size)),
        weight.elements // weight.shape[-1] * columns,
        (".weight",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(*weight.shape[:-1], columns),
        evidence=f"{told(group.tensors, *ROLES)}: {each} bits per scale, {bits} bits in groups of {size}",
    )


def _fp(group: Group, each: int) -> tuple[str, int, int] | None:
    return None if group.tensors.keys() & {".biases", ".qbiases"} else _MODES.get(each)


def _affine(group: Group, each: int) -> tuple[str, int, int] | None:
    scales = group.tensors[".scales"]
    biases = [group.tensors[r] for r in (".biases", ".qbiases") if r in group.tensors]
    if scales.dtype not in WIDE or len(biases) != 1 or biases[0].shape != scales.shape or biases[0].dtype not in WIDE:
        return None
    fits = [(b, g) for b, g in _AFFINE if b * g == each]
    said = group.declared.bits, group.declared.group
    if group.declared.entry.get("mode", "affine") != "affine" or said not in fits:
        said = fits[0] if len(fits) == 1 else (None, None)
    bits, size = said
    return None if bits is None or size is None else (f"uint{bits}", bits, size)
