"""A source in front of another: what was read of immutable content once is not asked for again.

Listings are kept by commit, headers and small files by content id. Without a source behind it (offline) only what is
kept can be had; a branch is then the commit that it was when it was last listed.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from inspector.errors import SourceError
from inspector.escape import terminal
from inspector.keep.keeping import COMMIT
from inspector.keep.store import Store
from inspector.model import Cost, File, Listing, Note, Ref, Source
from inspector.net.learning import Packer, told
from inspector.records import replace
from inspector.tasks import Task, finish, start

_MOST: Final = 128_000_000
"""Bytes of one file that are kept: a header has at most 100 MB."""
_PLAIN, _PACKED, _LIKE = b"=", b"z", b"~"
"""How a file is kept, told in its first byte: as it is, as gzip, or as what differs from another one."""
_TOGETHER: Final = 64_000_000
"""Bytes that wait to be written together."""
_OFFLINE: Final = "Run it online (without HF_HUB_OFFLINE and --offline)."


class KeptSource:
    """The `Source` of a repo on a Hub, by way of the cache. `where` names Hub, kind and repo, `revision` as asked."""

    def __init__(self, behind: Source | None, store: Store, where: tuple[str, str, str], revision: str) -> None:
        self._behind, self._store, self._where, self._revision = behind, store, where, revision
        self._asked: Task[Listing] | None = None
        self._files: dict[str, File] = {}
        self._cached: set[str] = set()
        self._new: dict[str, tuple[bytes, ...]] = {}
        self._bytes = 0

    @property
    def jobs(self) -> int:
        """How many files are worth reading at once."""
        return self._behind.jobs if self._behind is not None else 4

    def known(self) -> bool:
        """Whether the listing is kept."""
        return self._kept_listing() is not None

    async def listing(self) -> Listing:
        """All files of the revision: kept ones for a commit, else as the Hub says now."""
        if self._asked is None:
            self._asked = await start(self._list())
        return await finish(self._asked)

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand bytes to `feed`, kept ones first."""
        key = await self._key(path)
        kept = self._kept(key) if key is not None else None
        handed = 0
        if kept is not None and start < len(kept):
            chunk = kept[start : start + length]
            self._cached.add(path)
            handed = len(chunk)
            if feed(chunk) or handed == length or start + handed == self._files[path].size:
                return handed
        parts: list[bytes] = []

        def keep(chunk: bytes) -> bool:
            parts.append(chunk)
            return feed(chunk)

        handed += await self._source(path).stream(path, start + handed, length - handed, keep)
        before = (kept or b"")[: start + handed - sum(map(len, parts))]
        if key is not None and len(before) + sum(map(len, parts)) == start + handed <= _MOST:
            self._keep(key, _PLAIN, before, *parts)
        return handed

    def size_of(self, path: str) -> int | None:
        """What the source behind has learned of a file's size."""
        return told(self._behind, path)

    async def small(self, path: str) -> bytes:
        """The whole of a small text file."""
        key = await self._key(path)
        kept = _unpacked_text(self._store.get(f"{key} whole")) if key is not None else None
        if kept is not None:
            self._cached.add(path)
            return kept
        source = self._source(path)
        data = await source.small(path)
        packed = source.packed(path) if isinstance(source, Packer) else None
        if key is not None:
            self._keep(f"{key} whole", _PACKED + packed if packed is not None else _PLAIN + data)
        return data

    def alike(self, path: str, model: str, old: str, own: str, length: int) -> None:
        """Keep of a header only in what it differs from another one."""
        keys = [_content_key(self._where[0], self._files[p]) for p in (path, model) if p in self._files]
        if len(keys) == 2 and keys[0] is not None and keys[0] in self._new:
            self._bytes -= sum(map(len, self._new.pop(keys[0])))
            self._keep(keys[0], _LIKE, json.dumps([keys[1], old, own, length]).encode())

    def _kept(self, key: str) -> bytes | None:
        """What is kept of a file's beginning: as it is, or as another one's with another prefix."""
        found = b"".join(self._new[key]) if key in self._new else self._store.get(key) or b""
        if found[:1] == _PLAIN:
            return found[1:]
        with suppress(ValueError, TypeError):
            if found[:1] == _LIKE:
                model, old, own, length = json.loads(found[1:])
                kept = b"".join(self._new[model]) if model in self._new else self._store.get(model)
                return _rewritten(kept, old, own, length)
        return None

    def cost(self) -> Cost:
        """What the network cost, and how many files came from the cache."""
        cost = self._behind.cost() if self._behind is not None else Cost()
        return replace(cost, cached_files=cost.cached_files + len(self._cached))

    def close(self) -> None:
        """Close the source behind, write what is to be kept, and keep the cache within its bound."""
        if self._behind is not None:
            self._behind.close()
        self._write()
        self._store.tidy()

    def _keep(self, key: str, *content: bytes) -> None:
        """Keep something at the end; at once where much has come together."""
        self._new[key] = content
        self._bytes += sum(map(len, content))
        if self._bytes > _TOGETHER:
            self._write()

    def _write(self) -> None:
        if self._new:
            self._store.put_all(self._new)
            self._new, self._bytes = {}, 0

    def _source(self, path: str) -> Source:
        if self._behind is None:
            message = "is not in the cache, and no request may be made"
            raise SourceError(terminal(f"{self._where[2]}/{path}", 200), message, _OFFLINE)
        return self._behind

    async def _key(self, path: str) -> str | None:
        await self.listing()
        file = self._files.get(path)
        return None if file is None else _content_key(self._where[0], file)

    async def _list(self) -> Listing:
        listing = await self._listed()
        self._files = {f.path: f for f in listing.files}
        return listing

    async def _listed(self) -> Listing:
        kept = self._kept_listing()
        if kept is not None and (self._behind is None or COMMIT.fullmatch(self._revision)):
            return kept
        if self._behind is None:
            raise SourceError(
                terminal(self._where[2], 200), "is not in the cache, and no request may be made", _OFFLINE
            )
        listing = await self._behind.listing()
        commit = listing.ref.revision
        if commit is not None and COMMIT.fullmatch(commit):
            self._keep(self._listing_key(commit), _packed(listing))
            if commit != self._revision:
                self._keep(repr(("revision", *self._where, self._revision)), commit.encode())
        return listing

    def _kept_listing(self) -> Listing | None:
        commit = self._revision
        if not COMMIT.fullmatch(commit):
            commit = (self._store.get(repr(("revision", *self._where, self._revision))) or b"").decode(
                "ascii", "replace"
            )
        form = self._store.get(self._listing_key(commit)) if commit else None
        with suppress(ValueError, TypeError, KeyError):
            return None if form is None else _unpacked(json.loads(form))
        return None

    def _listing_key(self, commit: str) -> str:
        return repr(("listing", *self._where, commit))


