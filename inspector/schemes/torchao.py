"""torchao: the inner tensors of its weight classes, named `X._weight_qdata`, `X._weight_scale`, ...

The class and its attributes stand in the header's metadata under the weight's name. Int4Tensor U8 [N, K / 2] with
scale [K / g, N]; Int4PlainInt32Tensor I32 [N, K / 8]; Int4TilePackedTo4dTensor I32 [N / 8, K / 128, 32, 4], padded,
so N and K are the metadata's `shape`; IntxUnpackedToInt8Tensor one value of `target_dtype` per I8; Int8Tensor;
Float8Tensor; NVFP4Tensor and MXTensor, scales perhaps padded to 128 x 4 tiles. Source: torchao
`prototype/safetensors/safetensors_support.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import product
from math import prod
from types import MappingProxyType
from typing import Final

from inspector.model import Claim, Group, Json, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import FLOATS, FP8, WIDE

NAME = "torchao"
_WEIGHTS: Final = ("weight", "gate_up_proj", "down_proj", "w1", "w2", "w3", "in_proj_weight")
_PARTS: Final = (
    "_qdata",
    "_scale",
    "_zero_point",
    "_scale_and_zero",
    "_per_tensor_scale",
    "_act_per_tensor_scale",
    "_act_pre_scale",
    "_act_quant_scale",
    "_act_quant_zero_point",
)
ROLES = tuple(f"._{w}{p}" for w, p in product(_WEIGHTS, _PARTS))
_INTEGER: Final = re.compile(r"int([1-8])$")
_BYTES: Final = MappingProxyType({"U8": 2, "F4": 1})
_INT4: Final = MappingProxyType({"U8": 2, "I32": 8})
Found = tuple[Precision, tuple[int, ...]]


def recognise(group: Group) -> Claim | None:
    """The one class whose shapes and, where they cannot say, metadata fit."""
    names = [w for w in _WEIGHTS if f"._{w}_qdata" in group.tensors]
    if len(names) != 1 or foreign(group, [f"._{names[0]}{p}" for p in _PARTS]):
        return None
    own = {p: group.tensors[r] for p in _PARTS if (r := f"._{names[0]}{p}") in group.tensors}
    data = own["_qdata"]
    kind, attributes = _metadata(group, names[0])
    found = _class(own, data, kind, attributes) if data.elements else None
    if found is None:
        return None
    precision, shape = found
    payload = f"._{names[0]}_qdata"
    return Claim(
        NAME,
        precision,
        prod(shape),
        (payload,),
        tuple(r for r in group.tensors if r != payload),
        shape=shape,
        evidence=f"{told(group.tensors, *group.tensors)}: {kind or 'by shapes'}, {precision.bits} bits each",
    )


def _metadata(group: Group, name: str) -> tuple[str | None, Mapping[str, Json]]:
    """(class, attributes) of the weight in the header's metadata."""
    for found in (group.declared.entry, group.metadata.get(f"{group.base}.{name}")):
        if isinstance(found, Mapping) and str(found.get("_type")).endswith("Tensor"):
            data = found.get("_data")
            return found["_type"], data if isinstance(data, dict) else {}
    return None, {}


