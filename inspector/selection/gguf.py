"""Repos of GGUF quants: one set per folder, stem and label; companions (mmproj, imatrix) apart."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from inspector.errors import UsageError
from inspector.model import Excluded, File, Json, Note, Part, Selection, Variant
from inspector.picking import missing
from inspector.sets import WeightSet, weight_sets
from inspector.weights import weight_format

_COMPANION = re.compile(
    r"(^|/)(mmproj|imatrix|ggml-vocab)[^/]*$|(^|/)mtp-[^/]*$|[-.](mmproj|imatrix)[-.][^/]*$|[-.](lora|vocab)\.gguf$",
    re.IGNORECASE,
)
_DEFAULT = "Q4_K_M"


def choose(
    files: Sequence[File], documents: Mapping[str, Json], variant: str | None, path: str | None
) -> Selection | None:
    """The menu of sets with Q4_K_M (else the first) as default; None where there is no GGUF."""
    ggufs = [f for f in files if weight_format(f.path) == "gguf"]
    main = [f for f in ggufs if not _COMPANION.search(f.path)]
    main = main or [f for f in ggufs if f.name.lower().endswith(".gguf")]
    if not main:
        return None
    folders: dict[str, list[File]] = {}
    for file in main:
        folders.setdefault(file.folder, []).append(file)
    sets = [s for folder, weights in sorted(folders.items()) for s in weight_sets(folder, weights, ())]
    sets.sort(key=lambda s: s.label)
    chosen = _find(sets, variant or _DEFAULT)
    if variant is None and (chosen is None or chosen.missing):
        chosen = chosen if chosen is not None and all(s.missing for s in sets) else _complete(sets)
    if chosen is None:
        names = ", ".join(s.label for s in sets)
        raise UsageError("--variant", f"{variant!r} is not in this repo", f"There are: {names}")
    menu = tuple(Variant(s.label, s.files, s.label == chosen.label) for s in sets) if len(sets) > 1 else ()
    excluded = tuple(
        Excluded(
            f.path, f.size, "companion of every quant" if _COMPANION.search(f.path) else "another quant of the menu"
        )
        for f in ggufs
        if f not in chosen.files
    )
    note = Note("format_not_read", "GGUF headers are not read yet: file bytes are known, tensors are not")
    notes = (*missing(chosen), note)
    return Selection("gguf", chosen.label, (Part(chosen.folder, chosen.files),), excluded, (), menu=menu, notes=notes)


def _find(sets: Sequence[WeightSet], label: str) -> WeightSet | None:
    """The set called `label` in full, or whose name ends in it as a word (in any case, `UD-` last)."""
    exact = [s for s in sets if label in (s.label, s.stem)]
    ending = [s for s in sets if re.search(rf"(^|[-._/]){re.escape(label)}$", s.label, re.IGNORECASE)]
    plain = [s for s in ending if not re.search(rf"UD-{re.escape(label)}$", s.label, re.IGNORECASE)]
    return next(iter(exact or plain or ending), None)


def _complete(sets: Sequence[WeightSet]) -> WeightSet:
    return next((s for s in sets if not s.missing), sets[0])
