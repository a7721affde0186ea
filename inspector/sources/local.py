"""A folder or a single file on disk. No request is ever made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from inspector import disk
from inspector.address import Address
from inspector.errors import SourceError
from inspector.escape import terminal
from inspector.model import Cost, File, Listing, Ref
from inspector.sets import split_name

_JOBS: Final = 4
"""Files read at once: a disk answers in microseconds, and decoding holds the interpreter's lock."""
_BESIDE: Final = (
    "config.json",
    "adapter_config.json",
    "hf_quant_config.json",
    "quant_config.json",
    "quantization_config.json",
    "quantize_config.json",
)
"""Configs that speak about a file in the same folder; nothing else of that folder belongs to a single file."""


def _set_of(folder: Path, name: str) -> list[str]:
    """Of a shard, its set: the shards of the same stem, variant and count, and their index. Nothing else."""
    stem, variant, number, count = split_name(name)
    if number is None:
        return []
    try:
        names = sorted(p.name for p in folder.iterdir())
    except OSError:
        return []
    suffix = name.rpartition(".")[2]
    index = f"{stem}.{suffix}.index.{f'{variant}.' if variant else ''}json"
    same = (stem, variant, count)
    return [n for n in names if n == index or (n.endswith(f".{suffix}") and _without_number(n) == same)]


def _without_number(name: str) -> tuple[str, str | None, int | None]:
    stem, variant, _, count = split_name(name)
    return stem, variant, count


class LocalSource:
    """The `Source` of a folder (everything below it), or of one file with the configs that lie beside it."""

    def __init__(self, address: Address) -> None:
        where = Path(address.name)
        self._ref = Ref(address.name, None, "local")
        self._single = where.name if address.path else None
        self._root = where.parent if address.path else where
        self._listing: Listing | None = None
        self._files: dict[str, File] = {}

    @property
    def jobs(self) -> int:
        """How many files are worth reading at once."""
        return _JOBS

    async def listing(self) -> Listing:
        """All files, sorted by path."""
        return self._listed()

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand bytes `start..start+length` to `feed`. Raises `UnsupportedFile` for an LFS pointer."""
        return disk.stream(self._root / path, self._file(path), start, length, feed)

    async def small(self, path: str) -> bytes:
        """The whole of a small text file."""
        return disk.small(self._root / path, self._file(path))

    def cost(self) -> Cost:
        """Nothing: no request, no byte from a socket."""
        return Cost()

    def close(self) -> None:
        """Nothing is held open between calls."""

    def _listed(self) -> Listing:
        if self._listing is None:
            found = self._one() if self._single else disk.walk(self._root)
            self._files = {f.path: f for f in found.files}
            self._listing = Listing(self._ref, found.files, notes=found.notes)
        return self._listing

    def _file(self, path: str) -> File:
        self._listed()
        if path not in self._files:
            raise SourceError(terminal(str(self._root / path), 200), "no such file", "Check the path.")
        return self._files[path]

    def _one(self) -> disk.Found:
        single = self._single or ""
        beside = [n for n in _BESIDE if n != single and (self._root / n).is_file()]
        names = dict.fromkeys([single, *beside, *_set_of(self._root, single)])
        found = [disk.look(self._root / name, name) for name in names]
        files = sorted((f for f in found if isinstance(f, File)), key=lambda f: f.path)
        return disk.Found(tuple(files), tuple(n for n in found if not isinstance(n, File)))
