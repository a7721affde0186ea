"""The values of a snapshot: what was asked, what was read of it, and what could not be."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from inspector.errors import InspectorError, MalformedFile, SourceError, UnsupportedFile
from inspector.model import Listing
from inspector.records import dataclass

FAULTS: Final[Mapping[str, type[InspectorError]]] = MappingProxyType(
    {"source": SourceError, "unsupported": UnsupportedFile, "malformed": MalformedFile}
)
"""How a manifest names the errors that reading may give."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: a repo's name or local path, the revision and the one file if they were named."""

    name: str
    revision: str | None = None
    path: str | None = None

    @property
    def label(self) -> str:
        """As it is written behind `FILE#`."""
        return self.name if self.revision is None else f"{self.name}@{self.revision}"


@dataclass(frozen=True, slots=True)
class Fault:
    """An error that reading gave, to be raised again on replay."""

    sort: str
    place: str
    message: str
    advice: str

    @classmethod
    def of(cls, error: InspectorError) -> Fault:
        """The fault of an error; what is neither malformed nor unsupported could not be had."""
        sort = next((s for s, kind in FAULTS.items() if type(error) is kind), "source")
        return cls(sort, error.place, error.message, error.advice)

    def error(self) -> InspectorError:
        """The error again."""
        return FAULTS[self.sort](self.place, self.message, self.advice)


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes `start..start+size` of a file, stored under their sha256."""

    start: int
    size: int
    digest: str


@dataclass(frozen=True, slots=True)
class Read:
    """What was read of one file by ranges. `ends`: the file has no bytes after the last piece."""

    pieces: tuple[Piece, ...]
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Recorded:
    """One repo at one commit. `variants` are the sets of weights that were read, None for the default.

    `documents` maps a path to the sha256 of the whole file.
    """

    asked: Asked
    variants: tuple[str | None, ...]
    listing: Listing
    documents: Mapping[str, str]
    reads: Mapping[str, Read]
    faults: Mapping[str, Fault]

    @property
    def digests(self) -> frozenset[str]:
        """Of every content that belongs to this repo."""
        return frozenset(self.documents.values()) | {p.digest for r in self.reads.values() for p in r.pieces}


@dataclass(frozen=True, slots=True)
class Refused:
    """A repo that gave no listing, and why."""

    kind: str
    asked: Asked
    fault: Fault
