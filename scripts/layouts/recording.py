"""A fixture while it is made: files are added, checked against published figures, then written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scripts.layouts.tensors import Tensor, header, totals
from tests.loopback import fixture
from tests.loopback.content import git_oid

Json = Any


class Contradiction(Exception):
    """A generated figure that differs from a published one."""


@dataclass
class Recording:
    """What one fixture will hold. `commit` None invents one from the repo's name, and says so.

    `published` and `inferred` are sentences for people: which facts stand on a publication, which do not.
    """

    repo: str
    commit: str | None = None
    published: Sequence[str] = ()
    inferred: Sequence[str] = ()
    expected: dict[str, Json] = field(default_factory=dict)
    hub_safetensors: Json = None
    tensors: list[Tensor] = field(default_factory=list, repr=False)
    _files: dict[str, dict[str, Json]] = field(default_factory=dict, repr=False)
    _stored: dict[str, bytes] = field(default_factory=dict, repr=False)

    def shard(
        self, path: str, tensors: Iterable[Tensor], metadata: Mapping[str, str] | None = None, *, main: bool = True
    ) -> bytes:
        """A safetensors file: its header is stored, its data are zeros. `main` counts it in `tensors`."""
        rows = list(tensors)
        head, data = header(rows, metadata)
        self.blank(path, len(head) + data, lfs=True, stored=head, size_inferred=False)
        if main:
            self.tensors += rows
        return head

    def text(self, path: str, content: str | bytes, *, content_inferred: bool = True) -> bytes:
        """A small git file stored whole, with its true git id."""
        data = content.encode() if isinstance(content, str) else content
        about: dict[str, Json] = {"path": path, "size": len(data), "lfs": False, "id": git_oid(data)}
        if content_inferred:
            about["inferred"] = ["content"]
        self._put(about, data)
        return data

    def json(self, path: str, value: Json, **options: Any) -> bytes:
        """A JSON file with two-space indent and a final newline."""
        return self.text(path, json.dumps(value, indent=2, ensure_ascii=False) + "\n", **options)

    def index(self, path: str, shards: Mapping[str, Iterable[Tensor]], total_size: int, *, newline: bool) -> bytes:
        """A shard index in the order of `shards`."""
        weight_map = {tensor.name: file for file, rows in shards.items() for tensor in rows}
        text = json.dumps({"metadata": {"total_size": total_size}, "weight_map": weight_map}, indent=2)
        return self.text(path, text + "\n" * newline)

    def blank(
        self, path: str, size: int, *, lfs: bool = False, stored: bytes = b"", size_inferred: bool = True
    ) -> None:
        """A file of which only the size is known (or guessed): its bytes are zeros after `stored`."""
        seed = f"{self.repo}/{path}/{size}"
        digest = hashlib.sha256(seed.encode()) if lfs else hashlib.sha1(seed.encode())
        about: dict[str, Json] = {"path": path, "size": size, "lfs": lfs, "id": digest.hexdigest()}
        about["inferred"] = ["id", "size"] if size_inferred else ["id"]
        self._put(about, stored)

    def fill(self, path: str, whole: int, *, lfs: bool = False) -> None:
        """A file of whatever size makes the repo `whole` bytes."""
        self.blank(path, whole - self.size(), lfs=lfs)

    def size(self, suffix: str = "", under: str = "") -> int:
        """Bytes of all files so far whose path has that end and beginning."""
        return sum(f["size"] for p, f in self._files.items() if p.endswith(suffix) and p.startswith(under))

    def count(self, suffix: str = "") -> int:
        """How many files there are so far."""
        return sum(p.endswith(suffix) for p in self._files)

    @property
    def tensor_bytes(self) -> int:
        """Stored bytes of the counted tensors."""
        return sum(t.nbytes for t in self.tensors)

    def stored(self, path: str) -> bytes:
        """The stored bytes of a file."""
        return self._stored.get(path, b"")

    def check(self, what: str, got: object, published: object) -> None:
        """Hold a generated figure against a published one; raises `Contradiction` with both."""
        if got != published:
            raise Contradiction(f"{self.repo}: {what} is {got}, published {published}")

    def sha256(self, what: str, data: bytes, published: str) -> None:
        """Hold bytes against a published hash; a shorter hash is held against the beginning."""
        self.check(f"sha256 of {what}", hashlib.sha256(data).hexdigest()[: len(published)], published)

    def describe(self) -> dict[str, Json]:
        """What `fixture.json` will say."""
        invented = hashlib.sha1(f"invented commit of {self.repo}".encode()).hexdigest()
        expected = {
            "tensors": len(self.tensors),
            "tensor_bytes": self.tensor_bytes,
            "dtypes": totals(self.tensors),
            "repo_files": self.count(),
            "repo_bytes": self.size(),
            **self.expected,
        }
        return {
            "repo": self.repo,
            "commit": {"sha": self.commit or invented, "inferred": self.commit is None},
            "published": list(self.published),
            "inferred": list(self.inferred),
            "expected": expected,
            "hub_safetensors": self.hub_safetensors,
            "files": [self._files[p] for p in sorted(self._files)],
        }

    def members(self) -> dict[str, bytes]:
        """The stored bytes by path, files without any left out."""
        return {p: d for p, d in self._stored.items() if d}

    def write(self, root: Path) -> int:
        """Write the fixture under `root`; returns the bytes it takes on disk."""
        where = fixture.folder(self.repo, root)
        fixture.write(where, self.describe(), self.members())
        return sum(p.stat().st_size for p in where.iterdir())

    def _put(self, about: dict[str, Json], stored: bytes) -> None:
        path = about["path"]
        if path in self._files:
            raise ValueError(f"{self.repo}: {path} is added twice")
        self._files[path] = about
        self._stored[path] = stored


def shard_names(count: int, stem: str = "model") -> list[str]:
    """`model-00001-of-00048.safetensors` and so on."""
    return [f"{stem}-{i:05d}-of-{count:05d}.safetensors" for i in range(1, count + 1)]
