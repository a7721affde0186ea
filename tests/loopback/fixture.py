"""Fixtures on disk: `fixture.json` with the listing, `data.tar.xz` with the bytes that are recorded.

Reading is lazy: a repo is known from its JSON; the archive is unpacked when the first byte of a file is asked.
"""

from __future__ import annotations

import functools
import io
import json
import lzma
import tarfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.loopback.content import Entry, git_oid, pointer
from tests.loopback.repo import Repo

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures" / "repos"
_FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 6, "dict_size": 1 << 26, "lc": 4, "lp": 0, "pb": 0}]


def names(root: Path = FIXTURES) -> tuple[str, ...]:
    """The repos recorded under `root`, as `org/name`."""
    return tuple(sorted(p.parent.name.replace("--", "/", 1) for p in root.glob("*/fixture.json")))


def folder(name: str, root: Path = FIXTURES) -> Path:
    """Where the fixture of a repo lies."""
    return root / name.replace("/", "--", 1)


def describe(name: str, root: Path = FIXTURES) -> dict[str, Any]:
    """The `fixture.json` of a repo: listing, totals to expect, and which facts are published or inferred.

    Raises `FileNotFoundError` naming the fixtures there are.
    """
    path = folder(name, root) / "fixture.json"
    if not path.is_file():
        raise FileNotFoundError(f"no fixture {name} under {root}; there are: {', '.join(names(root))}")
    value: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return value


def load(name: str, root: Path = FIXTURES) -> Repo:
    """A recorded repo, ready to be served."""
    about = describe(name, root)
    stored = archive(folder(name, root) / "data.tar.xz")
    tree: dict[str, Entry] = {}
    for file in about["files"]:
        path, size, lfs = file["path"], file["size"], file["lfs"]
        oid = git_oid(pointer(file["id"], size)) if lfs else file["id"]
        tree[path] = Entry(path, size, oid, file["id"] if lfs else None, functools.partial(_member, stored, path))
    info = {"safetensors": about["hub_safetensors"]} if about.get("hub_safetensors") else {}
    commit = about["commit"]["sha"]
    return Repo(about["repo"], {commit: tree}, {"main": commit}, info=info)


def archive(path: Path) -> Callable[[], Mapping[str, bytes]]:
    """A function that unpacks an archive at its first call and then remembers it; safe from any thread."""
    lock = threading.Lock()
    unpacked: list[Mapping[str, bytes]] = []

    def members() -> Mapping[str, bytes]:
        with lock:
            if not unpacked:
                unpacked.append(unpack(path.read_bytes()))
        return unpacked[0]

    return members


def pack(members: Mapping[str, bytes]) -> bytes:
    """An archive of these members; the same members give the same bytes."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(members):
            about = tarfile.TarInfo(name)
            about.size = len(members[name])
            tar.addfile(about, io.BytesIO(members[name]))
    return lzma.compress(raw.getvalue(), format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=_FILTERS)


def unpack(data: bytes) -> Mapping[str, bytes]:
    """The members of an archive made by `pack`."""
    out: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(lzma.decompress(data))) as tar:
        for about in tar:
            member = tar.extractfile(about)
            if member is not None:
                out[about.name] = member.read()
    return out


def readable(about: Mapping[str, Any]) -> str:
    """The text of a `fixture.json`: one file of the listing per line."""
    files = ",\n  ".join(json.dumps(f, ensure_ascii=False) for f in about["files"])
    text = json.dumps({**about, "files": []}, indent=1, ensure_ascii=False)
    return text.replace('"files": []', f'"files": [\n  {files}\n ]') + "\n"


def write(where: Path, about: Mapping[str, Any], members: Mapping[str, bytes]) -> None:
    """Write one fixture: its description as indented JSON and its archive."""
    where.mkdir(parents=True, exist_ok=True)
    (where / "fixture.json").write_text(readable(about), "utf-8")
    (where / "data.tar.xz").write_bytes(pack(members))


def _member(stored: Callable[[], Mapping[str, bytes]], path: str) -> bytes:
    return stored().get(path, b"")
