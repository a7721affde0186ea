"""One model in one folder: the rules of transformers, in their order.

`transformers_weights` of config.json, else `model.safetensors`, else its index, else shards without an index, else a
variant alone, else `consolidated*`, else any safetensors; PyTorch pickles only where there are no safetensors
(transformers `modeling_utils.py` `_get_resolved_checkpoint_files`). Where the root holds nothing, the shallowest
folders that do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspector.model import File, Json, Note, Part, Selection, Variant
from inspector.picking import indexed, offer, pick, refuse_variant, usable
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
        depth = min(f.count("/") + bool(f) for f in folders)
        shallow = [f for f in sorted(folders) if f.count("/") + bool(f) == depth]
        if len(shallow) == 1 or depth == 0:
            return _one(shallow[0], folders[shallow[0]], files, documents, variant, format)
        return _several(shallow, folders, files, documents, variant, format)
    return None


def _one(
    folder: str,
    weights: Sequence[File],
    files: Sequence[File],
    documents: Mapping[str, Json],
    variant: str | None,
    format: str,
) -> Selection:
    beside = [f for f in files if f.folder == folder]
    chosen, sets, notes = pick(folder, weights, beside, documents, variant)
    others = [s for s in sets if s.stem != "adapter_model"]
    menu = offer(others, chosen) if _equal(others, chosen) else ()
    if variant is not None and variant not in (chosen.variant, chosen.label, chosen.stem):
        refuse_variant(variant, others, chosen)
    return Selection(
        format,
        variant if variant is not None else chosen.variant,
        (Part(folder, chosen.files, chosen.index),),
        (),
        (),
        menu=menu,
        notes=(*notes, *_unread(format)),
    )


def _several(
    shallow: Sequence[str],
    folders: Mapping[str, Sequence[File]],
    files: Sequence[File],
    documents: Mapping[str, Json],
    variant: str | None,
    format: str,
) -> Selection:
    """One set per folder; the first is the default, `--variant FOLDER` another."""
    picks: dict[str, tuple[WeightSet, tuple[Note, ...]]] = {}
    for folder in shallow:
        beside = [f for f in files if f.folder == folder]
        chosen, _, notes = pick(folder, folders[folder], beside, documents, None)
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
        menu=menu,
        notes=(note, *notes, *_unread(format)),
    )


def _equal(sets: Sequence[WeightSet], chosen: WeightSet) -> bool:
    """True where the repo offers sets of which none is the loaders' own choice."""
    return len(sets) > 1 and chosen.stem not in ("model", "diffusion_pytorch_model", "consolidated")


def _unread(format: str) -> tuple[Note, ...]:
    if format == "safetensors":
        return ()
    words = "headers of PyTorch pickles are not read: file bytes are known, tensors are not"
    return (Note("format_not_read", words),)
