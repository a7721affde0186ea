"""Bytes of one file format to a `Header`: pure readers that are fed chunks and do no I/O.

`READERS` maps a `Selection.format` to the module of its reader, imported where a file has the format; adding a format
is one file and one line.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final, Protocol

from inspector.model import Header


class Reader(Protocol):
    """Is fed a file's first bytes in order; never asks for the same byte twice."""

    def __init__(self, file: str, file_size: int | None) -> None: ...

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes. True when the header is complete. Raises `MalformedFile`."""
        ...

    def told(self, file_size: int | None) -> None:
        """Take the file's size where an answer stated it and the listing did not."""
        ...

    @property
    def received(self) -> int:
        """Bytes taken so far."""
        ...

    @property
    def missing(self) -> int:
        """Bytes to read next, at least those certainly still needed; 0 when complete."""
        ...

    def header(self) -> Header:
        """The header. Raises `MalformedFile` if the bytes so far do not hold a whole one."""
        ...


READERS: Final[Mapping[str, str]] = MappingProxyType({"safetensors": "safetensors", "gguf": "gguf"})


def reader(format: str) -> type[Reader] | None:
    """The reader of a format; None for one whose headers are not read."""
    if format not in READERS:
        return None
    found: type[Reader] = import_module(f"inspector.formats.{READERS[format]}").Reader
    return found
