"""A listing becomes the one loadable set and a ledger of everything else: one format, one variant.

`select` is pure and is asked twice: by names alone, then with the documents (index, model_index, adapter config)
that were read meanwhile. Chosen + excluded + other is every file of the listing, once.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Final

from inspector.errors import SourceError, UsageError
from inspector.model import Excluded, File, Json, Listing, Note, Part, Selection
from inspector.records import replace
from inspector.selection import adapter, gguf, named, pipeline, plain, sentence
from inspector.sets import split_name
from inspector.weights import format_of, other_format, set_aside

CONFIGS: Final = (
    "config.json",
    "hf_quant_config.json",
    "quantize_config.json",
    "quant_config.json",
    "quantization_config.json",
    "quanto_qmap.json",
    "params.json",
    "adapter_config.json",
)
"""Documents that speak of the weights beside them, in the order in which they are asked."""

STRUCTURE: Final = ("model_index.json", "modules.json")
"""Documents that say which folders make up a repo."""

KINDS: Final = (named, pipeline, sentence, adapter, plain, gguf)
"""Asked in turn; the first that finds a set has chosen."""

_MAX_DOCUMENT: Final = 100_000_000


def wanted_documents(listing: Listing, variant: str | None = None, path: str | None = None) -> tuple[str, ...]:
    """Paths of the JSON files worth reading: configs and index of the chosen parts, and the repo's structure."""
    selection = select(listing, {}, variant=variant, path=path)
    if selection.format == "gguf":
        # The headers say it all; a config.json beside them speaks about the model they were made from.
        return ()
    present = {f.path: f for f in listing.files}
    wanted = [*STRUCTURE, *CONFIGS]
    for part in selection.parts:
        wanted.extend(part.configs)
        if part.index is not None:
            wanted.append(part.index)
    return tuple(
        p
        for p in dict.fromkeys(wanted)
        if p in present and not present[p].pointer and (present[p].size or 0) <= _MAX_DOCUMENT
    )


def select(
    listing: Listing, documents: Mapping[str, Json], *, variant: str | None = None, path: str | None = None
) -> Selection:
    """The loadable set and the ledger. Raises `UsageError` for a variant or path that is not there."""
    try:
        found = _select(listing, documents, variant=variant, path=path)
        return _of_a_cache(found) if _in_part(listing) else found
    except UsageError as e:
        if not _in_part(listing):
            raise
        # What a cache does not list may well be in the repo: that is no mistake of the caller's.
        message = f"{path if path is not None else variant} is not in the cache, and no request may be made"
        raise SourceError(listing.ref.repo, message, "Run it online, or `hf download` it first.") from e


def _in_part(listing: Listing) -> bool:
    """Whether the listing is what happens to be in a cache, so that the repo may have more."""
    return any(n.code == "partial_listing" for n in listing.notes)


def _of_a_cache(found: Selection) -> Selection:
    """The selection with notes that blame the cache for what it lacks, not the repo."""
    notes = (replace(n, message=n.message.replace("in the repo", "in the cache")) for n in found.notes)
    return replace(found, notes=tuple(notes))


def _select(listing: Listing, documents: Mapping[str, Json], *, variant: str | None, path: str | None) -> Selection:
    refused: list[UsageError] = []
    found = None
    # What is named by path may be a GGUF file, set or folder in any repo; without a path other formats come first.
    for kind in KINDS if path is None else (gguf, *KINDS):
        try:
            found = kind.choose(listing.files, documents, variant, path)
        except UsageError as e:
            if path is not None:
                raise
            refused.append(e)
        if found is not None:
            break
    if found is None:
        if refused:
            first = refused[0]
            raise UsageError(first.place, first.message, " ".join(dict.fromkeys(e.advice for e in refused if e.advice)))
        found = Selection("none", None, (), (), (), "nothing", notes=(_nothing(listing),))
    return _with_ledger(listing, _with_configs(listing, found))


def _with_configs(listing: Listing, selection: Selection) -> Selection:
    """Each part with the configs beside it; a folder without any, of a model in one folder, has those above it.

    A file that two parts list (an index may name any folder) belongs to the first.
    """
    present = {f.path for f in listing.files}
    parts = []
    taken: set[str] = set()
    alone = selection.kind in ("model", "adapter")
    for part in selection.parts:
        folder, own = part.folder, _configs(part.folder, present)
        while alone and folder and not own:
            folder = folder.rpartition("/")[0]
            own = _configs(folder, present)
        files = tuple(f for f in part.files if f.path not in taken)
        taken.update(f.path for f in files)
        parts.append(replace(part, files=files, configs=own))
    return replace(selection, parts=tuple(parts))


def _configs(folder: str, present: Set[str]) -> tuple[str, ...]:
    prefix = f"{folder}/" if folder else ""
    return tuple(prefix + c for c in CONFIGS if prefix + c in present)


def _with_ledger(listing: Listing, selection: Selection) -> Selection:
    """Every file that is not chosen, as excluded (it holds weights) with a reason, or as other."""
    chosen = {f.path for f in selection.files}
    folders = {p.folder: p for p in selection.parts}
    given = {e.path: e.reason for e in selection.excluded}
    excluded: list[Excluded] = []
    other: list[File] = []
    for file in listing.files:
        if file.path in chosen:
            continue
        reason = given.get(file.path) or _reason(file, selection, folders)
        if reason is None:
            other.append(file)
        else:
            excluded.append(Excluded(file.path, file.size, reason))
    return replace(selection, excluded=tuple(excluded), other=tuple(other))


def _reason(file: File, selection: Selection, folders: Mapping[str, Part]) -> str | None:
    format = format_of(file)
    if format is None:
        return None
    aside = set_aside(file.path)
    if aside is not None:
        return aside
    if format != selection.format:
        return other_format(file)
    if file.folder in folders:
        stem, variant = split_name(file.name)[:2]
        if stem == "adapter_model" and selection.kind == "model":
            return "adapter, the full model beside it is loaded"
        if variant != selection.variant and variant is not None:
            return f"another variant ({variant})"
        indexed = folders[file.folder].index is not None
        return "not listed in the index" if indexed else "another set of weights in the same folder"
    return "another set of weights, in a folder of its own"


def _nothing(listing: Listing) -> Note:
    """What there is instead of weights: counts by suffix."""
    counts: dict[str, int] = {}
    for file in listing.files:
        suffix = file.name.rpartition(".")[2] if "." in file.name[1:] else "without a suffix"
        counts[suffix] = counts.get(suffix, 0) + 1
    most = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:6]
    there = ", ".join(f"{n} {suffix}" for suffix, n in most) or "no files"
    if _in_part(listing):
        words = f"no weights of this repo are in the cache, which has {there}; run it online, or `hf download` it first"
        return Note("nothing_loadable", words)
    return Note("nothing_loadable", f"nothing here is a loadable set of weights; the repo has {there}")
