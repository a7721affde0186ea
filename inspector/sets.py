"""Files of one folder that load together: a single file, or the shards of one name.

Spellings: `model.safetensors`, `model-00001-of-00048.safetensors`, variants `model.fp16.safetensors`,
`model.fp16-00001-of-00002.safetensors`, `model-00001-of-00002.fp16.safetensors`, with their indexes
`model.safetensors.index.json` and `model.safetensors.index.fp16.json` (transformers `modeling_utils.py`,
diffusers `model_loading_utils.py`).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Final

from inspector.model import File, WeightMap
from inspector.records import dataclass

MAIN: Final = ("model", "diffusion_pytorch_model", "pytorch_model", "adapter_model")
"""Stems that loaders look for, in their order; only these take a `.variant`."""

_NAME: Final = re.compile(
    r"^(?P<stem>.+?)(?:[-_](?P<number>\d{1,9})-of-(?P<count>\d{1,9}))?(?P<late>\.[A-Za-z0-9_]+)?\.(?P<suffix>safetensors|bin|gguf)$"
)
_INDEX: Final = re.compile(r"^(?P<stem>.+?)\.(?P<suffix>safetensors|bin)\.index(?P<variant>\.[A-Za-z0-9_]+)?\.json$")
_RANK: Final = re.compile(r"^consolidated[.-](\d{1,4})\.\w+$")
_LISTED: Final = 1_000
"""Absent shards of which the names are made up; a name may claim a billion."""


@dataclass(frozen=True, slots=True)
class WeightSet:
    """One loadable set: `files` in order, `index` path if there is one, `missing` shard names that are not there.

    `absent` counts the missing shards, also those beyond the names listed.
    """

    folder: str
    stem: str
    variant: str | None
    files: tuple[File, ...]
    count: int | None = None
    index: str | None = None
    missing: tuple[str, ...] = ()
    absent: int = 0

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
    rank = _RANK.match(name)
    if rank is not None:
        return "consolidated", None, int(rank[1]), None
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
        missing, absent = _absent(members, count)
        index = indexes.get((stem, variant)) if count is not None else None
        sets.append(WeightSet(folder, stem, variant, tuple(f for _, f in members), count, index, missing, absent))
    known = {(s.stem, s.variant) for s in sets if s.count is not None}
    for (stem, variant), path in indexes.items():
        if (stem, variant) not in known:
            sets.append(WeightSet(folder, stem, variant, _likely(sets, variant), 0, path))
    return sets


def _likely(sets: Iterable[WeightSet], variant: str | None) -> tuple[File, ...]:
    """What an index that is not read yet, and names no shard by its own stem, probably lists: all of its variant."""
    apart = ("consolidated", "adapter_model")
    return tuple(f for s in sets if s.variant == variant and s.stem not in apart and s.count != 0 for f in s.files)


def _absent(members: list[tuple[int, File]], count: int | None) -> tuple[tuple[str, ...], int]:
    """Names of shards 1..count (0..count-1 where numbering starts at 0) that are not among the members; how many."""
    numbers = {n for n, _ in members}
    first = 0 if 0 in numbers else 1
    path, number = members[0][1].path, members[0][0]
    found = re.search(rf"[-_](0*{number})-of-", path)
    if count is None or found is None:
        return (), 0
    expected = range(first, count + first)
    absent = count - sum(n in expected for n in numbers)
    lacking = (n for n in expected if n not in numbers)
    head, width, tail = path[: found.start(1)], len(found[1]), path[found.end(1) :]
    return tuple(f"{head}{n:0{width}d}{tail}" for n in islice(lacking, min(absent, _LISTED))), absent


def by_index(chosen: WeightSet, document: object, everything: Mapping[str, File]) -> WeightSet:
    """The set that its index lists: exactly the values of weight_map; what is listed and not there is missing.

    `everything` is the whole listing by path. A document that is no index leaves the set as it is.
    """
    weight_map = document.get("weight_map") if isinstance(document, dict) else None
    if not isinstance(weight_map, Mapping):
        return chosen
    if isinstance(weight_map, WeightMap):
        strings: Iterable[str] = weight_map.shards
    else:
        values = weight_map.values()
        strings = set(values) if set(map(type, values)) <= {str} else {v for v in values if isinstance(v, str)}
    names = {n for n in strings if ".." not in n.split("/")}
    paths = sorted({posixpath.normpath(posixpath.join(chosen.folder, n)) for n in names if n and n[0] != "/"})
    if not paths:
        return chosen
    files = tuple(everything[p] for p in paths if p in everything)
    missing = tuple(p for p in paths if p not in everything)
    return WeightSet(
        chosen.folder, chosen.stem, chosen.variant, files, chosen.count, chosen.index, missing, len(missing)
    )
