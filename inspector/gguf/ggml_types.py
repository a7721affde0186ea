"""GGML tensor types: what a type id in a GGUF file can mean, and the bytes that each meaning takes.

An own table, not the `gguf` package's: that one (0.19) lacks Q2_0 and the types of ik_llama.cpp and bitnet.cpp, and
forks give one id to different types. So an id has *readings*; the offsets in the file decide which one holds
(`inspector/formats/gguf.py`). Sources: ggml d99724f2 (`ggml.h`, `ggml-common.h`), ik_llama.cpp 8337e4cd, bitnet.cpp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple


class GgmlType(NamedTuple):
    """One way to store numbers: blocks of `block` elements in `size` bytes each, along the fastest dimension.

    `bits` is the nominal precision, the digit in the name. `row_meta` are extra bytes per row (ik_llama.cpp),
    `tensor_meta` per tensor (I2_S: one scale, padded to 32).
    """

    name: str
    block: int
    size: int
    bits: int
    row_meta: int = 0
    tensor_meta: int = 0

    def nbytes(self, ne: Sequence[int]) -> int | None:
        """Bytes of a tensor of `ne` (fastest dimension first); None where rows are no whole number of blocks."""
        blocks, rest = divmod(ne[0], self.block)
        if rest:
            return None
        rows = 1
        for n in ne[1:]:
            rows *= n
        return rows * (self.row_meta + blocks * self.size) + self.tensor_meta


_BITS: Final = re.compile(r"(?:Q|FP|^I|^F|^BF)(\d+)")

_MAINLINE: Final = """
    0 F32 1 4,        1 F16 1 2,         2 Q4_0 32 18,     3 Q4_1 32 20,     6 Q5_0 32 22,      7 Q5_1 32 24,
    8 Q8_0 32 34,     9 Q8_1 32 36,      10 Q2_K 256 84,   11 Q3_K 256 110,  12 Q4_K 256 144,   13 Q5_K 256 176,
    14 Q6_K 256 210,  15 Q8_K 256 292,   16 IQ2_XXS 256 66, 17 IQ2_XS 256 74, 18 IQ3_XXS 256 98, 19 IQ1_S 256 50,
    20 IQ4_NL 32 18,  21 IQ3_S 256 110,  22 IQ2_S 256 82,  23 IQ4_XS 256 136, 24 I8 1 1,         25 I16 1 2,
    26 I32 1 4,       27 I64 1 8,        28 F64 1 8,       29 IQ1_M 256 56,  30 BF16 1 2,       34 TQ1_0 256 54,
    35 TQ2_0 256 66,  39 MXFP4 32 17,    40 NVFP4 64 36,   41 Q1_0 128 18,   42 Q2_0 64 18
"""
"""id, name, elements per block, bytes per block."""

_REMOVED: Final = """
    31 Q4_0_4_4 32 18,      32 Q4_0_4_8 32 18,      33 Q4_0_8_8 32 18,
    36 IQ4_NL_4_4 32 18,    37 IQ4_NL_4_8 32 18,    38 IQ4_NL_8_8 32 18
