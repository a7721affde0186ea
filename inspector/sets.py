"""Files of one folder that load together: a single file, or the shards of one name.

Spellings: `model.safetensors`, `model-00001-of-00048.safetensors`, variants `model.fp16.safetensors`,
`model.fp16-00001-of-00002.safetensors`, `model-00001-of-00002.fp16.safetensors`, with their indexes
`model.safetensors.index.json` and `model.safetensors.index.fp16.json` (transformers `modeling_utils.py`,
diffusers `model_loading_utils.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from inspector.model import File

MAIN: Final = ("model", "diffusion_pytorch_model", "pytorch_model", "adapter_model")
"""Stems that loaders look for, in their order; only these take a `.variant`."""

_NAME: Final = re.compile(
    r"^(?P<stem>.+?)(?:-(?P<number>\d{5,6})-of-(?P<count>\d{5,6}))?(?P<late>\.[A-Za-z0-9_]+)?\.(?P<suffix>safetensors|bin|gguf)$"
)
_INDEX: Final = re.compile(r"^(?P<stem>.+?)\.(?P<suffix>safetensors|bin)\.index(?P<variant>\.[A-Za-z0-9_]+)?\.json$")


@dataclass(frozen=True, slots=True)
class WeightSet:
    """One loadable set: `files` in order, `index` path if there is one, `missing` shard names that are not there."""

    folder: str
    stem: str
    variant: str | None
    files: tuple[File, ...]
    count: int | None = None
    index: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """A name that tells the set from its neighbours."""
        name = self.stem if self.variant is None else f"{self.stem}.{self.variant}"
        return f"{self.folder}/{name}" if self.folder else name

    @property
    def bytes(self) -> int:
        """Known bytes of the files, for ordering."""
        return sum(f.size or 0 for f in self.files)


def split_name(name: str) -> tuple[str, str | None, int | None, int | None]:
    """(stem, variant, number, count) of a weight file's name; numbers are None for a single file."""
    found = _NAME.match(name)
    if found is None:
        return name, None, None, None
    stem, late = found["stem"], found["late"]
    if found["number"] is None:
        head, _, tail = (stem + (late or "")).partition(".")
        stem, variant = (head, tail or None) if head in MAIN else (stem + (late or ""), None)
        return stem, variant, None, None
    head, _, early = stem.partition(".")
    variant = late[1:] if late else early if early and head in MAIN else None
    return (head if early and head in MAIN else stem), variant, int(found["number"]), int(found["count"])


def weight_sets(folder: str, files: Iterable[File], documents: Iterable[File]) -> list[WeightSet]:
    """The sets among a folder's weight files; `documents` are the folder's other files (for indexes)."""
    groups: dict[tuple[str, str | None, int | None], list[tuple[int, File]]] = {}
    for file in files:
        stem, variant, number, count = split_name(file.name)
        groups.setdefault((stem, variant, count), []).append((number or 0, file))
    indexes = {}
    for document in documents:
        found = _INDEX.match(document.name)
        if found is not None:
            stem, _, early = found["stem"].partition(".")
            late = (found["variant"] or "")[1:]
            plain = stem in MAIN
            indexes[(stem if plain else found["stem"]), (late or (early if plain else "")) or None] = document.path
    sets = []
    for (stem, variant, count), members in groups.items():
        members.sort(key=lambda m: (m[0], m[1].path))
        missing = _absent(members, count)
        index = indexes.get((stem, variant)) if count is not None else None
        sets.append(WeightSet(folder, stem, variant, tuple(f for _, f in members), count, index, missing))
    known = {(s.stem, s.variant) for s in sets if s.count is not None}
    for (stem, variant), path in indexes.items():
        if (stem, variant) not in known:
            sets.append(WeightSet(folder, stem, variant, (), 0, path))
    return sets


def _absent(members: list[tuple[int, File]], count: int | None) -> tuple[str, ...]:
    """Names of shards 1..count (0..count-1 where numbering starts at 0) that are not among the members."""
    if count is None or count > 100_000:
        return ()
    numbers = {n for n, _ in members}
    first = 0 if 0 in numbers else 1
    path, number = members[0][1].path, members[0][0]
    found = re.search(rf"-(0*{number})-of-", path)
    if found is None:
        return ()
    width = len(found[1])
    return tuple(
        f"{path[: found.start(1)]}{n:0{width}d}{path[found.end(1) :]}"
        for n in range(first, count + first)
        if n not in numbers
    )


def by_index(chosen: WeightSet, document: object, everything: Mapping[str, File]) -> WeightSet:
    """The set that its index lists: exactly the values of weight_map; what is listed and not there is missing."""
    weight_map = document.get("weight_map") if isinstance(document, dict) else None
    if not isinstance(weight_map, Mapping):
        return chosen
    prefix = f"{chosen.folder}/" if chosen.folder else ""
    paths = sorted({prefix + name for name in weight_map.values()})
    files = tuple(everything[p] for p in paths if p in everything)
    missing = tuple(p for p in paths if p not in everything)
    return WeightSet(chosen.folder, chosen.stem, chosen.variant, files, chosen.count, chosen.index, missing)
