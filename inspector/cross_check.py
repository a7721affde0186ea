"""A shard index held against the headers of its shards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from operator import itemgetter

from inspector.model import Header, Note, ShardIndex, WeightMap


def cross_check(index: ShardIndex, folder: str, headers: Sequence[Header]) -> tuple[Note, ...]:
    """Notes where a shard index and the headers disagree: names either way, wrong shard, total_size.

    Of a file that could not be read nothing is concluded.
    """
    notes: list[Note] = []
    prefix = f"{folder}/" if folder else ""
    if _same(index, headers) or _agree(index, prefix, headers):
        return _total_size(index, headers, {h.file.removeprefix(prefix) for h in headers})
    stored: dict[str, list[str]] = {}
    for header in headers:
        for tensor in header.tensors:
            stored.setdefault(tensor.name, []).append(header.file)
    read = {h.file.removeprefix(prefix) for h in headers}
    absent = [n for n, f in index.weight_map.items() if n not in stored and f in read]
    unlisted = [n for n in stored if n not in index.weight_map]
    moved = [n for n, files in stored.items() if n in index.weight_map and prefix + index.weight_map[n] not in files]
    for code, names, words in (
        ("index_names_absent", absent, "the index names {} that no header has"),
        ("index_names_unlisted", unlisted, "headers have {} that the index does not name"),
        ("index_wrong_shard", moved, "the index names another file than the one that holds {}"),
    ):
        if names:
            notes.append(Note(code, f"{words.format(_tensors(names))}, first {names[0][:200]!r}", index.file))
    return (*notes, *_total_size(index, headers, read, explained=not absent and not unlisted))


def _same(index: ShardIndex, headers: Sequence[Header]) -> bool:
    """Whether the index was found to say what these very headers say."""
    if not isinstance(index.weight_map, WeightMap):
        return False
    return set(map(id, index.weight_map.headers)) == set(map(id, headers))


def _agree(index: ShardIndex, prefix: str, headers: Sequence[Header]) -> bool:
    """Whether every name of the headers is in the index under its own file, and no other name is."""
    total = 0
    for header in headers:
        names = header.names
        total += len(names)
        if list(map(index.weight_map.get, names)).count(header.file.removeprefix(prefix)) != len(names):
            return False
    return total == len(index.weight_map)


def _total_size(
    index: ShardIndex, headers: Sequence[Header], read: set[str], *, explained: bool = True
) -> tuple[Note, ...]:
    """A note where the index claims another total than that of the headers, all of which were read.

    It may be `explained` where the index and the headers speak of the same tensors: else any rule that fits is chance.
    """
    notes: list[Note] = []
    alike = {id(h.decoded): h.tensor_bytes for h in {id(h.decoded): h for h in headers}.values()}
    total = sum(alike[id(h.decoded)] for h in headers)
    if index.total_size is not None and index.total_size != total and read >= index.shards:
        notes.append(
            Note(
                "index_total_size",
                f"metadata.total_size says {index.total_size:,} bytes, the headers say {total:,}"
                f"{_explain(index.total_size, headers, total) if explained and total else ''}",
                index.file,
            )
        )
    return tuple(notes)


def _explain(claimed: int, headers: Sequence[Header], total: int) -> str:
    """A known mistake that gives exactly the claimed total, or nothing."""
    if claimed == total + sum(h.length for h in headers):
        return " (it counts the headers too)"
    alike = Counter(id(h.decoded) for h in headers)
    models = {id(h.decoded): h.decoded for h in headers}
    shapes = {key: Counter(map(itemgetter(2), tensors)) for key, tensors in models.items()}
    elements = sum(alike[k] * n * _elements(shape) for k, counts in shapes.items() for shape, n in counts.items())
    for size, words in ((2, "16"), (4, "32")):
        if claimed == size * elements:
            return f" (it counts every element as {words} bits)"
    seen: dict[str, int] = {t.name: t.nbytes for h in headers for t in h.tensors}
    return " (it counts tensors stored twice once)" if claimed == sum(seen.values()) else ""


def _elements(shape: tuple[int, ...]) -> int:
    n = 1
    for d in shape:
        n *= d
    return n


def _tensors(names: Sequence[str]) -> str:
    return "1 tensor" if len(names) == 1 else f"{len(names):,} tensors"
