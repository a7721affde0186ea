"""One model in one folder: the rules of transformers, in their order.

`transformers_weights` of config.json, else `model.safetensors`, else its index, else shards without an index, else a
variant alone, else `consolidated*`, else any safetensors; PyTorch pickles only where there are no safetensors
(transformers `modeling_utils.py` `_get_resolved_checkpoint_files`). Where the root holds nothing, the shallowest
folders that do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspector.model import File, Json, Note, Part, Selection, Variant
from inspector.picking import by_folder, indexed, offer, pick, refuse_variant, usable
from inspector.sets import WeightSet


def choose(
    files: Sequence[File], documents: Mapping[str, Json], variant: str | None, path: str | None
) -> Selection | None:
    """The set at the root, or in the shallowest folder that has one; None where there is none.

    Where no weight file is there at all, an index still says what is missing.
    """
    for format, look in (("safetensors", usable), ("pytorch", usable), ("safetensors", indexed), ("pytorch", indexed)):
        folders = look(files, format)
        if not folders:
            continue
        standing = by_folder(files)
        everything = {f.path: f for f in files}
        depth = min(f.count("/") + bool(f) for f in folders)
        shallow = [f for f in sorted(folders) if f.count("/") + bool(f) == depth]
        if len(shallow) == 1 or depth == 0:
            folder = shallow[0]
            return _one(folder, folders[folder], standing[folder], everything, documents, variant, format)
        return _several(shallow, folders, standing, everything, documents, variant, format)
    return None


def _one(
    folder: str,
    weights: Sequence[File],
    beside: Sequence[File],
    everything: Mapping[str, File],
    documents: Mapping[str, Json],
    variant: str | None,
    format: str,
) -> Selection:
    chosen, sets, notes = pick(folder, weights, beside, documents, variant, everything)
    others = [s for s in sets if s.stem != "adapter_model" or s is chosen]
    equal = _equal(others, chosen)
    menu = offer(equal, chosen) if len(equal) > 1 else ()
    rivals = [s.label for s in equal if s.variant == chosen.variant and s is not chosen]
    config = documents.get(f"{folder}/config.json" if folder else "config.json")
    named = isinstance(config, dict) and "transformers_weights" in config
    if rivals and variant is None and not named:
        words = (
            f"{len(rivals) + 1} sets of files without an index: {chosen.label} is taken, not {', '.join(rivals[:3])}"
        )
        notes = (*notes, Note("several_sets", f"{words} (--variant NAME for another)", folder))
    if chosen.stem != "adapter_model" and any(s.stem == "adapter_model" for s in sets):
        notes = (*notes, Note("adapter_ignored", f"an adapter stands beside the full model {chosen.label}", folder))
    if variant is not None and variant not in (chosen.variant, chosen.label, chosen.stem):
        refuse_variant(variant, others, chosen)
    return Selection(
        format,
        variant if variant is not None else chosen.variant,
        (Part(folder, chosen.files, chosen.index),),
        (),
        (),
        _kind(chosen),
        menu=menu,
        notes=(*notes, *_unread(format)),
    )


def _several(
    shallow: Sequence[str],
    folders: Mapping[str, Sequence[File]],
    standing: Mapping[str, Sequence[File]],
    everything: Mapping[str, File],
    documents: Mapping[str, Json],
    variant: str | None,
    format: str,
) -> Selection:
    """One set per folder; the first is the default, `--variant FOLDER` another."""
    picks: dict[str, tuple[WeightSet, tuple[Note, ...]]] = {}
    for folder in shallow:
        chosen, _, notes = pick(folder, folders[folder], standing[folder], documents, None, everything)
        picks[folder] = chosen, notes
    wanted = variant if variant is not None else shallow[0]
    if wanted not in picks:
        refuse_variant(wanted, [s for s, _ in picks.values()], None)
    chosen, notes = picks[wanted]
    menu = tuple(Variant(f, s.files, f == shallow[0]) for f, (s, _) in picks.items())
    words = f"the root holds no weights, {len(shallow)} folders do: {wanted} is shown"
    note = Note("several_folders", f"{words} (--variant FOLDER for another)")
    return Selection(
        format,
        wanted,
        (Part(wanted, chosen.files, chosen.index),),
        (),
        (),
        _kind(chosen),
        menu=menu,
        notes=(note, *notes, *_unread(format)),
    )


def _kind(chosen: WeightSet) -> str:
    return "adapter" if chosen.stem in ("adapter_model", "pytorch_lora_weights") else "model"


def _equal(sets: Sequence[WeightSet], chosen: WeightSet) -> list[WeightSet]:
    """The sets of a menu: variants of one stem, or sets of which none is the loaders' own choice.

    What an index leaves out is no set of its own, and no set is a part of another.
    """
    own = chosen.stem in ("model", "diffusion_pytorch_model", "pytorch_model", "consolidated")
    indexed = {s.variant for s in sets if s.index is not None and s.files}
    taken = {f.path for f in chosen.files}
    return [
        s
        for s in sets
        if s is chosen
        or (
            not {f.path for f in s.files} <= taken
            and (s.variant != chosen.variant if own else True)
            and not (s.index is None and s.variant in indexed)
            and s.stem != "consolidated"
        )
    ]


def _unread(format: str) -> tuple[Note, ...]:
    if format == "safetensors":
        return ()
    words = "headers of PyTorch pickles are not read: file bytes are known, tensors are not"
    return (Note("format_not_read", words),)
