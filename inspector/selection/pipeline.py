"""diffusers pipelines: model_index.json names components, each a folder that follows the plain rules.

A variant (fp16) is per component and falls back to the plain files where a component lacks it
(diffusers `pipeline_loading_utils.py` `variant_compatible_siblings`). A single file at the root is a twin.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from inspector.errors import UsageError
from inspector.model import Excluded, File, Json, Note, Part, Selection, Variant
from inspector.picking import by_folder, pick, unread_folders, usable
from inspector.records import replace
from inspector.sets import WeightSet
from inspector.weights import set_aside, weight_format

_INDEX = "model_index.json"
_TWIN = "single-file twin of the pipeline's folders"


def choose(
    files: Sequence[File], documents: Mapping[str, Json], variant: str | None, path: str | None
) -> Selection | None:
    """All components with weights; None for a repo without model_index.json."""
    if _INDEX not in {f.path for f in files}:
        return None
    for format in ("safetensors", "pytorch"):
        folders = {f: w for f, w in usable(files, format).items() if f and "/" not in f}
        named = _components(documents.get(_INDEX))
        used = {f: w for f, w in folders.items() if named is None or f in named}
        if used:
            found = _pipeline(files, documents, variant, format, used, folders)
            unread = unread_folders(files, format, used, named, "component")
            return replace(found, notes=(*found.notes, *unread))
    return None


def _pipeline(
    files: Sequence[File],
    documents: Mapping[str, Json],
    variant: str | None,
    format: str,
    used: Mapping[str, Sequence[File]],
    folders: Mapping[str, Sequence[File]],
) -> Selection:
    parts: list[Part] = []
    notes: list[Note] = []
    variants: set[str] = set()
    fell_back: list[str] = []
    picks: list[tuple[WeightSet, list[WeightSet]]] = []
    everything, standing = {f.path: f for f in files}, by_folder(files)
    for folder in sorted(used):
        chosen, sets, said = pick(folder, used[folder], standing[folder], documents, variant, everything)
        picks.append((chosen, sets))
        variants |= {s.variant for s in sets if s.variant is not None and s.files}
        if variant is not None and chosen.variant != variant:
            fell_back.append(folder)
        parts.append(Part(folder, chosen.files, chosen.index))
        notes.extend(said)
    if variant is not None and variant not in variants:
        there = ", ".join(sorted(variants)) or "none"
        raise UsageError("--variant", f"{variant!r} is not in this repo", f"There are: {there}")
    if fell_back:
        notes.append(
            Note("variant_fell_back", f"no {variant} files in {', '.join(fell_back)}: the plain ones are taken")
        )
    unused = [f for folder, w in folders.items() if folder not in used for f in w]
    excluded = [Excluded(f.path, f.size, f"component {f.folder} is not in {_INDEX}") for f in unused]
    excluded += [
        Excluded(f.path, f.size, _TWIN)
        for f in files
        if not f.folder and weight_format(f.path) == format and set_aside(f.path) is None
    ]
    excluded += _variants(files, parts, format)
    menu = _menu(picks, variants, variant)
    return Selection(format, variant, tuple(parts), tuple(excluded), (), "pipeline", menu=menu, notes=tuple(notes))


def _menu(
    picks: Sequence[tuple[WeightSet, list[WeightSet]]], variants: Collection[str], asked: str | None
) -> tuple[Variant, ...]:
    """The pipeline as it would be loaded in each variant; the plain files are called `default`."""
    if asked is not None or not variants:
        return ()
    entries = [Variant("default", tuple(f for chosen, _ in picks for f in chosen.files), True)]
    for name in sorted(variants):
        taken = [next((s for s in sets if s.variant == name and s.files), chosen) for chosen, sets in picks]
        files = tuple(f for s in taken for f in s.files)
        if files != entries[0].files:
            entries.append(Variant(name, files))
    return tuple(entries) if len(entries) > 1 else ()


def _variants(files: Sequence[File], parts: Sequence[Part], format: str) -> list[Excluded]:
    chosen = {f.path for p in parts for f in p.files}
    folders = {p.folder for p in parts}
    return [
        Excluded(f.path, f.size, "another variant of the same component")
        for f in files
        if f.folder in folders and f.path not in chosen and weight_format(f.path) == format
    ]


def _components(document: Json) -> set[str] | None:
    """Folders of components that are not null; None where the document is not known."""
    if not isinstance(document, dict):
        return None
    return {
        name
        for name, value in document.items()
        if isinstance(value, list) and len(value) == 2 and value[0] is not None and value[1] is not None
    }
