"""A repo in huggingface_hub's cache, used where no request may be made.

`models--org--name/refs/REV` holds a commit, `snapshots/COMMIT/` links to `blobs/`, and `trees/COMMIT.json` (written by
huggingface_hub 2) lists what the commit has, downloaded or not.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, cast

from inspector import disk
from inspector.address import Address, Kind
from inspector.errors import SourceError
from inspector.escape import terminal
from inspector.model import Cost, File, Listing, Note, Ref
from inspector.net import environment
from inspector.net.failures import namesake

_JOBS: Final = 4
"""Files read at once: a disk answers in microseconds, and decoding holds the interpreter's lock."""
_SHA: Final = re.compile(r"[0-9a-f]{40}")
_REPO: Final = re.compile(r"(?P<kind>model|dataset|space)s--(?P<name>[\w.-]+)", re.ASCII)
_ONLINE: Final = "Run it online (without HF_HUB_OFFLINE and --offline), or `hf download` it first."


def cached_repo(folder: Path) -> CacheSource | None:
    """The source of a folder that is one repo of a cache, wherever it lies; None for any other folder.

    Its snapshot is that of `refs/main`, else the only one. Raises `SourceError` where neither says which.
    """
    match = _REPO.fullmatch(folder.resolve().name)
    if match is None or not (folder / "snapshots").is_dir():
        return None
    revision = None
    if not (folder / "refs" / "main").is_file():
        found = sorted(p.name for p in (folder / "snapshots").iterdir() if _SHA.fullmatch(p.name))
        if len(found) != 1:
            advice = f"Name one of them: {folder / 'snapshots'}/COMMIT."
            raise SourceError(str(folder), f"holds {len(found):,} snapshots and no refs/main", advice)
        revision = found[0]
    kind = cast(Kind, match["kind"])
    return CacheSource(Address(kind, match["name"].replace("--", "/"), revision), folder=folder)


class CacheSource:
    """The `Source` of a cached repo. It makes no request; what is not cached is listed and cannot be read.

    `folder` is the repo's own, by default that of its name below the cache of the environment.
    """

    def __init__(self, address: Address, *, env: Mapping[str, str] | None = None, folder: Path | None = None) -> None:
        self._env: Mapping[str, str] = os.environ if env is None else env
        self._kind = address.kind if address.kind in ("dataset", "space") else "model"
        self._name, self._revision, self._beside = address.name, address.revision or "main", address.beside
        own = f"{self._kind}s--{address.name.replace('/', '--')}"
        self._folder = environment.cache_folder(self._env) / own if folder is None else folder
        self._listing: Listing | None = None
        self._files: dict[str, File] = {}
        self._here: frozenset[str] = frozenset()

    @property
    def jobs(self) -> int:
        """How many files are worth reading at once."""
        return _JOBS

    async def listing(self) -> Listing:
        """The files of the commit that the cache last saw under the revision."""
        return self._listed()

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand bytes `start..start+length` of a cached file to `feed`."""
        where, file = self._file(path)
        return disk.stream(where, file, start, length, feed)

    async def small(self, path: str) -> bytes:
        """The whole of a small text file."""
        where, file = self._file(path)
        return disk.small(where, file)

    def cost(self) -> Cost:
        """Nothing: no request, no byte from a socket."""
        return Cost()

    def close(self) -> None:
        """Nothing is held open between calls."""

    def _listed(self) -> Listing:
        if self._listing is None:
            try:
                self._listing = self._list()
            except SourceError as e:
                raise namesake(e, self._name) if self._beside else e from None
        return self._listing

    def _file(self, path: str) -> tuple[Path, File]:
        sha = self._listed().ref.revision or ""
        if path not in self._files:
            raise SourceError(terminal(f"{self._name}/{path}", 200), "no such file in the cached commit", _ONLINE)
        if path not in self._here:
            message = "is listed and not in the cache, and no request may be made"
            raise SourceError(terminal(f"{self._name}/{path}", 200), message, _ONLINE)
        return self._folder / "snapshots" / sha / path, self._files[path]

    def _list(self) -> Listing:
        sha = self._commit()
        snapshot = self._folder / "snapshots" / sha
        found = disk.walk(snapshot) if snapshot.is_dir() else disk.Found((), ())
        listed = self._tree(sha)
        if not found.files and not listed:
            raise SourceError(self._name, f"nothing of commit {sha} is in the cache at {self._folder}", _ONLINE)
        self._here = frozenset(f.path for f in found.files)
        files = {f.path: f for f in (*listed, *found.files)}
        # A downloaded file whose blob was removed leaves a broken link; the tree still knows its size.
        notes = [n for n in found.notes if n.where not in files]
        if not listed:
            message = "offline, the cache knows only the files that were downloaded; the repo may have more"
            notes.append(Note("partial_listing", message, self._name))
        elif len(self._here) < len(files):
            message = f"offline, {len(self._here):,} of {len(files):,} files are in the cache"
            notes.append(Note("partly_cached", message, self._name))
        self._files = files
        ordered = tuple(files[path] for path in sorted(files))
        return Listing(Ref(self._name, sha, self._kind), ordered, notes=tuple(notes))

    def _commit(self) -> str:
        """The commit of the revision: `refs/<rev>` of the cache, or the revision itself."""
        if not self._folder.is_dir():
            message = f"is not in the cache at {self._folder.parent}, and no request may be made"
            raise SourceError(self._name, message, _ONLINE)
        if _SHA.fullmatch(self._revision):
            return self._revision
        reference = self._folder / "refs" / self._revision
        try:
            sha = reference.read_text("utf-8").strip()
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            message = f"revision {terminal(self._revision, 100)} is not in the cache, and no request may be made"
            raise SourceError(self._name, message, _ONLINE) from None
        except (OSError, ValueError):
            sha = ""
        if not _SHA.fullmatch(sha):
            message = "does not hold a commit"
            raise SourceError(terminal(str(reference), 200), message, "Delete it; the next download writes it anew.")
        return sha

    def _tree(self, sha: str) -> tuple[File, ...]:
        """The commit's list of files; nothing where there is none, or one in a form that is not known."""
        try:
            value = json.loads((self._folder / "trees" / f"{sha}.json").read_bytes())
            if value["format_version"] != 1:
                return ()
            return tuple(_entry(path, about) for path, about in value["files"].items())
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return ()


def _entry(path: str, about: Mapping[str, object]) -> File:
    size = about["lfs_size"] if about.get("lfs_size") is not None else about["size"]
    identity = about.get("lfs_sha256") or about["blob_id"]
    if not isinstance(size, int) or isinstance(size, bool) or size < 0 or not isinstance(identity, str):
        raise ValueError(path)
    return File(path, size, identity)
