"""GGUF files of a listing as sets: one per folder, stem and label, whole or with parts missing; companions apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from inspector.gguf.quant_names import Name, base, companion, companion_by_header, label, taken_apart
from inspector.model import File, Json
from inspector.records import dataclass
from inspector.weights import format_of

_LISTED: Final = 1_000
"""Absent parts of which the names are made up; a name may claim a billion."""


@dataclass(frozen=True, slots=True)
class Quant:
    """One set: `files` in the order of their parts; `absent` counts parts that are not there, `missing` names them.

    `name` tells it from its neighbours: the label where that is enough, else the path without suffix. `pieces` is true
    for raw pieces of one file.
    """

    folder: str
    stem: str
    label: str | None
    files: tuple[File, ...]
    pieces: bool = False
    missing: tuple[str, ...] = ()
    absent: int = 0
    name: str = ""

    @property
    def path(self) -> str:
        """Folder and stem."""
        return f"{self.folder}/{self.stem}" if self.folder else self.stem

    @property
    def model(self) -> str:
        """The stem without the label: the same for every quant of one model."""
        return base(self.stem)


def gather(files: Sequence[File], documents: Mapping[str, Json]) -> tuple[list[Quant], dict[str, str]]:
    """(the sets by path, companions as path -> what they are). `documents` may hold metadata of headers by path.

    Where there is nothing but companions, they are the sets.
    """
    ggufs = [f for f in files if format_of(f) == "gguf"]
    beside: dict[str, str] = {}
    for file in ggufs:
        known = documents.get(file.path)
        found = companion_by_header(known) if isinstance(known, Mapping) else None
        found = found or companion(file.name)
        if found is not None:
            beside[file.path] = found
    main = [f for f in ggufs if f.path not in beside]
    if not main:
        # Files in llama.cpp's older form (imatrix.dat) have no header that could be read.
        main = [f for f in ggufs if not f.name.lower().endswith(".dat")]
        beside = {f.path: beside[f.path] for f in ggufs if f not in main}
    return _named(_sets(main)), beside


def find(sets: Iterable[Quant], wanted: str) -> Quant | None:
    """The set that `wanted` names, in any case: name or label, stem, path without suffix, a folder, a file of it."""
    word = wanted.strip().strip("/").lower()
    tests: tuple[Callable[[Quant], bool], ...] = (
        lambda s: word in (s.name.lower(), s.path.lower()),
        lambda s: any(word == f.path.lower() for f in s.files),
        lambda s: word == (s.label or "").lower(),
        lambda s: word in (s.stem.lower(), s.folder.lower(), s.folder.lower().rpartition("/")[2]),
        lambda s: word == (s.label or "").lower().removeprefix("ud-"),
        lambda s: any(word == f.name.lower() for f in s.files),
    )
    known = list(sets)
    for test in tests:
        hits = [s for s in known if test(s)]
        if hits:
            return next((s for s in hits if not s.absent), hits[0])
    return None


def _sets(files: Iterable[File]) -> list[Quant]:
    groups: dict[tuple[str, str, int | None, bool], list[tuple[Name, File]]] = {}
    for file in files:
        name = taken_apart(file.name)
        groups.setdefault((file.folder, name.stem, name.of, name.piece), []).append((name, file))
    found = []
    for (folder, stem, _, pieces), members in groups.items():
        members.sort(key=lambda m: (m[0].number or 0, m[1].path))
        missing, absent = _absent(members)
        quant = Quant(folder, stem, label(stem, folder), tuple(f for _, f in members), pieces, missing, absent)
        found.append(quant)
    return sorted(found, key=lambda s: (s.path, s.files[0].path))


def _absent(members: Sequence[tuple[Name, File]]) -> tuple[tuple[str, ...], int]:
    """Names of the parts 1 to `count` that are not there, and how many; of lettered pieces up to the last one there."""
    first, file = members[0]
    if first.number is None:
        return (), 0
    numbers = {n.number for n, _ in members}
    count = first.of if first.of is not None else max(n or 0 for n in numbers)
    lacking = [n for n in range(1, min(count, 100_000) + 1) if n not in numbers]
    absent = count - sum(n is not None and 1 <= n <= count for n in numbers)
    names = tuple(_sibling(file.path, first, n) for n in islice(lacking, _LISTED))
    return names, absent


def _sibling(path: str, name: Name, number: int) -> str:
    """The path of another part of the same set."""
    if name.piece and name.of is None:
        return path[:-1] + chr(ord("a") + number - 1)
    mark = "part" if name.piece else ""
    at = path.rindex(f"{mark}{name.number}of") + len(mark) if name.piece else path.rindex("-of-")
    if name.piece:
        return f"{path[:at]}{number}{path[at + len(str(name.number)) :]}"
    digits = len(path[:at]) - len(path[:at].rstrip("0123456789"))
    return f"{path[: at - digits]}{number:0{digits}d}{path[at:]}"


def _named(sets: Sequence[Quant]) -> list[Quant]:
    """Each set with a name that no other has."""
    labels = [s.label for s in sets]
    names = [s.label if s.label and labels.count(s.label) == 1 else s.path for s in sets]
    out = []
    for quant, name in zip(sets, names, strict=True):
        clear = name if names.count(name) == 1 else quant.files[0].path
        out.append(
            Quant(quant.folder, quant.stem, quant.label, quant.files, quant.pieces, quant.missing, quant.absent, clear)
        )
    return out
