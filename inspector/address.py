"""What the user typed as a value: a repo of the Hub with revision and file, a local path, a snapshot, a plain URL."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final, Literal, cast
from urllib.parse import unquote, urlsplit

from inspector import snapshot_file
from inspector.errors import SourceError, UsageError
from inspector.escape import terminal
from inspector.net import environment
from inspector.records import dataclass, field, replace

Kind = Literal["model", "dataset", "space", "local", "snapshot", "url"]

_KINDS: Final[dict[str, Kind]] = {"models": "model", "datasets": "dataset", "spaces": "space"}
_HUB_HOSTS: Final = frozenset({"huggingface.co", "www.huggingface.co", "hub-ci.huggingface.co", "hf.co"})
_PAGES: Final = frozenset({"tree", "blob", "resolve", "raw", "blame"})
_OTHER_PAGES: Final = frozenset({"commit", "commits", "discussions", "settings", "edit", "upload", "new"})
_SEGMENT: Final = re.compile(r"[A-Za-z0-9_](?:[\w.-]{0,94}[A-Za-z0-9_])?", re.ASCII)
"""One part of a repo's name, by the Hub's rule: at most 96 of letters, digits, `_`, `-`, `.`, at no end `-` or `.`."""
_SPECIAL: Final = re.compile(r"refs/(?:pr/\d+|convert/[\w.-]+)(?=/|\Z)", re.ASCII)
"""Revisions with slashes that the Hub writes unescaped in its URLs."""
_BAD_REVISION: Final = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\A[/.-]|[/.]\Z|/\.|\.lock(?:/|\Z)")
"""What git forbids in the name of a reference (git-check-ref-format)."""


@dataclass(frozen=True, slots=True)
class Address:
    """`name` is `org/name`, a path, or a URL. `path` is the one file that was named, `folder` a folder of the repo.

    `repo` is what follows `#` behind a snapshot's name: which of its repos. `beside` is true for a repo of the Hub
    that has the name of something on this disk.
    """

    kind: Kind
    name: str
    revision: str | None = None
    path: str | None = None
    folder: str | None = None
    repo: str | None = None
    beside: bool = field(default=False, compare=False)


def parse(
    text: str | os.PathLike[str],
    revision: str | None = None,
    kind: str | None = None,
    endpoint: str | None = None,
) -> Address:
    """Understand `text`: `org/name`, `org/name@revision`, `name`, a URL of the Hub, `hf://...`, a path, another URL.

    `./x`, `../x`, `/x` and `~/x` are always local, as is every `os.PathLike`. A name without a slash, or with one at
    its end, is local if such a path exists, and a file that exists always is; naming a `revision` or a `kind` asks for
    the Hub. Raises `UsageError` for text that names nothing, and `SourceError` for a local path that is not there.
    """
    text = _written(text)
    local = (
        text.startswith(("./", "../", "~/")) or text in (".", "..", "~") or Path(text).is_absolute() or _folder(text)
    )
    if not text or not (text.isprintable() or local or _exists(text)):
        raise UsageError("REPO", f"{terminal(text, 80)!r} names no repo", "Write org/name, a URL or a path.")
    if kind is not None and kind not in _KINDS.values():
        raise UsageError("--repo-type", f"{terminal(kind, 40)} is none of model, dataset, space")
    hub = kind is not None or revision is not None
    recorded = snapshot_file.split(text)
    if recorded is not None:
        if hub:
            place = "--revision" if revision is not None else "--repo-type"
            advice = "Name what it holds: FILE#org/name@revision."
            raise UsageError(place, f"{terminal(text, 80)} is a snapshot, which has its own", advice)
        return Address("snapshot", recorded[0], repo=recorded[1])
    if local:
        if revision is not None:
            raise UsageError("--revision", f"{terminal(text, 80)} is a local path, which has no revisions")
        return _local(text)
    if text.startswith("hf://"):
        found = _hf(text)
    elif "://" in text:
        found = _url(text, environment.endpoint(os.environ, endpoint))
    elif text.partition("/")[0].lower() in _HUB_HOSTS and "/" in text:
        found = _url(f"https://{text}", environment.endpoint(os.environ, endpoint))
    elif not hub and _exists(text):
        return _local(text)
    else:
        found = _plain(text)
        found = replace(found, beside=os.path.lexists(found.name))
    return _with(found, text, revision, kind)


def _written(text: object) -> str:
    """`text` as a person types it; a path object gets the `./` that makes it local."""
    if isinstance(text, str):
        return text
    if not isinstance(text, os.PathLike):
        raise UsageError("REPO", f"a {type(text).__name__} names no repo", "Give text or a path.")
    path = os.fsdecode(text)
    return path if Path(path).is_absolute() else f"./{path}"


def _exists(text: str) -> bool:
    """Whether a name is something on this disk; with a slash inside only a folder is not, for it may be a repo."""
    return os.path.lexists(text) and ("/" not in text or not os.path.isdir(text))  # noqa: PTH112  # never raises


def _folder(text: str) -> bool:
    """Whether a name ends in a slash, as a shell completes it, and is a folder."""
    return text.endswith("/") and "://" not in text and os.path.isdir(text)  # noqa: PTH112  # never raises


def _local(text: str) -> Address:
    """A folder, or a file named by `path` in its folder."""
    try:
        path = Path(text).expanduser()
        if path.is_dir():
            return Address("local", str(path))
        if path.is_file():
            return Address("local", str(path), path=path.name)
        if path.exists():
            message = "is neither a file nor a folder, but a pipe, socket or device"
            raise SourceError(terminal(text, 200), message, "Name a file or a folder.")
        if path.is_symlink():
            target = terminal(str(path.readlink()), 200)
            raise SourceError(terminal(text, 200), f"is a link to {target}, which is not there", "Mend the link.")
    except (OSError, ValueError, RuntimeError) as e:
        reason = e.strerror if isinstance(e, OSError) and e.strerror else "cannot be looked at"
        raise SourceError(terminal(text, 200), reason, "Check the path and its permissions.") from None
    advice = "Check the path; a repo of the Hub is written org/name."
    raise SourceError(terminal(text, 200), "no such file or folder", advice)


def _plain(text: str) -> Address:
    """`[models/|datasets/|spaces/]org/name[@revision]`; the revision may hold slashes."""
    name, at, revision = text.partition("@")
    segments = name.split("/")
    kind: Kind = "model"
    if len(segments) == 3 and segments[0] in _KINDS:
        kind, segments = _KINDS[segments[0]], segments[1:]
    if at and not revision:
        raise UsageError("REPO", f"{terminal(text, 80)} ends in @ without a revision", "Write org/name@revision.")
    return Address(kind, _name(segments, text), revision or None)


def _hf(text: str) -> Address:
    """`hf://[models/|datasets/|spaces/]org/name[@revision][/path]`, as huggingface_hub writes it."""
    body = text[len("hf://") :]
    kind: Kind | None = _KINDS.get(body.partition("/")[0])
    if kind is not None:
        body = body.partition("/")[2]
    owner, _, rest = body.partition("/")
    if "@" in rest.partition("/")[0]:
        name, _, rest = rest.partition("@")
        special = _SPECIAL.match(rest)
        revision = special.group(0) if special else rest.partition("/")[0]
        path = rest[len(revision) :].lstrip("/")
        if not revision:
            raise UsageError("REPO", f"{terminal(text, 80)} has an @ without a revision")
        return Address(kind or "model", _name([owner, name], text), unquote(revision), _file(path, text))
    name, _, path = rest.partition("/")
    return Address(kind or "model", _name([owner, name], text), None, _file(path, text))


def _url(text: str, endpoint: str) -> Address:
    """A page of the Hub (query and fragment dropped), or a file elsewhere."""
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").lower()
        own = urlsplit(endpoint)
        at_home = parts.netloc.rpartition("@")[2].lower() == own.netloc.lower()
    except ValueError:
        host, at_home = "", False
        parts = own = urlsplit("")
    if parts.scheme not in ("http", "https") or not host:
        advice = "Write a path, org/name, or an https:// address."
        raise UsageError("REPO", f"{terminal(text, 80)} is no address that can be read", advice)
    if not at_home and host not in _HUB_HOSTS:
        return Address("url", text, path=unquote(parts.path).rpartition("/")[2] or None)
    path = parts.path
    if at_home and own.path and (path + "/").startswith(own.path + "/"):
        path = path[len(own.path) :]
    segments = [s for s in path.split("/") if s]
    kind: Kind = "model"
    if segments and segments[0] in _KINDS:
        kind, segments = _KINDS[segments[0]], segments[1:]
    cut = 1 if len(segments) < 2 or segments[1] in _PAGES else 2
    name, rest = _name([unquote(s) for s in segments[:cut]], text), segments[cut:]
    if not rest:
        return Address(kind, name)
    if rest[0] not in _PAGES or len(rest) < 2:
        advice = f"Give {name}, or the address of a file or folder in it."
        what = "is a page about the repo" if rest[0] in _OTHER_PAGES else "is no page of a repo's files"
        raise UsageError("REPO", f"{terminal(text, 120)} {what}", advice)
    special = _SPECIAL.match("/".join(rest[1:]))
    width = special.group(0).count("/") + 1 if special else 1
    revision = unquote("/".join(rest[1 : 1 + width]))
    below = _file("/".join(unquote(s) for s in rest[1 + width :]), text)
    if rest[0] == "tree":
        return Address(kind, name, revision, folder=below)
    return Address(kind, name, revision, below)


def _with(found: Address, text: str, revision: str | None, kind: str | None) -> Address:
    """`found` with what the flags add. Raises `UsageError` where they say something else than the text."""
    if found.kind == "url":
        if revision is not None or kind is not None:
            raise UsageError("REPO", f"{terminal(text, 80)} is no repo of the Hub: it has neither revision nor type")
        return found
    if revision is not None and found.revision is not None and revision != found.revision:
        message = f"{terminal(revision, 80)} is not the revision {terminal(found.revision, 80)} of {found.name}"
        raise UsageError("--revision", message, "Give one of the two.")
    named = found.kind != "model" or "://" in text or text.startswith("models/")
    if kind is not None and kind != found.kind and named:
        raise UsageError("--repo-type", f"{kind}, but {terminal(text, 80)} is a {found.kind}", "Give one of the two.")
    wanted = revision if revision is not None else found.revision
    if wanted is not None and (not wanted or len(wanted) > 255 or _BAD_REVISION.search(wanted)):
        advice = "A branch, a tag, a commit or refs/pr/N."
        place = "REPO" if revision is None else "--revision"
        said = f"{terminal(wanted, 80)!r} is no revision" if wanted else "is empty"
        raise UsageError(place, said, advice)
    sort = cast(Kind, kind) if kind is not None else found.kind
    return replace(found, kind=sort, revision=wanted)


def _name(segments: list[str], text: str) -> str:
    """`org/name` or `name`, by the Hub's rules."""
    name = "/".join(segments)
    sound = 1 <= len(segments) <= 2 and all(_SEGMENT.fullmatch(s) for s in segments)
    if not sound or "--" in name or ".." in name or name.endswith(".git"):
        advice = "Write org/name, org/name@revision, an address of the Hub, or a path such as ./folder."
        raise UsageError("REPO", f"{terminal(text, 120)!r} is no repo's name", advice)
    return name


def _file(path: str, text: str) -> str | None:
    """A path inside a repo. Raises `UsageError` for one that leaves it."""
    path = path.strip("/")
    if path and (not path.isprintable() or any(s in ("", ".", "..") for s in path.split("/"))):
        raise UsageError("REPO", f"{terminal(text, 120)} names no file of a repo")
    return path or None
