"""sentence-transformers: modules.json lists the transformer at the root (or `0_Transformer`) and loaded modules.

A module without weights (pooling, normalising) is only configuration. Source: sentence-transformers `util/file_io.py`
and `models/Dense.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from inspector.model import File, Json, Note, Part, Selection
from inspector.picking import by_folder, pick, unread_folders, usable

_INDEX = "modules.json"
_FOLDER = re.compile(r"^\d+_\w+$")


def choose(
    files: Sequence[File], documents: Mapping[str, Json], variant: str | None, path: str | None
) -> Selection | None:
    """The transformer and every module with weights; None without modules.json."""
    if _INDEX not in {f.path for f in files}:
        return None
    for format in ("safetensors", "pytorch"):
        folders = usable(files, format)
        listed = _modules(documents.get(_INDEX))
        used = [f for f in sorted(folders) if (f in listed if listed is not None else not f or _FOLDER.match(f))]
        if not used:
            continue
        parts: list[Part] = []
        notes: list[Note] = []
        everything, standing = {f.path: f for f in files}, by_folder(files)
        hit = variant is None
        for folder in used:
            chosen, _, said = pick(folder, folders[folder], standing[folder], documents, variant, everything)
            hit = hit or variant == chosen.variant
            parts.append(Part(folder, chosen.files, chosen.index))
            notes.extend(said)
        if not hit:
            return None
        notes.extend(unread_folders(files, format, used, listed, "module"))
        return Selection(format, variant, tuple(parts), (), (), "sentence-transformers", notes=tuple(notes))
    return None


def _modules(document: Json) -> set[str] | None:
    if not isinstance(document, list):
        return None
    paths = [m.get("path") for m in document if isinstance(m, dict)]
    return {p.strip("/") for p in paths if isinstance(p, str)}
