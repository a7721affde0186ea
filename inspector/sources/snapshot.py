"""A repo out of a snapshot: every byte comes from the file, no request is ever made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from inspector.address import Address
from inspector.errors import MalformedFile, SourceError, UsageError
from inspector.escape import terminal
from inspector.model import Cost, Listing, Source
from inspector.net.failures import shown
from inspector.snapshots.snapshot import Snapshot, open_snapshot
from inspector.snapshots.snapshot_model import Asked, Recorded

_JOBS: Final = 4
"""Files read at once: bytes are in memory, and decoding holds the interpreter's lock."""


class SnapshotSource:
    """The `Source` of one recorded repo. What was not recorded cannot be read, and says so."""

    def __init__(self, snapshot: Snapshot, recorded: Recorded) -> None:
        self._snapshot = snapshot
        self._recorded = recorded
        self._sizes = {f.path: f.size for f in recorded.listing.files}
        self._contents: Mapping[str, bytes] | None = None

    @property
    def jobs(self) -> int:
        """How many files are worth reading at once."""
        return _JOBS

    @property
    def asked(self) -> Asked:
        """What was asked for when it was recorded."""
        return self._recorded.asked

    @property
    def path(self) -> str | None:
        """The one file that was asked for when it was recorded."""
        return self._recorded.asked.path

    @property
    def variants(self) -> tuple[str | None, ...]:
        """The sets of weights that were recorded, None for the default."""
        return self._recorded.variants

    @property
    def variant(self) -> str | None:
        """The set of weights that was recorded, None where the default is among them."""
        variants = self._recorded.variants
        return None if None in variants or not variants else variants[0]

    async def listing(self) -> Listing:
        """The recorded listing. Raises `MalformedFile` where a content of this repo is not what its sha256 says."""
        self._bytes()
        return self._recorded.listing

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand bytes `start..start+length` to `feed`. Raises the recorded error, `SourceError` for bytes not kept."""
        self._refuse_faulty(path)
        read = self._recorded.reads.get(path)
        if read is None:
            raise self._absent(path, "its header")
        size = self._sizes.get(path)
        stop = start + length if size is None else min(start + length, size)
        piece = next((p for p in read.pieces if p.start <= start < p.start + p.size), None)
        held = 0 if piece is None else min(stop, piece.start + piece.size) - start
        if held > 0 and piece is not None:
            content = self._bytes()[piece.digest]
            if feed(content[start - piece.start : start - piece.start + held]):
                return held
        if start + held < stop and not read.ends:
            raise self._absent(path, f"its bytes from {start + held:,}")
        return max(held, 0)

    async def small(self, path: str) -> bytes:
        """The whole of a recorded document."""
        self._refuse_faulty(path)
        digest = self._recorded.documents.get(path)
        if digest is None:
            raise self._absent(path, "it")
        return self._bytes()[digest]

    def cost(self) -> Cost:
        """Nothing: no request, no byte from a socket."""
        return Cost()

    def close(self) -> None:
        """Let go of the contents."""
        self._contents = None

    def _bytes(self) -> Mapping[str, bytes]:
        if self._contents is None:
            self._contents = self._snapshot.contents(self._recorded.digests)
        return self._contents

    def _refuse_faulty(self, path: str) -> None:
        fault = self._recorded.faults.get(path)
        if fault is not None:
            raise fault.error()

    def _absent(self, path: str, what: str) -> SourceError:
        kept = ", ".join(terminal(v, 60) if v else "the default" for v in self._recorded.variants)
        advice = f"Recorded were the weights of: {kept}. Record it again with --variant for others."
        message = f"the snapshot {self._snapshot.path} does not hold {what}"
        return SourceError(terminal(path, 200), terminal(message, 300), advice)


def asked_for(address: Address) -> Asked:
    """What an address asks for, as a snapshot says it: a plain URL without its query, which may hold a signature."""
    name = shown(address.name) if address.kind == "url" else address.name
    return Asked(name, address.revision, address.path)


def open_recorded(address: Address) -> SnapshotSource:
    """The source of an address of kind `snapshot`: the repo that it names, or the only one in the file.

    Raises `MalformedFile` for a file that is no sound snapshot, `UsageError` where it holds several.
    """
    snapshot = open_snapshot(Path(address.name))
    if address.repo is not None:
        return SnapshotSource(snapshot, _named(snapshot, address.repo))
    if len(snapshot.repos) != 1:
        if len(snapshot.refused) == 1 and not snapshot.repos:
            raise snapshot.refused[0].fault.error()
        first = snapshot.repos[0].asked.label if snapshot.repos else "org/name"
        message = f"holds {len(snapshot.repos):,} repos"
        raise UsageError(terminal(address.name, 200), message, f"Name one: {terminal(f'{address.name}#{first}', 200)}")
    return SnapshotSource(snapshot, snapshot.repos[0])


def open_locked(file: str | Path) -> Callable[[Address], Source]:
    """What opens addresses from a lock instead of the network, every byte of it verified first.

    Raises `UsageError` for a file that is no sound snapshot. The function raises `SourceError` for a repo that the lock
    does not hold, and the recorded error for one that could not be read when it was made.
    """
    try:
        snapshot = open_snapshot(Path(file))
        snapshot.verify()
    except (MalformedFile, SourceError) as error:
        raise UsageError(f"--locked {error.place}", error.message, error.advice) from None
    return opener(snapshot)


def opener(snapshot: Snapshot) -> Callable[[Address], Source]:
    """What opens addresses from a snapshot. It raises what `open_locked` says."""

    def open_address(address: Address) -> Source:
        asked = asked_for(address)
        found = snapshot.find(asked.name, asked.revision, asked.path, address.kind)
        return SnapshotSource(snapshot, found)

    return open_address


def _named(snapshot: Snapshot, label: str) -> Recorded:
    exact = [r for r in snapshot.repos if r.asked.label == label]
    if exact:
        return exact[0]
    name, at, revision = label.rpartition("@")
    return snapshot.find(name, revision) if at else snapshot.find(label)


def each(file: str | Path) -> tuple[str, ...]:
    """How each repo of a snapshot is written as a REPO; only the file where there is one."""
    snapshot = open_snapshot(Path(file))
    labels = [*(r.asked.label for r in snapshot.repos), *(r.asked.label for r in snapshot.refused)]
    return (str(file),) if len(labels) == 1 else tuple(f"{file}#{label}" for label in labels)
