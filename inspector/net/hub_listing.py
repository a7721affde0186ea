"""What the Hub's metadata and tree routes say, as files. Pure: decoded JSON in, values out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from inspector.errors import SourceError
from inspector.escape import terminal
from inspector.model import File, Json
from inspector.records import dataclass

_SHA: Final = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NEXT: Final = re.compile(r'<([^<>]{1,4000})>\s*;[^,<]*\brel="?next"?')


@dataclass(frozen=True, slots=True)
class Info:
    """The answer of `/api/models/NAME/revision/REV?blobs=true`. `name` and `sha` are None where it has none."""

    name: str | None
    sha: str | None
    files: tuple[File, ...]
    parameters: Mapping[str, int] | None
    total: int | None

    @property
    def sized(self) -> bool:
        """Whether every file has its size: mirrors are known to drop them."""
        return all(f.size is not None for f in self.files)


def info(value: Json, place: str) -> Info:
    """Read the metadata. Raises `SourceError` for what is no metadata of a repo."""
    siblings = value.get("siblings") if isinstance(value, dict) else None
    if not isinstance(siblings, list):
        raise SourceError(place, "the answer lists no files (no key `siblings`)", "Check that HF_ENDPOINT is a Hub.")
    files = tuple(_file(s, "rfilename", "blobId", "sha256", place) for s in siblings)
    name, sha = value.get("id"), value.get("sha")
    claims = value.get("safetensors")
    counts = claims.get("parameters") if isinstance(claims, dict) else None
    parameters = None
    if isinstance(counts, dict):
        parameters = MappingProxyType({k: n for k, n in counts.items() if _count(n) is not None})
    return Info(
        name=name if isinstance(name, str) else None,
        sha=sha if isinstance(sha, str) and _SHA.fullmatch(sha) else None,
        files=files,
        parameters=parameters,
        total=_count(claims.get("total")) if isinstance(claims, dict) else None,
    )


def tree(value: Json, place: str) -> tuple[File, ...]:
    """The files of one page of `/api/models/NAME/tree/REV?recursive=true`."""
    if not isinstance(value, list):
        raise SourceError(place, "the answer is no list of files", "Check that HF_ENDPOINT is a Hub.")
    return tuple(
        _file(e, "path", "oid", "oid", place)
        for e in value
        if not (isinstance(e, dict) and e.get("type") == "directory")
    )


def next_query(link: str) -> str | None:
    """The query of the next page in a `Link` header, None on the last page.

    Only the query: mirrors pass on the address of the Hub behind them.
    """
    match = _NEXT.search(link)
    return match.group(1).partition("?")[2] or None if match else None


def unsafe(path: str) -> bool:
    """Whether a URL with this path would name something else: empty, `.` and `..` parts are taken out by clients."""
    return any(part in ("", ".", "..") for part in path.split("/"))


def _file(entry: Json, name: str, oid: str, lfs_id: str, place: str) -> File:
    path = entry.get(name) if isinstance(entry, dict) else None
    if not isinstance(path, str):
        raise SourceError(
            place, f"a file of the listing has no name (key `{name}`)", "Check that HF_ENDPOINT is a Hub."
        )
    lfs = entry.get("lfs")
    lfs = lfs if isinstance(lfs, dict) else {}
    size = _count(lfs.get("size"))
    if size is None:
        size = _count(entry.get("size"))
    identity = lfs.get(lfs_id) or entry.get(oid)
    if not lfs.get(lfs_id) and lfs.get("sha256"):
        identity = lfs["sha256"]
    return File(path, size, identity if isinstance(identity, str) else None)


def _count(value: Json) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def refuse(path: str, repo: str) -> SourceError:
    """The error for a path that must not be put into a URL."""
    return SourceError(terminal(f"{repo}/{path}", 200), "the name holds an empty, `.` or `..` part", "It is not read.")
