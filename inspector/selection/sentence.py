"""sentence-transformers: modules.json lists the transformer at the root (or `0_Transformer`) and loaded modules.

A module without weights (pooling, normalising) is only configuration. Source: sentence-transformers `util/file_io.py`
and `models/Dense.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from inspector.model import File, Json, Note, Part, Selection
from inspector.picking import pick, usable

_INDEX = "modules.json"
_FOLDER = re.compile(r"^\d+_\w+$")


def choose(
    files: Sequence[File], documents: Mapping[str, Json], variant: str | None, path: str | None
) -> Selection | None:
    """The transformer and every module with weights; None without modules.json."""
    if _INDEX not in {f.path for f in files} or variant is not None:
        return None
    for format in ("safetensors", "pytorch"):
        folders = usable(files, format)
        listed = _modules(documents.get(_INDEX))
        used = [f for f in sorted(folders) if (f in listed if listed is not None else not f or _FOLDER.match(f))]
        if not used:
            continue
        parts: list[Part] = []
        notes: list[Note] = []
        for folder in used:
            beside = [f for f in files if f.folder == folder]
            chosen, _, said = pick(folder, folders[folder], beside, documents, None)
            parts.append(Part(folder, chosen.files, chosen.index))
            notes.extend(said)
        return Selection(format, None, tuple(parts), (), (), "sentence-transformers", notes=tuple(notes))
    return None


def _modules(document: Json) -> set[str] | None:
    if not isinstance(document, list):
        return None
    paths = [m.get("path") for m in document if isinstance(m, dict)]
    return {p.strip("/") for p in paths if isinstance(p, str)}
