"""Which of a folder's sets a loader would take."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NoReturn

from inspector.errors import UsageError
from inspector.model import File, Json, Note, Variant
from inspector.sets import MAIN, WeightSet, by_index, weight_sets
from inspector.weights import set_aside, weight_format


def usable(files: Sequence[File], format: str) -> dict[str, list[File]]:
    """Weight files of one format by folder, without those that are never loaded."""
    folders: dict[str, list[File]] = {}
    for file in files:
        if weight_format(file.path) == format and set_aside(file.path) is None:
            folders.setdefault(file.folder, []).append(file)
    return folders


def indexed(files: Sequence[File], format: str) -> dict[str, list[File]]:
    """Folders with a shard index of one format, and no weight files of it."""
    suffix = {"safetensors": ".safetensors.index", "pytorch": ".bin.index"}[format]
    found = [f for f in files if suffix in f.name and f.name.endswith(".json") and set_aside(f.path) is None]
    return {f.folder: [] for f in found}


def pick(
    folder: str,
    weights: Sequence[File],
    beside: Sequence[File],
    documents: Mapping[str, Json],
    variant: str | None,
) -> tuple[WeightSet, list[WeightSet], tuple[Note, ...]]:
    """(the set, all sets, notes). `beside` are all files of the folder, `variant` falls back to the plain set."""
    everything = {f.path: f for f in (*weights, *beside)}
    sets = weight_sets(folder, weights, beside)
    prefix = f"{folder}/" if folder else ""
    explicit = _explicit(documents.get(f"{prefix}config.json"), prefix, everything, sets)
    notes: list[Note] = []
    if explicit is not None:
        chosen = explicit
    else:
        chosen = min(sets, key=lambda s: _rank(s, variant))
        if chosen.variant is not None and variant is None:
            notes.append(Note("only_variant", f"there is no plain set, only variant {chosen.variant!r}", folder))
    if chosen.index is not None:
        chosen = by_index(chosen, documents.get(chosen.index), everything)
    if chosen.missing:
        words = f"{len(chosen.missing):,} of {len(chosen.files) + len(chosen.missing):,} shards are not in the repo"
        notes.append(Note("missing_shard", f"{words}, first {chosen.missing[0]!r}", chosen.missing[0]))
    return chosen, sets, tuple(notes)


def _rank(found: WeightSet, variant: str | None) -> tuple[object, ...]:
    """Loaders' order: the variant asked for, the main stems, single before index before shards alone, then size."""
    wanted = 0 if found.variant == variant else 1 if found.variant is None else 2
    stem = MAIN.index(found.stem) if found.stem in MAIN else len(MAIN) + (found.stem != "consolidated")
    if stem == MAIN.index("adapter_model"):
        stem = len(MAIN) + 2
    shape = 0 if found.count is None else 1 if found.index is not None else 2
    empty = not found.files
    named = 0 if variant in (found.stem, found.label) else 1
    return named, wanted, empty, stem, shape, -found.bytes, found.label


def _explicit(config: Json, prefix: str, everything: Mapping[str, File], sets: Sequence[WeightSet]) -> WeightSet | None:
    """The set that `transformers_weights` of config.json names, if it stays inside the folder and is there."""
    name = config.get("transformers_weights") if isinstance(config, dict) else None
    if not isinstance(name, str) or prefix + name not in everything or ".." in name.split("/"):
        return None
    for found in sets:
        if prefix + name == found.index or prefix + name in {f.path for f in found.files}:
            return found
    return None


def offer(sets: Sequence[WeightSet], default: WeightSet) -> tuple[Variant, ...]:
    """The sets as a menu, the default marked."""
    return tuple(
        Variant(s.label, s.files, s.label == default.label) for s in sorted(sets, key=lambda s: s.label) if s.files
    )


def refuse_variant(variant: str, sets: Sequence[WeightSet], chosen: WeightSet | None) -> NoReturn:
    """Say which variants there are."""
    names = sorted({s.variant or s.label for s in sets if s.files or s.index})
    there = ", ".join(names[:20]) + (" ..." if len(names) > 20 else "")
    raise UsageError("--variant", f"{variant!r} is not in this repo", f"There are: {there or 'none'}")
