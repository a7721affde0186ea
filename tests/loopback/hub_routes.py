"""The Hub's own port: metadata, tree, references, and where a file's bytes are."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs, quote, urlencode

from tests.loopback.access import admit, missing_file, missing_revision, refusal
from tests.loopback.content import Entry, pointer
from tests.loopback.ranges import serve
from tests.loopback.repo import Repo
from tests.loopback.routes import Route
from tests.loopback.state import State
from tests.loopback.wire import Answer, Slice

_JSON = {"Content-Type": "application/json; charset=utf-8"}
_DATE = "2026-09-10T08:00:00.000Z"


def answer(state: State, method: str, route: Route, headers: Mapping[str, str], body: bytes) -> Answer:
    """The honest answer of the Hub's port."""
    if route.name == "other":
        return refusal(404, "Sorry, we can't find the page you are looking for.")
    repo = admit(state, route, headers)
    if isinstance(repo, Answer):
        return repo
    if route.name == "refs":
        return _json(_references(repo))
    commit = repo.resolve(route.revision)
    if commit is None:
        return missing_revision(route.revision)
    if route.name == "info":
        return _json(_info(state, repo, commit, route))
    if route.name == "tree":
        return _tree(state, repo, commit, route)
    if route.name == "paths":
        return _json(_paths(state, repo, commit, body))
    if route.name in ("resolve", "small"):
        file = repo.commits[commit].get(route.path)
        if file is None:
            return missing_file(route.path, commit)
        return _file(state, repo, commit, file, route, headers)
    return refusal(404, "Not found")


def _json(value: Any) -> Answer:
    return Answer(200, _JSON, json.dumps(value, separators=(",", ":")).encode())


def _info(state: State, repo: Repo, commit: str, route: Route) -> dict[str, Any]:
    blobs = route.flag("blobs") and state.settings.sizes
    files = repo.commits[commit].values()
    whole = {
        "_id": repo.id,
        "id": repo.name,
        "modelId": repo.name,
        "author": repo.name.partition("/")[0],
        "sha": commit,
        "lastModified": _DATE,
        "createdAt": _DATE,
        "private": repo.private,
        "gated": repo.gated,
        "disabled": repo.disabled,
        "downloads": 0,
        "likes": 0,
        "tags": [],
        "siblings": [_sibling(f, blobs) for f in files],
        "usedStorage": sum(f.size for f in files if f.lfs),
        **repo.info,
    }
    wanted = [v for k, v in route.query if k == "expand"]
    if wanted:
        return {k: v for k, v in whole.items() if k in ("_id", "id", *wanted)}
    return whole


def _sibling(file: Entry, blobs: bool) -> dict[str, Any]:
    out: dict[str, Any] = {"rfilename": file.path}
    if blobs:
        out |= {"blobId": file.oid, "size": file.size}
        if file.sha256 is not None:
            size = len(pointer(file.sha256, file.size))
            out["lfs"] = {"sha256": file.sha256, "size": file.size, "pointerSize": size}
    return out


def _tree_entry(state: State, file: Entry) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "file", "oid": file.oid, "size": file.size, "path": file.path}
    if file.sha256 is not None:
        size = len(pointer(file.sha256, file.size))
        out["lfs"] = {"oid": file.sha256, "size": file.size, "pointerSize": size}
    if not state.settings.sizes:
        out = {"type": "file", "path": file.path}
    return out


def _tree(state: State, repo: Repo, commit: str, route: Route) -> Answer:
    below = f"{route.path.strip('/')}/" if route.path.strip("/") else ""
    files = {p: f for p, f in repo.commits[commit].items() if p.startswith(below)}
    if below and not files:
        return missing_file(route.path, commit)
    entries: dict[str, dict[str, Any]] = {}
    for path, file in files.items():
        steps = path[len(below) :].split("/")
        for depth in range(1, len(steps)):
            folder = below + "/".join(steps[:depth])
            if depth == 1 or route.flag("recursive"):
                oid = repo.id.ljust(40, "0")
                entries.setdefault(folder, {"type": "directory", "oid": oid, "size": 0, "path": folder})
        if len(steps) == 1 or route.flag("recursive"):
            entries[path] = _tree_entry(state, file)
    page = state.settings.expanded_page if route.flag("expand") else state.settings.page
    limit = route.first("limit")
    page = min(page, int(limit)) if limit and limit.isdigit() and int(limit) else page
    cursor = route.first("cursor") or "0"
    start = int(cursor) if cursor.isdigit() else 0
    chosen = list(entries.values())[start : start + page]
    headers = dict(_JSON)
    if start + page < len(entries):
        rest = [(k, v) for k, v in route.query if k != "cursor"] + [("cursor", str(start + page))]
        target = f"{route.prefix}{repo.name}{route.rest.partition('?')[0]}"
        headers["Link"] = f'<{state.hub_url}{target}?{urlencode(rest)}>; rel="next"'
    return Answer(200, headers, json.dumps(chosen, separators=(",", ":")).encode())


def _paths(state: State, repo: Repo, commit: str, body: bytes) -> list[dict[str, Any]]:
    wanted = parse_qs(body.decode("utf-8", "replace")).get("paths", [])
    files = repo.commits[commit]
    return [_tree_entry(state, files[p]) for p in wanted if p in files]


def _references(repo: Repo) -> dict[str, Any]:
    plain = [(n, s) for n, s in repo.refs.items() if not n.startswith("refs/")]
    branches = [{"name": n, "ref": f"refs/heads/{n}", "targetCommit": s} for n, s in plain]
    return {"branches": branches, "tags": [], "converts": []}


def _file(state: State, repo: Repo, commit: str, file: Entry, route: Route, headers: Mapping[str, str]) -> Answer:
    common = {"X-Repo-Commit": commit, "ETag": f'"{file.content_id}"'}
    wanted = headers.get("range")
    if state.settings.mirror:
        return serve(file, wanted, common)
    if file.lfs:
        linked = {
            "Location": state.sign(repo, file),
            "X-Linked-Size": str(file.size),
            "X-Linked-ETag": f'"{file.content_id}"',
            "X-Repo-Commit": commit,
            "Accept-Ranges": "bytes",
            "Vary": "Origin, Accept",
        }
        return Answer(302, linked, b"Found. Redirecting to the content")
    if route.name == "resolve":
        kind = f"{repo.kind}s"
        etag = urlencode({"etag": f'"{file.oid}"'})
        location = f"/api/resolve-cache/{kind}/{repo.name}/{commit}/{quote(file.path)}?{etag}"
        return Answer(307, {"Location": location, **common}, b"Temporary Redirect")
    if wanted is None and "gzip" in headers.get("accept-encoding", "") and file.size:
        packed = state.packed(file, lambda: gzip_bytes(Slice(file, 0, file.size)))
        weak = {"Content-Encoding": "gzip", "ETag": f'W/"{file.oid}"', "X-Repo-Commit": commit}
        return Answer(200, weak, packed, chunked=True)
    return serve(file, wanted, common)


def gzip_bytes(body: bytes | Slice) -> bytes:
    """A body in gzip's form."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    parts = [body] if isinstance(body, bytes) else body.entry.read(body.start, body.stop)
    return b"".join([packer.compress(p) for p in parts] + [packer.flush()])