def _content_key(endpoint: str, file: File) -> str | None:
    return None if file.content_id is None else repr(("content", endpoint, file.content_id, file.size))


def _unpacked_text(kept: bytes | None) -> bytes | None:
    """A small file as it is, None where it is not kept, or not in a form that is."""
    if kept is None or kept[:1] == _PLAIN:
        return None if kept is None else kept[1:]
    try:
        unpacker = zlib.decompressobj(31)
        data = unpacker.decompress(kept[1:], _MOST)
    except zlib.error:
        return None
    return data if unpacker.eof else None


def _rewritten(model: bytes | None, old: str, own: str, length: int) -> bytes | None:
    """The `length` header bytes of a file that is like `model`; None where `model` is not there, or too short."""
    if model is None or model[:1] != _PLAIN or len(model) < 9 + int.from_bytes(model[1:9], "little"):
        return None
    model = model[1:]
    table = model[8 : 8 + int.from_bytes(model[:8], "little")].rstrip(b" ")
    table = table.replace(b'"' + old.encode(), b'"' + own.encode())
    return (length - 8).to_bytes(8, "little") + table.ljust(length - 8) if len(table) <= length - 8 else None


def _packed(listing: Listing) -> bytes:
    value = {
        "ref": [listing.ref.repo, listing.ref.revision, listing.ref.kind],
        "files": [[f.path, f.size, f.content_id, f.pointer] for f in listing.files],
        "hub": [dict(listing.hub_parameters) if listing.hub_parameters is not None else None, listing.hub_total],
        "notes": [[n.code, n.message, n.where] for n in listing.notes],
    }
    return json.dumps(value, separators=(",", ":")).encode()


def _unpacked(value: Mapping[str, Any]) -> Listing:
    parameters, total = value["hub"]
    files = tuple(File(*f) for f in value["files"])
    return Listing(Ref(*value["ref"]), files, parameters, total, tuple(Note(*n) for n in value["notes"]))
