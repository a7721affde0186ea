"""Repos of GGUF quants: the menu of sets, the one that `llama-cli -hf` would take, companions beside them.

Default: Q4_K_M, else the first complete set by path (llama.cpp `common/arg.cpp`, `-hf <user>/<model>[:quant]`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

from inspector.errors import UsageError
from inspector.gguf.quant_names import companion, taken_apart
from inspector.gguf.quants import Quant, find, gather
from inspector.model import ALL, Excluded, File, Json, Note, Part, Selection, Variant

_DEFAULT: Final = "Q4_K_M"


def choose(
    files: Sequence[File], documents: Mapping[str, Json], variant: str | None, path: str | None
) -> Selection | None:
    """The menu with the set asked for, else the default; None where there is no GGUF, or `path` is something else.

    `documents` may hold the metadata of headers by their files' paths. Raises `UsageError` for a variant that is not
    there, listing those that are.
    """
    sets, beside = gather(files, documents)
    if path is not None:
        return _by_path(files, sets, beside, path)
    if not sets:
        return None
    default = _default(sets)
    chosen = default
    if variant is not None and variant.lower() != ALL:
        chosen = find(sets, variant) or _companion(files, beside, variant) or _refuse(variant, sets)
    menu = tuple(_variant(s, s is default) for s in sorted(sets, key=_by_size)) if len(sets) > 1 else ()
    return _selection(chosen, sets, beside, menu)


def _by_path(files: Sequence[File], sets: Sequence[Quant], beside: Mapping[str, str], path: str) -> Selection | None:
    """The set of a path, whatever it is: the whole set of a part, a companion, the sets of a folder."""
    asked = path.rstrip("/")
    for quant in sets:
        if any(f.path == asked for f in quant.files):
            return _selection(quant, sets, beside, ())
    found = _companion(files, beside, asked)
    if found is not None:
        return _selection(found, sets, beside, ())
    inside = [s for s in sets if s.folder == asked]
    if not inside:
        return None
    default = _default(inside)
    menu = tuple(_variant(s, s is default) for s in sorted(inside, key=_by_size)) if len(inside) > 1 else ()
    return _selection(default, sets, beside, menu)


def _default(sets: Sequence[Quant]) -> Quant:
    whole = [s for s in sets if not s.absent] or list(sets)
    named = [s for s in whole if s.label == _DEFAULT] or [s for s in whole if s.label == f"UD-{_DEFAULT}"]
    return (named or whole)[0]


def _companion(files: Sequence[File], beside: Mapping[str, str], wanted: str) -> Quant | None:
    """A companion as a set of its own, for whoever names it."""
    word = wanted.lower()
    for file in files:
        if file.path in beside and word in (file.path.lower(), file.name.lower(), taken_apart(file.name).stem.lower()):
            return Quant(file.folder, taken_apart(file.name).stem, None, (file,), name=file.path)
    return None


def _selection(chosen: Quant, sets: Sequence[Quant], beside: Mapping[str, str], menu: tuple[Variant, ...]) -> Selection:
    excluded = [Excluded(f.path, f.size, "another quant of the menu") for s in sets if s is not chosen for f in s.files]
    taken = {f.path for f in chosen.files}
    excluded += [Excluded(p, None, f"companion of every quant: {kind}") for p, kind in beside.items() if p not in taken]
    part = Part(chosen.folder, chosen.files, joined=chosen.pieces)
    notes = (*_incomplete(chosen, sets), *_pieces(chosen))
    return Selection("gguf", chosen.name, (part,), tuple(excluded), (), _kind(chosen), menu, notes)


def _kind(chosen: Quant) -> str:
    return "adapter" if companion(chosen.files[0].name) == "LoRA adapter" else "model"


def _variant(quant: Quant, default: bool) -> Variant:
    return Variant(quant.name, quant.files, default, missing=quant.absent)


def _by_size(quant: Quant) -> tuple[bool, int, str]:
    """Smallest first, what is not whole last."""
    return bool(quant.absent), sum(f.size or 0 for f in quant.files), quant.name


def _incomplete(chosen: Quant, sets: Sequence[Quant]) -> list[Note]:
    notes = []
    for quant in sets if any(s is chosen for s in sets) else (chosen,):
        if quant.absent:
            whole = len(quant.files) + quant.absent
            words = f"{quant.absent:,} of the {whole:,} parts of {quant.name} are not there, first {quant.missing[0]!r}"
            if quant is chosen:
                notes.append(Note("missing_shard", words, quant.missing[0]))
            else:
                notes.append(Note("incomplete_set", f"{words}; its figures are left out", quant.path))
    return notes


def _pieces(chosen: Quant) -> list[Note]:
    if not chosen.pieces:
        return []
    words = (
        f"{chosen.name} is cut into {len(chosen.files):,} raw pieces, which must be joined in order before anything "
        "can load it (only the first has a header); figures are those of the whole"
    )
    return [Note("raw_pieces", words, chosen.files[0].path)]


def _refuse(variant: str, sets: Sequence[Quant]) -> NoReturn:
    names = sorted(s.name for s in sets)
    there = ", ".join(names[:60]) + (" ..." if len(names) > 60 else "")
    raise UsageError("--variant", f"{variant!r} is not in this repo", f"There are: {there}; or {ALL} for every header")
