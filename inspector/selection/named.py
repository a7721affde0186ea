"""A file or folder given by path is the chosen set, whatever it is; of a shard, the whole set it belongs to."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from inspector.errors import UsageError
from inspector.model import File, Json, Part, Selection
from inspector.picking import missing, pick
from inspector.records import replace
from inspector.sets import by_index, split_name, weight_sets
from inspector.weights import format_of, weight_format


def choose(
    files: Sequence[File], documents: Mapping[str, Json], variant: str | None, path: str | None
) -> Selection | None:
    """The set of `path`, or of `variant` where that is a path of the listing. Raises `UsageError` for no such path."""
    present = {f.path: f for f in files}
    if len(files) == 1 and weight_format(files[0].path) is None and path is None:
        return None
    asked = path if path is not None else variant
    if asked is None:
        return None
    asked = asked.rstrip("/")
    if asked in present and format_of(present[asked]) == "gguf":
        return None
    if asked in present:
        return _file(present[asked], files, documents)
    inside = [f for f in files if f.path.startswith(asked + "/") and f.folder == asked]
    weights = [f for f in inside if weight_format(f.path) == "safetensors"]
    if weights:
        chosen, _, notes = pick(asked, weights, inside, documents, None, present)
        return Selection("safetensors", asked, (Part(asked, chosen.files, chosen.index),), (), (), notes=notes)
    if path is not None:
        raise UsageError(path, "there is no such file or folder of weights in the repo")
    return None


def _file(file: File, files: Sequence[File], documents: Mapping[str, Json]) -> Selection:
    beside = [f for f in files if f.folder == file.folder]
    format = file.holds or weight_format(re.sub(r"\.index(\.\w+)?\.json$", "", file.path))
    if format is None and "." in file.name:
        raise UsageError(file.path, "is no weight file by its name", "Name a weight file, a shard or an index.")
    format = format or "safetensors"
    weights = [f for f in beside if format_of(f) == format]
    for found in weight_sets(file.folder, weights, beside):
        if file.path == found.index:
            found = by_index(found, documents.get(file.path), {f.path: f for f in files})
        elif file.path not in {f.path for f in found.files}:
            continue
        elif split_name(file.name)[2] is None:
            found = replace(found, files=(file,), index=None)
        kind = "adapter" if found.stem == "adapter_model" else "model"
        part = Part(file.folder, found.files, found.index)
        return Selection(format, file.path, (part,), (), (), kind, notes=missing(found))
    return Selection(format, file.path, (Part(file.folder, (file,)),), (), ())
