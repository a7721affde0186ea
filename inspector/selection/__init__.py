"""A listing becomes the one loadable set and a ledger of everything else: one format, one variant.

`select` is pure and is asked twice: by names alone, then with the documents (index, model_index, adapter config)
that were read meanwhile. Chosen + excluded + other is every file of the listing, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from inspector.model import Excluded, File, Json, Listing, Note, Selection
from inspector.selection import adapter, gguf, named, pipeline, plain, sentence
from inspector.weights import other_format, set_aside, weight_format

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
    for kind in KINDS:
        found = kind.choose(listing.files, documents, variant, path)
        if found is not None:
            break
    else:
        found = Selection("none", None, (), (), (), "nothing", notes=(_nothing(listing),))
    return _with_ledger(listing, _with_configs(listing, found))


def _with_configs(listing: Listing, selection: Selection) -> Selection:
    """Each part with the configs beside it; a folder inside a repo also hears the root's config.json."""
    present = {f.path for f in listing.files}
    parts = []
    for part in selection.parts:
        prefix = f"{part.folder}/" if part.folder else ""
        own = tuple(prefix + c for c in CONFIGS if prefix + c in present)
        parts.append(replace(part, configs=own))
    return replace(selection, parts=tuple(parts))


def _with_ledger(listing: Listing, selection: Selection) -> Selection:
    """Every file that is not chosen, as excluded (it holds weights) with a reason, or as other."""
    chosen = {f.path for f in selection.files}
    given = {e.path: e.reason for e in selection.excluded}
    excluded: list[Excluded] = []
    other: list[File] = []
    for file in listing.files:
        if file.path in chosen:
            continue
        reason = given.get(file.path) or _reason(file, selection)
        if reason is None:
            other.append(file)
        else:
            excluded.append(Excluded(file.path, file.size, reason))
    return replace(selection, excluded=tuple(excluded), other=tuple(other))


def _reason(file: File, selection: Selection) -> str | None:
    format = weight_format(file.path)
    if format is None:
        return None
    aside = set_aside(file.path)
    if aside is not None:
        return aside
    if format != selection.format:
        return other_format(file.path)
    folders = {p.folder for p in selection.parts}
    indexed = any(p.folder == file.folder and p.index is not None for p in selection.parts)
    if file.folder in folders:
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
    return Note("nothing_loadable", f"nothing here is a loadable set of weights; the repo has {there}")