"""
"""Repacked at run time since, and gone from mainline; 4 and 5 (Q4_2, Q4_3) went before there was GGUF."""

_IK: Final = """
    133 Q6_0 32 26,         134 IQ1_BN 64 13 2,     135 IQ2_BN 64 16 4,    137 IQ2_K 256 76,       138 IQ3_K 256 110,
    139 IQ4_K 256 144,      140 IQ5_K 256 176,      141 IQ6_K 256 212,     144 IQ4_KS 256 136 4,   145 IQ2_KS 256 70 2,
    146 IQ4_KSS 256 128 4,  152 IQ5_KS 256 168 4,   153 IQ2_KT 256 68 4,   154 IQ3_KT 256 100 4,   155 IQ4_KT 256 128 4,
    156 IQ3_KS 256 102 2,   157 IQ2_KL 256 86 2,    158 IQ1_KT 256 56 4,   202 Q4_0_R8 32 18,      206 Q5_0_R4 32 22,
    208 Q8_0_R8 32 34,      210 Q2_K_R4 256 84,     211 Q3_K_R4 256 110,   212 Q4_K_R4 256 144,    213 Q5_K_R4 256 176,
    214 Q6_K_R4 256 210,    216 IQ2_XXS_R4 256 66,  217 IQ2_XS_R4 256 74,  218 IQ3_XXS_R4 256 98,  219 IQ1_S_R4 32 6 2,
    220 IQ4_NL_R4 32 18,    221 IQ3_S_R4 256 110,   222 IQ2_S_R4 256 82,   223 IQ4_XS_R8 256 136,  229 IQ1_M_R4 32 7 2,
    230 BF16_R16 1 2,       233 Q6_0_R4 32 26,      335 IQ2_BN_R4 64 16 4, 337 IQ2_K_R4 256 76,    338 IQ3_K_R4 256 110,
    339 IQ4_K_R4 256 144,   340 IQ5_K_R4 256 176,   344 IQ4_KS_R4 256 136 4, 352 IQ5_KS_R4 256 168 4,
    353 MXFP4_R8 32 17,
    397 Q8_K_R16 256 258,   398 Q8_KV_R8 32 32 4,   399 Q8_K_R8 256 258,   136 Q8_K64 64 68,       151 Q8_KV 32 32 8
"""
"""The same with bytes per row as a fifth number."""

I2_S: Final = GgmlType("I2_S", 4, 1, 2, tensor_meta=32)
"""Ternary of bitnet.cpp and ik_llama.cpp: two bits each and one scale, numel / 4 + 32 bytes."""

_OLDER: Final = "9 Q8_1 32 40, 15 Q8_K 256 296"
"""Other sizes of two types that only exist at run time: Q8_1 before its scales became f16, ik_llama.cpp's Q8_K."""


def _rows(text: str) -> list[tuple[int, GgmlType]]:
    rows = []
    for entry in text.split(","):
        number, name, block, size, *meta = entry.split()
        found = _BITS.search(name)
        assert found is not None
        rows.append((int(number), GgmlType(name, int(block), int(size), int(found[1]), *map(int, meta))))
    return rows


def _readings() -> dict[int, tuple[GgmlType, ...]]:
    """Per id all known meanings, the likeliest first.

    A type with bytes per row gets a second reading without them: writers that count blocks only exist, and then the
    file's own offsets say so.
    """
    found: dict[int, list[GgmlType]] = {36: [I2_S]}
    for number, kind in (*_rows(_MAINLINE), *_rows(_IK), *_rows(_REMOVED), *_rows(_OLDER)):
        found.setdefault(number, []).append(kind)
        if kind.row_meta:
            found[number].append(kind._replace(row_meta=0))
    return {number: tuple(kinds) for number, kinds in sorted(found.items())}


READINGS: Final[Mapping[int, tuple[GgmlType, ...]]] = MappingProxyType(_readings())
"""Type id -> what it can mean."""

SETTLED: Final = frozenset(n for n, _ in _rows(_MAINLINE)) - {9, 15, 39, 41, 42}
"""Ids that no fork is known to use otherwise: a size that does not fit the offsets is a fault of the file.

39 is TL2 in bitnet.cpp, 41 and 42 are TurboQuant and others in private forks, 9 and 15 have had two sizes.
"""

PLAIN: Final = frozenset({"F32", "F16", "F64", "BF16", "I8", "I16", "I32", "I64"})
"""Types without blocks; safetensors has the same names for them."""

QUANTS: Final[Mapping[str, GgmlType]] = MappingProxyType(
    {kind.name: kind for kinds in READINGS.values() for kind in reversed(kinds) if kind.name not in PLAIN}
)
"""Name -> quantised type (and BF16_R16, which is bf16 in another order)."""


def unknown_name(number: int) -> str:
    """The storage dtype of a tensor whose type id has no reading that fits: 'type 187'."""
    return f"type {number}"
