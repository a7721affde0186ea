"""What the name of a GGUF file says: the quant's label, the part of a split, a raw piece, a companion of the quants.

Names: ggml `docs/gguf.md` (naming convention, "not intended to be perfectly parsable"); the label is the last match, as
in huggingface.js `packages/gguf`. `general.type` and `general.architecture` of a header, where one was read, rule over
the name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from inspector.gguf.ggml_types import PLAIN, QUANTS
from inspector.gguf.gguf_keys import FILE_TYPES
from inspector.model import Json
from inspector.records import dataclass

_NAMES: Final = sorted({*FILE_TYPES.values(), *QUANTS, *PLAIN, "FP16", "FP32"} - {"I8", "I16", "I32", "I64"})
# Patterns as text: a run that meets no GGUF file compiles none of them.
_LABEL: Final = (
    rf"(?<![A-Z0-9])(?:UD-)?(?:{'|'.join(sorted(_NAMES, key=lambda n: -len(n)))})"
    r"(?:_R\d+|_G\d+)?(?:_MOE|_[XSML]{1,3}|_[A-Z]{1,2}(?![A-Z0-9]))?(?![A-Z0-9])"
)
_SPLIT: Final = r"(?i)^(?P<stem>.+?)[-_.](?P<number>\d{5,6})-of-(?P<count>\d{5,6})\.gguf$"
_PIECE: Final = r"(?i)^(?P<stem>.+?)\.gguf(?:\.part(?P<number>\d{1,4})of(?P<count>\d{1,4})|-split-(?P<letter>[a-z]))$"
_COMPANIONS: Final = (
    ("multimodal projector (mmproj)", r"(^|[-_.])mmproj([-_.]|$)"),
    ("calibration data (imatrix)", r"^imatrix|[-_.]imatrix(\.gguf|\.dat)?$"),
    ("draft model (MTP)", r"^(mtp|draft)[-_]"),
    ("vocabulary only", r"^ggml-vocab-|[-_.]vocab\.gguf$"),
    ("LoRA adapter", r"^(ggml-)?lora[-_.]|[-_.]lora([-_.](f16|f32|bf16|q8_0))?\.gguf$"),
)
_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "adapter": "LoRA adapter",
        "imatrix": "calibration data (imatrix)",
        "mmproj": "multimodal projector (mmproj)",
        "vocab": "vocabulary only",
    }
)


@dataclass(frozen=True, slots=True)
class Name:
    """A GGUF file's name taken apart.

    `stem` is the name without suffix and part number, `number` of `of` its place (None for a file that stands
    alone; `of` None where the name does not say), `piece` true for a raw piece of a file, which only makes sense
    joined.
    """

    stem: str
    number: int | None = None
    of: int | None = None
    piece: bool = False


def taken_apart(name: str) -> Name:
    """The stem and the place of a file's name (without folder)."""
    if "gguf" not in name.lower():
        return Name(name)
    found = re.match(_SPLIT, name)
    if found is not None:
        return Name(found["stem"], int(found["number"]), int(found["count"]))
    found = re.match(_PIECE, name)
    if found is not None:
        if found["letter"]:
            return Name(found["stem"], ord(found["letter"].lower()) - ord("a") + 1, None, True)
        return Name(found["stem"], int(found["number"]), int(found["count"]), True)
    return Name(re.sub(r"\.gguf$", "", name, flags=re.IGNORECASE))


def label(stem: str, folder: str = "") -> str | None:
    """The quant's label (`Q4_K_M`, `UD-Q2_K_XL`, `MXFP4_MOE`): the last one in the stem, else in the folder's name."""
    for text in (stem, folder.rpartition("/")[2]):
        found = re.findall(_LABEL, text.upper())
        if found:
            return str(found[-1])
    return None


def base(stem: str) -> str:
    """The stem without its label: the same for all quants of one model."""
    found = list(re.finditer(_LABEL, stem.upper()))
    if not found or len(stem.upper()) != len(stem):
        return stem
    return (stem[: found[-1].start()] + stem[found[-1].end() :]).strip("-_.")


def companion(name: str) -> str | None:
    """What a file is beside the quants, by its name; None for weights of the model itself."""
    lowered = name.lower()
    found = next((kind for kind, pattern in _COMPANIONS if re.search(pattern, lowered)), None)
    # A model that was quantised with an importance matrix may say so in its name.
    return None if found == "calibration data (imatrix)" and lowered[:7] != "imatrix" and label(name) else found


def companion_by_header(metadata: Mapping[str, Json]) -> str | None:
    """The same by its header: `general.type`, architecture `clip`, `adapter.type`."""
    if metadata.get("general.architecture") == "clip":
        return _TYPES["mmproj"]
    if "adapter.type" in metadata:
        return _TYPES["adapter"]
    kind = metadata.get("general.type")
    return _TYPES.get(kind) if isinstance(kind, str) else None