def _class(own: Mapping[str, Stored], data: Stored, kind: str | None, attributes: Mapping[str, Json]) -> Found | None:
    if data.dtype == "I32" and len(data.shape) == 4:
        return _tiles(own, data, kind, attributes)
    scale = own.get("_scale")
    if scale is None or not scale.elements or len(data.shape) < 2:
        return None
    if data.dtype == "I8":
        return _bytes(data, scale, kind, attributes)
    if data.dtype in FP8:
        name, bits = FLOATS[data.dtype]
        wanted = ("MXTensor",) if scale.dtype == "F8_E8M0" else ("Float8Tensor",)
        block = _micro(data.shape, scale, 32) if scale.dtype == "F8_E8M0" else _even(data.shape, scale.shape)
        return None if block is None or kind not in (None, *wanted) else (Precision(name, bits, block), data.shape)
    if data.dtype in _BYTES and scale.dtype in ("F8_E4M3", "F8_E8M0"):
        shape = (*data.shape[:-1], _BYTES[data.dtype] * data.shape[-1])
        size, wanted = (16, ("NVFP4Tensor",)) if scale.dtype == "F8_E4M3" else (32, ("MXTensor",))
        block = _micro(shape, scale, size)
        return None if block is None or kind not in (None, *wanted) else (Precision("fp4_e2m1", 4, block), shape)
    each = _INT4.get(data.dtype)
    if each is None or scale.dtype not in WIDE or kind not in (None, "Int4Tensor", "Int4PlainInt32Tensor"):
        return None
    shape = (*data.shape[:-1], each * data.shape[-1])
    if len(scale.shape) != len(shape) or scale.shape[-1] != shape[-2] or scale.shape[:-2] != shape[:-2]:
        return None
    size, rest = divmod(shape[-1], scale.shape[-2])
    said = attributes.get("shape")
    if rest or size < 8 or (isinstance(said, list) and tuple(said) != shape):
        return None
    return Precision("int4", 4, (1, size)), shape


def _tiles(own: Mapping[str, Stored], data: Stored, kind: str | None, attributes: Mapping[str, Json]) -> Found | None:
    """Padded to 8 outputs and 1024 inputs: the true sizes are the metadata's."""
    said, both = attributes.get("shape"), own.get("_scale_and_zero")
    if kind != "Int4TilePackedTo4dTensor" or both is None or not isinstance(said, list) or len(said) != 2:
        return None
    if not all(type(d) is int and d > 0 for d in said) or data.shape[2] != 32:
        return None
    padded = 8 * data.shape[0], 32 * data.shape[1] * data.shape[3]
    if padded != (-(-said[0] // 8) * 8, -(-said[1] // 1024) * 1024):
        return None
    if len(both.shape) != 3 or both.shape[2] != 2 or both.shape[1] != padded[0] or padded[1] % both.shape[0]:
        return None
    return Precision("int4", 4, (1, padded[1] // both.shape[0])), (said[0], said[1])


def _bytes(data: Stored, scale: Stored, kind: str | None, attributes: Mapping[str, Json]) -> Found | None:
    block = _even(data.shape, scale.shape)
    if block is None:
        return None
    if kind == "Int8Tensor":
        return Precision("int8", 8, block), data.shape
    target = attributes.get("target_dtype")
    word = target.get("_data") if isinstance(target, dict) else target
    width = _INTEGER.search(word) if isinstance(word, str) else None
    if kind != "IntxUnpackedToInt8Tensor" or width is None:
        return None
    return Precision(f"int{width[1]}", int(width[1]), block), data.shape


def _even(shape: tuple[int, ...], scale: tuple[int, ...]) -> tuple[int, int] | None:
    """(rows, columns) under one scale of a grid that divides the shape; one scale for all; one per row."""
    if prod(scale) == 1:
        return shape[-2], shape[-1]
    if scale == shape[:-1]:
        return 1, shape[-1]
    if len(scale) != len(shape) or any(not s or w % s for w, s in zip(shape, scale, strict=True)):
        return None
    return shape[-2] // scale[-2], shape[-1] // scale[-1]


def _micro(shape: tuple[int, ...], scale: Stored, size: int) -> tuple[int, int] | None:
    """(1, size) if there is one scale for every `size` values of a row, plain or in padded tiles of 128 x 4."""
    lead, rows, blocks = prod(shape[:-2]), shape[-2], -(-shape[-1] // size)
    tiles = lead * (-(-rows // 128) * 128) * (-(-blocks // 4) * 4)
    return (1, size) if shape[-1] % size == 0 and scale.elements in (lead * rows * blocks, tiles) else None
