"""One file that holds what was read of repos, to be read again without a network: write it, open it, find in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

from inspector.errors import MalformedFile, SourceError
from inspector.escape import terminal
from inspector.records import dataclass
from inspector.snapshot_file import MANIFEST
from inspector.snapshots import snapshot_manifest, snapshot_zip
from inspector.snapshots.snapshot_model import Asked, Recorded, Refused
from inspector.snapshots.snapshot_zip import FOLDER, Entry, Packed


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An opened snapshot: its repos as recorded, and where their bytes lie in the file."""

    path: Path
    repos: tuple[Recorded, ...]
    refused: tuple[Refused, ...]
    entries: Mapping[str, Entry]
    data: bytes | None = None
    """The file's bytes where it is not written yet."""

    def contents(self, digests: Iterable[str]) -> dict[str, bytes]:
        """Contents by sha256, each held to it. Raises `MalformedFile`."""
        place = _place(self.path)
        wanted = sorted(set(digests), key=lambda d: self.entries[FOLDER + d].at)
        try:
            with self._opened() as stream:
                return {d: snapshot_zip.unpack(stream, FOLDER + d, self.entries[FOLDER + d], place) for d in wanted}
        except OSError as error:
            raise _unreadable(self.path, error) from None

    def _opened(self) -> BinaryIO:
        return self.path.open("rb") if self.data is None else BytesIO(self.data)

    def verify(self) -> None:
        """Hold every content to its sha256, one at a time. Raises `MalformedFile`."""
        for name in self.entries:
            if name != MANIFEST:
                self.contents([name.removeprefix(FOLDER)])

    def find(
        self, name: str, revision: str | None = None, path: str | None = None, kind: str | None = None
    ) -> Recorded:
        """The repo that was recorded under a name, asked or resolved; `kind` None takes any.

        Without a `revision` the one that was recorded without, else the only one. Raises `SourceError` where there is
        none, and the recorded error for a repo that could not be read.
        """
        named = [r for r in self.repos if _is(r, name) and kind in (None, r.listing.ref.kind)]
        fitting = [r for r in named if revision in (r.asked.revision, r.listing.ref.revision)]
        if not fitting and revision is None and len({r.listing.ref.revision for r in named}) == 1:
            fitting = named
        fitting = [r for r in fitting if r.asked.path == path] or fitting
        if fitting:
            return fitting[0]
        for one in self.refused:
            if one.asked.name.lower() == name.lower() and kind in (None, one.kind) and one.asked.revision == revision:
                raise one.fault.error()
        what = terminal(Asked(name, revision).label, 120)
        raise SourceError(_place(self.path), f"does not hold {what}", f"It holds {self._held(named)}.")

    def _held(self, named: Sequence[Recorded]) -> str:
        labels = [terminal(r.asked.label, 120) for r in named or self.repos]
        more = f" and {len(labels) - 12:,} more" if len(labels) > 12 else ""
        return (", ".join(labels[:12]) or "nothing") + more


def open_snapshot(path: Path) -> Snapshot:
    """Open a file. Raises `MalformedFile` for what is no snapshot of a known schema, `SourceError` where unreadable.

    The contents are held to their sha256 when they are taken out, or by `verify`.
    """
    try:
        with path.open("rb") as stream:
            return _open(stream, path, None)
    except OSError as error:
        raise _unreadable(path, error) from None


def from_bytes(data: bytes, path: Path) -> Snapshot:
    """Open the bytes of a file that is yet to be written to `path`. Raises `MalformedFile`."""
    return _open(BytesIO(data), path, data)


def _open(stream: BinaryIO, path: Path, data: bytes | None) -> Snapshot:
    place = _place(path)
    entries = snapshot_zip.directory(stream, place)
    manifest = snapshot_zip.unpack(stream, MANIFEST, entries[MANIFEST], place)
    repos, refused = snapshot_manifest.read(manifest, place)
    _whole(repos, entries, place)
    return Snapshot(path, repos, refused, entries, data)


def dump(repos: Sequence[Recorded], refused: Sequence[Refused], contents: Mapping[str, Packed], version: str) -> bytes:
    """The bytes of a snapshot; the same for the same repos in any order. `contents` are named as `pack` names them."""
    wanted = {FOLDER + d for r in repos for d in r.digests}
    manifest = snapshot_manifest.write(repos, refused, version)
    return snapshot_zip.assemble(manifest, {name: contents[name] for name in wanted})


def _whole(repos: Sequence[Recorded], entries: Mapping[str, Entry], place: str) -> None:
    """The manifest and the contents name each other, and agree on sizes."""
    advice = "Make it again with `inspect record` or `inspect lock`."
    named: set[str] = set()
    for repo in repos:
        sizes = {f.path: f.size for f in repo.listing.files}
        said = [(d, sizes[p], p) for p, d in repo.documents.items()]
        said += [(piece.digest, piece.size, p) for p, r in repo.reads.items() for piece in r.pieces]
        for digest, size, path in said:
            entry = entries.get(FOLDER + digest)
            if entry is None:
                message = f"lacks {FOLDER}{digest}, which it needs for {terminal(path, 80)}"
                raise MalformedFile(place, message, advice)
            if size is not None and size != entry.size:
                message = f"says {size:,} bytes of {terminal(path, 80)} and holds {entry.size:,}"
                raise MalformedFile(place, message, advice)
            named.add(FOLDER + digest)
    spare = sorted(set(entries) - named - {MANIFEST})
    if spare:
        raise MalformedFile(place, f"holds {spare[0]}, which no repo in it needs", advice)


def _is(recorded: Recorded, name: str) -> bool:
    """Names of the Hub are the same in any case; paths are not."""
    known = (recorded.asked.name, recorded.listing.ref.repo)
    if recorded.listing.ref.kind == "local":
        return name in known
    return name.lower() in (known[0].lower(), known[1].lower())


def _place(path: Path) -> str:
    return terminal(str(path), 200)


def _unreadable(path: Path, error: OSError) -> SourceError:
    reason = (error.strerror or "cannot be read").lower()
    return SourceError(_place(path), reason, "Check the path and its permissions.")
