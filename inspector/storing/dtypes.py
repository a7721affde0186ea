"""Storage dtypes: bits per element and, for floats, the precision they are.

The 22 names are those of the reference implementation (safetensors 0.8.0, `safetensors/src/tensor.rs`). Aliases are
other spellings met in headers on the Hub; the reference rejects them, so their size is not held to the shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

BITS: Final[Mapping[str, int]] = MappingProxyType(
    {
        "BOOL": 8,
        "F4": 4,
        "F6_E2M3": 6,
        "F6_E3M2": 6,
        "U8": 8,
        "I8": 8,
        "F8_E5M2": 8,
        "F8_E4M3": 8,
        "F8_E8M0": 8,
        "F8_E4M3FNUZ": 8,
        "F8_E5M2FNUZ": 8,
        "I16": 16,
        "U16": 16,
        "F16": 16,
        "BF16": 16,
        "I32": 32,
        "U32": 32,
        "F32": 32,
        "C64": 64,
        "F64": 64,
        "I64": 64,
        "U64": 64,
    }
)
"""Bits per element of the logical shape (F4 and F6 shapes count elements, not bytes)."""

ALIASES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "FP4": "F4",
        "F4_E2M1": "F4",
        "E8M0": "F8_E8M0",
        "UE8": "F8_E8M0",
        "UE8M0": "F8_E8M0",
        "F8_E8M0FNU": "F8_E8M0",
        "F8_E4M3FN": "F8_E4M3",
        "FP8_E4M3": "F8_E4M3",
        "FP8_E5M2": "F8_E5M2",
        "FP16": "F16",
        "FP32": "F32",
        "FP64": "F64",
        "INT8": "I8",
        "UINT8": "U8",
        "INT32": "I32",
        "UINT32": "U32",
        "INT64": "I64",
    }
)
"""Other spellings -> the reference's name."""

FLOATS: Final[Mapping[str, tuple[str, float]]] = MappingProxyType(
    {
        "F64": ("f64", 64),
        "F32": ("f32", 32),
        "F16": ("f16", 16),
        "BF16": ("bf16", 16),
        "C64": ("c64", 64),
        "F8_E4M3": ("fp8_e4m3", 8),
        "F8_E5M2": ("fp8_e5m2", 8),
        "F8_E4M3FNUZ": ("fp8_e4m3fnuz", 8),
        "F8_E5M2FNUZ": ("fp8_e5m2fnuz", 8),
        "F6_E2M3": ("fp6_e2m3", 6),
        "F6_E3M2": ("fp6_e3m2", 6),
        "F4": ("fp4_e2m1", 4),
    }
)
"""Dtypes whose elements are numbers by themselves: (precision name, nominal bits). F8_E8M0 is a scale, never one."""

WIDE: Final = frozenset({"F64", "F32", "F16", "BF16", "C64"})
"""Floats of 16 bits and more: unquantised storage."""

FP8: Final = frozenset({"F8_E4M3", "F8_E5M2", "F8_E4M3FNUZ", "F8_E5M2FNUZ"})
"""8-bit floats that carry a significand."""


def canonical(dtype: str) -> str:
    """The reference's name of a dtype, or the spelling itself where none is known."""
    return ALIASES.get(dtype, dtype)
