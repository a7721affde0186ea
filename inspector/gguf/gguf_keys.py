"""What GGUF's metadata keys claim: the file type and its label, how many layers are the main model's.

`general.file_type` is `llama_ftype` (llama.cpp `include/llama.h`; ids from 135 are ik_llama.cpp's, 00a929e8): advisory,
"mostly". What rules is the histogram of tensor types; `disagreement` says where a label is not what most bytes are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from inspector.gguf.ggml_types import PLAIN, QUANTS
from inspector.model import Json, Note

_LABELS: Final = """
    0 F32, 1 F16, 2 Q4_0, 3 Q4_1, 4 Q4_1_SOME_F16, 5 Q4_2, 6 Q4_3, 7 Q8_0, 8 Q5_0, 9 Q5_1, 10 Q2_K, 11 Q3_K_S,
    12 Q3_K_M, 13 Q3_K_L, 14 Q4_K_S, 15 Q4_K_M, 16 Q5_K_S, 17 Q5_K_M, 18 Q6_K, 19 IQ2_XXS, 20 IQ2_XS, 21 Q2_K_S,
    22 IQ3_XS, 23 IQ3_XXS, 24 IQ1_S, 25 IQ4_NL, 26 IQ3_S, 27 IQ3_M, 28 IQ2_S, 29 IQ2_M, 30 IQ4_XS, 31 IQ1_M, 32 BF16,
    33 Q4_0_4_4, 34 Q4_0_4_8, 35 Q4_0_8_8, 36 TQ1_0, 37 TQ2_0, 38 MXFP4_MOE, 39 NVFP4, 40 Q1_0, 41 Q2_0,
    135 Q6_0, 136 IQ1_BN, 137 IQ2_BN, 138 IQ2_K, 139 IQ3_K, 140 IQ4_K, 141 IQ5_K, 142 IQ6_K, 145 IQ4_KS, 146 IQ3_KL,
    147 IQ2_KS, 148 IQ4_KSS, 149 Q8_KV, 150 IQ5_KS, 151 IQ2_KT, 152 IQ3_KT, 153 IQ4_KT, 154 IQ3_KS, 155 IQ2_KL,
    156 IQ1_KT, 202 Q4_0_R8, 207 Q8_0_R8, 208 Q5_0_R4, 210 Q2_K_R4, 211 Q3_K_R4, 214 Q4_K_R4, 216 Q5_K_R4, 218 Q6_K_R4,
    219 IQ2_XXS_R4, 220 IQ2_XS_R4, 223 IQ3_XXS_R4, 224 IQ1_S_R4, 225 IQ4_NL_R4, 226 IQ3_S_R4, 229 IQ2_M_R4,
    230 IQ4_XS_R8, 231 IQ1_M_R4, 232 BF16_R16, 335 Q6_0_R4, 337 IQ2_BN_R4, 338 IQ2_K_R4, 339 IQ3_K_R4, 340 IQ4_K_R4,
    341 IQ5_K_R4, 345 IQ4_KS_R4, 350 IQ5_KS_R4, 398 Q8_KV_R8, 399 Q8_K_R8
"""

FILE_TYPES: Final[Mapping[int, str]] = MappingProxyType(
    {int(number): label for number, label in (entry.split() for entry in _LABELS.split(","))}
)
"""`llama_ftype` -> label. 41 is Q2_0 in llama.cpp and Q1_0_G128 in ik_llama.cpp."""

_GUESSED: Final = 1024
"""Flag: not stated in the file the quantiser read."""

_MOSTLY: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        "IQ3_XS": frozenset({"IQ3_S", "IQ3_XXS"}),
        "IQ3_M": frozenset({"IQ3_S"}),
        "IQ2_S": frozenset({"IQ2_XS", "IQ2_S"}),
        "IQ2_M": frozenset({"IQ2_S"}),
        "IQ2_M_R4": frozenset({"IQ2_S_R4"}),
        "IQ3_KL": frozenset({"IQ3_K", "IQ4_K"}),
        "Q4_1_SOME_F16": frozenset({"Q4_1"}),
        "Q2_0": frozenset({"Q2_0", "Q1_0"}),
    }
)
"""Labels that do not begin with the type they are made of (`llama-quant.cpp`, default type per file type)."""


def file_type(metadata: Mapping[str, Json]) -> str | None:
    """The label that `general.file_type` stands for; None where it is absent or of no known type."""
    value = metadata.get("general.file_type")
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return FILE_TYPES.get(value & ~_GUESSED)


def types_of(label: str) -> frozenset[str]:
    """The tensor types that a label (`Q4_K_M`, `UD-Q2_K_XL`, `MXFP4`) promises most bytes in; empty if unknown."""
    label = label.upper().removeprefix("UD-")
    if label in _MOSTLY:
        return _MOSTLY[label]
    names = [n for n in (*QUANTS, *PLAIN) if label == n or label.startswith(n + "_")]
    return frozenset({max(names, key=len)}) if names else frozenset()


def disagreement(label: str, said_by: str, by_type: Mapping[str, int]) -> Note | None:
    """A note where most bytes are of another type than a label says; None where they agree, or nobody can tell.

    `said_by` is where the label stands (`general.file_type`, a file name); `by_type` is bytes per tensor type of the
    whole set, all its parts together.
    """
    expected, total = types_of(label), sum(by_type.values())
    if not expected or not total:
        return None
    ordered = sorted(by_type.items(), key=lambda item: -item[1])
    if ordered[0][0] in expected:
        return None
    shares = ", ".join(f"{100 * size / total:.0f} % {name}" for name, size in ordered[:3])
    return Note("file_type_disagrees", f"called {label} by {said_by}; by bytes it is {shares}", said_by)


def main_layers(metadata: Mapping[str, Json]) -> int | None:
    """Layers of the main model: `block_count` less `nextn_predict_layers` (MTP); None where it is not stated.

    Tensors of `blk.N` with N at or past it are draft layers.
    """
    architecture = metadata.get("general.architecture")
    count = metadata.get(f"{architecture}.block_count")
    draft = metadata.get(f"{architecture}.nextn_predict_layers", 0)
    if not isinstance(count, int) or not isinstance(draft, int) or not 0 <= draft < count:
        return None
    return count - draft
