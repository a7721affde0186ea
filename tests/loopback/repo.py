"""A repo as the loopback Hub serves it: commits, references, and who may read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from tests.loopback.content import Entry, Virtual, entry

Kind = Literal["model", "dataset", "space"]


@dataclass(frozen=True)
class Repo:
    """One repo. `commits` maps a sha to its files by path, `refs` a branch, tag or `refs/pr/N` to a sha.

    `readers` are the tokens that may read a private repo, or the files of a gated one. `info` holds further keys of
    the metadata answer (`safetensors`, `cardData`, ...), as the real Hub would give them.
    """

    name: str
    commits: Mapping[str, Mapping[str, Entry]]
    refs: Mapping[str, str]
    kind: Kind = "model"
    private: bool = False
    gated: Literal[False, "auto", "manual"] = False
    disabled: bool = False
    readers: frozenset[str] = frozenset()
    info: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def build(
        cls,
        name: str,
        files: Mapping[str, bytes | Virtual],
        *,
        commit: str | None = None,
        branch: str = "main",
        kind: Kind = "model",
        private: bool = False,
        gated: Literal[False, "auto", "manual"] = False,
        disabled: bool = False,
        readers: Iterable[str] = (),
        info: Mapping[str, Any] | None = None,
    ) -> Repo:
        """A repo of one commit from bytes in memory."""
        tree = _tree(entry(path, content) for path, content in files.items())
        sha = commit or _invented_commit(name, tree)
        access = frozenset(readers)
        return cls(name, {sha: tree}, {branch: sha}, kind, private, gated, disabled, access, info or {})

    @classmethod
    def from_folder(cls, folder: Path, name: str, **options: Any) -> Repo:
        """A repo of one commit from the files under `folder`, hidden folders left out."""
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and not any(p.startswith(".") for p in path.relative_to(folder).parts[:-1])
        }
        return cls.build(name, files, **options)

    def with_commit(self, files: Mapping[str, bytes | Virtual], *, ref: str = "main") -> Repo:
        """The same repo after a commit on `ref` that replaces the whole tree; older commits stay readable."""
        tree = _tree(entry(path, content) for path, content in files.items())
        sha = _invented_commit(f"{self.name} {len(self.commits)}", tree)
        return replace(self, commits={**self.commits, sha: tree}, refs={**self.refs, ref: sha})

    def with_ref(self, ref: str, commit: str | None = None) -> Repo:
        """The same repo with one more name for a commit (default: what `main` names)."""
        return replace(self, refs={**self.refs, ref: commit or self.head})

    @property
    def head(self) -> str:
        """The commit of `main`, or of the only reference."""
        return self.refs.get("main") or next(iter(self.refs.values()))

    @property
    def files(self) -> Mapping[str, Entry]:
        """The files of the head commit."""
        return self.commits[self.head]

    def resolve(self, revision: str | None) -> str | None:
        """The commit that a revision names, None if there is none."""
        if revision is None:
            return self.head
        if revision in self.refs:
            return self.refs[revision]
        return revision if revision in self.commits else None

    @property
    def id(self) -> str:
        """A stable 24-digit id, as the Hub gives each repo."""
        return hashlib.sha256(f"{self.kind}/{self.name}".encode()).hexdigest()[:24]


def _tree(entries: Iterable[Entry]) -> Mapping[str, Entry]:
    return {e.path: e for e in sorted(entries, key=lambda e: e.path)}


def _invented_commit(seed: str, tree: Mapping[str, Entry]) -> str:
    text = seed + "".join(f"\n{e.path} {e.content_id}" for e in tree.values())
    return hashlib.sha1(text.encode("utf-8", "surrogatepass")).hexdigest()
