"""A folder or a single file on disk. No request is ever made."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final

from inspector import disk
from inspector.address import Address
from inspector.errors import SourceError
from inspector.escape import terminal
from inspector.model import Cost, File, Listing, Ref

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


class LocalSource:
    """The `Source` of a folder (everything below it), or of one file with the configs that lie beside it."""

    def __init__(self, address: Address) -> None:
        where = Path(address.name)
        self._ref = Ref(address.name, None, "local")
        self._single = where.name if address.path else None
        self._root = where.parent if address.path else where
        self._lock = threading.Lock()
        self._listing: Listing | None = None
        self._files: dict[str, File] = {}

    @property
    def jobs(self) -> int:
        """How many files are worth reading at once."""
        return _JOBS

    def listing(self) -> Listing:
        """All files, sorted by path."""
        with self._lock:
            if self._listing is None:
                found = self._one() if self._single else disk.walk(self._root)
                self._files = {f.path: f for f in found.files}
                self._listing = Listing(self._ref, found.files, notes=found.notes)
            return self._listing

    def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand bytes `start..start+length` to `feed`. Raises `UnsupportedFile` for an LFS pointer."""
        return disk.stream(self._root / path, self._file(path), start, length, feed)

    def small(self, path: str) -> bytes:
        """The whole of a small text file."""
        return disk.small(self._root / path, self._file(path))

    def cost(self) -> Cost:
        """Nothing: no request, no byte from a socket."""
        return Cost()

    def close(self) -> None:
        """Nothing is held open between calls."""

    def _file(self, path: str) -> File:
        self.listing()
        if path not in self._files:
            raise SourceError(terminal(str(self._root / path), 200), "no such file", "Check the path.")
        return self._files[path]

    def _one(self) -> disk.Found:
        names = [self._single or "", *(n for n in _BESIDE if n != self._single and (self._root / n).is_file())]
        found = [disk.look(self._root / name, name) for name in names]
        files = sorted((f for f in found if isinstance(f, File)), key=lambda f: f.path)
        return disk.Found(tuple(files), tuple(n for n in found if not isinstance(n, File)))
