"""The seam for bytes, and progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from inspector.model.listing import Listing
from inspector.model.report import Cost
from inspector.records import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one inspection is: `stage` in words, files `done` of `total`, body bytes so far, and what is not in yet.

    `waiting` are names, the one asked for first in front.
    """

    stage: str
    done: int
    total: int
    bytes: int
    waiting: tuple[str, ...] = ()


class Source(Protocol):
    """The one seam for bytes: a listing with sizes, and ranges of its files. For the tasks of one thread.

    Every method raises `SourceError` when bytes cannot be had; none ever returns bytes other than those asked.
    """

    @property
    def jobs(self) -> int:
        """How many files are worth reading at once."""
        ...

    async def listing(self) -> Listing:
        """All files of the resolved revision; the same value however often it is asked."""
        ...

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand bytes `start..start+length` (clipped at the end of the file) to `feed` in order, in chunks.

        Stops reading as soon as `feed` returns True. Returns how many bytes were handed over.
        """
        ...

    async def small(self, path: str) -> bytes:
        """The whole of a small text file: config, index."""
        ...

    def cost(self) -> Cost:
        """Requests and body bytes so far (`weight_bytes_read` is the caller's to fill)."""
        ...

    def close(self) -> None:
        """Give back connections and file handles."""
        ...
