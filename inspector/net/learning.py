"""Sizes that a listing leaves out and answers state: a mirror without sizes says them with every range it sends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from inspector.model import File, Listing, Selection
from inspector.records import replace


@runtime_checkable
class Learner(Protocol):
    """A source that comes to know sizes as it reads."""

    def size_of(self, path: str) -> int | None:
        """What an answer said of a file's size (Content-Range, RFC 9110, 14.4); None where none did yet."""
        ...


@runtime_checkable
class Keeper(Protocol):
    """A source that keeps what it read, and need not keep a header whole that differs from another by one prefix."""

    def alike(self, path: str, model: str, old: str, own: str, length: int) -> None:
        """The header of `path`, `length` bytes of its file, is that of `model` with `own` in the place of `old`."""
        ...


@runtime_checkable
class Packer(Protocol):
    """A source that knows how small files came: packed."""

    def packed(self, path: str) -> bytes | None:
        """The gzip form in which a small file came, handed out once; None where it came as it is."""
        ...


def told(source: object, path: str) -> int | None:
    """The size that a source has learned of a file, None where it learns nothing."""
    return source.size_of(path) if isinstance(source, Learner) else None


def sized(listing: Listing, selection: Selection, sizes: Mapping[str, int | None]) -> tuple[Listing, Selection]:
    """Both with the sizes that were learned, in the place of unknown ones; nothing else is chosen for it."""

    def known(files: Sequence[File]) -> tuple[File, ...]:
        return tuple(f if f.size is not None else replace(f, size=sizes.get(f.path)) for f in files)

    return replace(listing, files=known(listing.files)), replace(
        selection,
        parts=tuple(replace(p, files=known(p.files)) for p in selection.parts),
        menu=tuple(replace(v, files=known(v.files)) for v in selection.menu),
        excluded=tuple(e if e.bytes is not None else replace(e, bytes=sizes.get(e.path)) for e in selection.excluded),
    )
