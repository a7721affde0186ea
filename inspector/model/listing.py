"""What a repo holds and what of it is chosen: files, listings, parts, variants, the ledger."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from inspector.model.notes import Note
from inspector.records import dataclass


@dataclass(frozen=True, slots=True)
class Ref:
    """What was inspected: `repo` as the source names it, `revision` the commit sha (None for local files)."""

    repo: str
    revision: str | None
    kind: Literal["model", "dataset", "space", "local", "url"] = "model"


@dataclass(frozen=True, slots=True)
class File:
    """One file of a listing: `path` with `/`, `size` in bytes, `content_id` (sha256 of LFS content, else git oid).

    `pointer` is true for a Git LFS pointer on disk: `size` is then the size that the pointer states. `holds` is the
    weight format that its first bytes show, where its name shows none.
    """

    path: str
    size: int | None
    content_id: str | None = None
    pointer: bool = False
    holds: str | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The path without its last part; empty at the root."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of one revision, and what the Hub itself claims about them (`{dtype: count}` and total)."""

    ref: Ref
    files: tuple[File, ...]
    hub_parameters: Mapping[str, int] | None = None
    hub_total: int | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Excluded:
    """A file (or a folder's files of one reason) that is in the repo and not in the checkpoint."""

    path: str
    bytes: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """One loadable module set: the whole of a plain repo (`folder` ''), or one component of a pipeline.

    `files` are weight files, `index` the path of its shard index, `configs` the paths of its config files. `joined` is
    true where the files are raw pieces of one file: only the first has a header.
    """

    folder: str
    files: tuple[File, ...]
    index: str | None = None
    configs: tuple[str, ...] = ()
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """The one loadable set and the ledger: chosen + excluded + other = all files of the listing."""

    format: str
    variant: str | None
    parts: tuple[Part, ...]
    excluded: tuple[Excluded, ...]
    other: tuple[File, ...]
    kind: str = "model"
    menu: tuple[Variant, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def files(self) -> tuple[File, ...]:
        """All chosen weight files."""
        return tuple(f for part in self.parts for f in part.files)


@dataclass(frozen=True, slots=True)
class Variant:
    """One of several equal sets of a repo. `derived` is true where figures are inferred, not read.

    `missing` counts files of the set that are not there: it has no figures then.
    """

    name: str
    files: tuple[File, ...]
    default: bool = False
    tensor_bytes: int | None = None
    parameters: int | None = None
    derived: bool = False
    missing: int = 0

    @property
    def file_bytes(self) -> int | None:
        """Sum of the file sizes, None where one is unknown or a file is missing."""
        sizes = [f.size for f in self.files]
        return None if self.missing or None in sizes else sum(s for s in sizes if s is not None)
