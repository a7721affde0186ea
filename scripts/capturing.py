"""`scripts/capture REPO`: a real repo's headers, in the form of the other fixtures.

The listing comes from huggingface_hub, with its token and `HF_ENDPOINT`; bytes come by ranges that are aimed at
headers only, pinned to the commit of the listing.
"""

from __future__ import annotations

import argparse
import struct
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.loopback import fixture

HEADER_LIMIT = 100_000_000
"""The longest header that the safetensors reference implementation reads, in bytes."""
JSON_LIMIT = 128 << 20
_TOKENIZER = ("tokenizer.json", "vocab.json", "added_tokens.json")


class CaptureError(Exception):
    """A repo that cannot be recorded as it is: what was met, where."""


def main(argv: list[str] | None = None) -> int:
    """Exit status 0, 2 for a wrong argument, 3 where the Hub or a file does not give what is needed."""
    parser = argparse.ArgumentParser(prog="scripts/capture", description=__doc__)
    parser.add_argument("repo", metavar="REPO", help="org/name")
    parser.add_argument("--revision", help="branch, tag, commit or refs/pr/N (default: main)")
    parser.add_argument("--root", type=Path, default=fixture.FIXTURES, help="where to write (default: %(default)s)")
    parser.add_argument("--force", action="store_true", help="replace a fixture that exists")
    args = parser.parse_args(argv)
    where = fixture.folder(args.repo, args.root)
    if where.exists() and not args.force:
        print(f"{where} exists; give --force to replace it", file=sys.stderr)
        return 2
    from httpx2 import HTTPError
    from huggingface_hub.errors import HfHubHTTPError

    try:
        about, members = capture(args.repo, args.revision)
    except (CaptureError, HfHubHTTPError, HTTPError) as problem:
        print(f"{args.repo}: {problem}", file=sys.stderr)
        return 3
    fixture.write(where, about, members)
    held = sum(len(data) for data in members.values())
    print(f"{where}: {len(about['files'])} files, {held:,} B of headers and JSON")
    return 0


def capture(repo: str, revision: str | None = None) -> tuple[Mapping[str, Any], Mapping[str, bytes]]:
    """The description and the stored bytes of a repo. Raises `CaptureError`, or what huggingface_hub raises."""
    from huggingface_hub import HfApi, constants

    info = HfApi().model_info(repo, revision=revision, files_metadata=True)
    files: list[dict[str, Any]] = []
    members: dict[str, bytes] = {}
    for sibling in sorted(info.siblings or [], key=lambda s: s.rfilename):
        path, size = sibling.rfilename, sibling.size
        if size is None or info.sha is None:
            raise CaptureError(f"{path}: the Hub lists no size; ask the Hub itself, not a mirror")
        identity = sibling.lfs.sha256 if sibling.lfs else sibling.blob_id
        files.append({"path": path, "size": size, "lfs": sibling.lfs is not None, "id": identity})
        if path.endswith(".safetensors"):
            members[path] = _header(repo, path, info.sha, size)
        elif path.endswith(".json") and path.rpartition("/")[2] not in _TOKENIZER and 0 < size <= JSON_LIMIT:
            members[path] = _range(repo, path, info.sha, 0, size)
    safetensors = info.safetensors
    counts = {"parameters": dict(safetensors.parameters), "total": safetensors.total} if safetensors else None
    about = {
        "repo": info.id,
        "commit": {"sha": info.sha, "inferred": False},
        "published": [f"everything: captured from {constants.ENDPOINT}"],
        "inferred": [],
        "expected": {"repo_files": len(files), "repo_bytes": sum(f["size"] for f in files)},
        "hub_safetensors": counts,
        "files": files,
    }
    return about, members


def _header(repo: str, path: str, commit: str, size: int) -> bytes:
    if size < 8:
        return _range(repo, path, commit, 0, size) if size else b""
    prefix = _range(repo, path, commit, 0, 8)
    length = int(struct.unpack("<Q", prefix)[0])
    if length > min(HEADER_LIMIT, size - 8):
        raise CaptureError(f"{path}: its header claims {length:,} bytes, the file has {size:,}; not recorded")
    return prefix + (_range(repo, path, commit, 8, length) if length else b"")


def _range(repo: str, path: str, commit: str, start: int, length: int) -> bytes:
    """Exactly those bytes of a file. Raises `CaptureError` for anything but the 206 that was asked."""
    from huggingface_hub import get_session, get_token, hf_hub_url

    token = get_token()
    end = start + length - 1
    headers = {"Range": f"bytes={start}-{end}", "Accept-Encoding": "identity"}
    if token:
        headers["Authorization"] = f"Bearer {token}"
    url = hf_hub_url(repo, path, revision=commit)
    with get_session().stream("GET", url, headers=headers, follow_redirects=True) as answer:
        if answer.status_code != 206:
            raise CaptureError(f"{path}: bytes {start}-{end} answered with {answer.status_code}, not 206")
        data = bytes(answer.read())
    if len(data) != length:
        raise CaptureError(f"{path}: {len(data):,} bytes came, {length:,} were asked")
    return data
