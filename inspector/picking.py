"""Which of a folder's sets a loader would take."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NoReturn

from inspector.errors import UsageError
from inspector.model import File, Json, Note, Variant
from inspector.sets import MAIN, WeightSet, by_index, weight_sets
from inspector.weights import format_of, set_aside


def usable(files: Sequence[File], format: str) -> dict[str, list[File]]:
    """Weight files of one format by folder, without those that are never loaded."""
    folders: dict[str, list[File]] = {}
    for file in files:
        if format_of(file) == format and set_aside(file.path) is None:
            folders.setdefault(file.folder, []).append(file)
    return folders


def indexed(files: Sequence[File], format: str) -> dict[str, list[File]]:
    """Folders with a shard index of one format, and no weight files of it."""
    suffix = {"safetensors": ".safetensors.index", "pytorch": ".bin.index"}[format]
    found = [f for f in files if suffix in f.name and f.name.endswith(".json") and set_aside(f.path) is None]
    return {f.folder: [] for f in found}


def by_folder(files: Sequence[File]) -> Mapping[str, Sequence[File]]:
    """Files by the folder in which they stand; a listing may have thousands, each is looked at once."""
    folders: dict[str, list[File]] = {}
    for file in files:
        folders.setdefault(file.folder, []).append(file)
    return folders


def pick(
    folder: str,
    weights: Sequence[File],
    beside: Sequence[File],
    documents: Mapping[str, Json],
    variant: str | None,
    everything: Mapping[str, File],
) -> tuple[WeightSet, list[WeightSet], tuple[Note, ...]]:
    """(the set, all sets, notes). `beside` are all files of the folder, `everything` those of the repo by path.

    `variant` falls back to the plain set. A set with an index is what the index lists before it is compared.
    """
    found = weight_sets(folder, weights, beside)
    read = [by_index(s, documents.get(s.index), everything) if s.index else s for s in found]
    sets = [s for i, s in enumerate(read) if not s.index or s.index not in {o.index for o in read[:i]}]
    prefix = f"{folder}/" if folder else ""
    notes: list[Note] = []
    explicit = None
    if variant is None:
        explicit, complaint = _explicit(documents.get(f"{prefix}config.json"), prefix, everything, sets)
        notes.extend(complaint)
    if explicit is not None:
        chosen = explicit
    else:
        singles = {s.files[0].path for s in sets if s.index is None and len(s.files) == 1}
        chosen = min(sets, key=lambda s: _rank(s, variant, singles))
        if chosen.variant is not None and variant is None:
            notes.append(Note("only_variant", f"there is no plain set, only variant {chosen.variant!r}", folder))
    return chosen, sets, (*notes, *missing(chosen))


def unread_folders(
    files: Sequence[File], format: str, read: Collection[str], listed: Collection[str] | None, folder_of: str
) -> tuple[Note, ...]:
    """A note for each folder that is loaded and has files of another format only: its bytes are not in the figures."""
    if format != "safetensors" or listed is None:
        return ()
    return tuple(
        Note(
            "format_not_read",
            f"{folder_of} {folder or 'at the root'} has PyTorch pickles only: they are loaded and not in these figures",
            folder,
        )
        for folder in sorted(usable(files, "pytorch"))
        if folder in listed and folder not in read
    )


def missing(chosen: WeightSet) -> tuple[Note, ...]:
    """A note where shards of a set are not in the repo."""
    if not chosen.missing:
        return ()
    words = f"{chosen.absent:,} of {len(chosen.files) + chosen.absent:,} shards are not in the repo"
    return (Note("missing_shard", f"{words}, first {chosen.missing[0]!r}", chosen.missing[0]),)


def _rank(found: WeightSet, variant: str | None, singles: Collection[str]) -> tuple[object, ...]:
    """Loaders' order: the variant asked for, the main stems, single before index before shards alone, then size.

    An index that lists the single file (with an `mtp.safetensors`, say) comes before that file: it knows the whole set.
    """
    wanted = 0 if found.variant == variant else 1 if found.variant is None else 2
    stem = MAIN.index(found.stem) if found.stem in MAIN else len(MAIN) + (found.stem != "consolidated")
    if stem == MAIN.index("adapter_model"):
        stem = len(MAIN) + 2
    covers = found.index is not None and any(f.path in singles for f in found.files)
    shape = -1 if covers else 0 if found.count is None else 1 if found.index is not None else 2
    empty = not found.files
    named = 0 if variant in (found.stem, found.label) else 1
    return named, wanted, empty, stem, shape, -found.bytes, found.label


def _explicit(
    config: Json, prefix: str, everything: Mapping[str, File], sets: Sequence[WeightSet]
) -> tuple[WeightSet | None, tuple[Note, ...]]:
    """The set that `transformers_weights` of config.json names, or a note where it is outside or not there."""
    name = config.get("transformers_weights") if isinstance(config, dict) else None
    if name is None:
        return None, ()
    where = f"{prefix}config.json"
    if not isinstance(name, str) or ".." in name.split("/") or name.startswith("/"):
        words = f"transformers_weights {str(name)[:200]!r} is no file inside the repo; it is ignored"
        return None, (Note("transformers_weights", words, where),)
    for found in sets:
        if prefix + name == found.index or (found.index is None and prefix + name in {f.path for f in found.files}):
            return found, ()
    state = "holds no weights" if prefix + name in everything else "is not in the repo"
    return None, (Note("transformers_weights", f"transformers_weights names {name[:200]!r}, which {state}", where),)


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
