"""Files on disk, read as sources need it: a walk that ends, exact ranges, Git LFS pointers told from content."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from inspector.contents import ENOUGH, held, nameless
from inspector.errors import SourceError, UnsupportedFile
from inspector.escape import terminal
from inspector.model import File, Note

SMALL: Final = 100_000_000
"""Most bytes of a file that is read whole, as over the network."""
_CHUNK: Final = 65_536
_MOST: Final = 100_000
"""Files after which a folder is taken for no checkpoint: the largest repos of the Hub have some 100,000."""
_SKIPPED: Final = frozenset({".git", ".cache"})
_POINTER: Final = re.compile(
    rb"version https://(?:git-lfs\.github\.com|hawser\.github\.com)/spec/v1\n(?:ext-[^\n]*\n)*"
    rb"oid sha256:([0-9a-f]{64})\nsize (\d{1,18})\n?"
)
_POINTER_LIMIT: Final = 1024
"""A pointer is shorter than this (git-lfs, docs/spec.md)."""
_BLOB: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Found(NamedTuple):
    """What a walk found: files by path, sorted, and what it left out."""

    files: tuple[File, ...]
    notes: tuple[Note, ...]


def walk(root: Path) -> Found:
    """All files below `root`, `.git` and `.cache` left out; at most 100,000, with a note where there are more.

    Links to files are followed wherever they lead, links to folders only inside `root`.

    Sizes come from the file system, or from the text of an LFS pointer. A link into a folder `blobs` (the Hub's cache)
    gives the content id. Raises `SourceError` naming a folder that cannot be read.
    """
    files: list[File] = []
    notes: list[Note] = []
    for path, where in _walk(root, notes):
        if len(files) == _MOST:
            message = (
                f"holds more than {_MOST:,} files, and the others are not listed; name the checkpoint's own folder"
            )
            notes.append(Note("listing_cut", message, str(root)))
            break
        found = look(where, path)
        if isinstance(found, File):
            files.append(found)
        else:
            notes.append(found)
    return Found(tuple(sorted(files, key=lambda f: f.path)), tuple(notes))


def look(where: Path, path: str) -> File | Note:
    """One file as an entry of a listing, or the note that says why it is none."""
    try:
        about = where.stat()
    except FileNotFoundError:
        return Note("broken_link", "is a link to a file that is not there; it was left out", path)
    except OSError as e:
        raise unreadable(where, e) from None
    if not stat.S_ISREG(about.st_mode):
        return Note("special_file", "is neither a file nor a folder; it was left out", path)
    if about.st_size < _POINTER_LIMIT:
        try:
            match = _POINTER.fullmatch(where.read_bytes()[:_POINTER_LIMIT])
        except OSError:
            # Reading it is tried again, and reported, when its content is needed.
            match = None
        if match is not None:
            return File(path, int(match.group(2)), match.group(1).decode("ascii"), pointer=True)
    return File(path, about.st_size, blob_id(where), holds=_held(where, about.st_size))


def _held(where: Path, size: int) -> str | None:
    """The weight format of a file whose name has no suffix; only the first bytes are read."""
    if not nameless(where.name):
        return None
    try:
        with where.open("rb", buffering=0) as opened:
            return held(opened.read(ENOUGH), size)
    except OSError:
        return None


def blob_id(where: Path) -> str | None:
    """The content id of a link into the Hub's cache, whose blobs are named by it."""
    try:
        parts = where.readlink().parts
    except OSError:
        return None
    return parts[-1] if len(parts) > 1 and parts[-2] == "blobs" and _BLOB.fullmatch(parts[-1]) else None


def stream(where: Path, file: File, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
    """Hand bytes `start..start+length` of a file (clipped at its end) to `feed` until it returns True."""
    refuse_pointer(where, file)
    handed = 0
    try:
        with where.open("rb", buffering=0) as opened:
            size = os.fstat(opened.fileno()).st_size
            if file.size is not None and size != file.size:
                message = f"had {file.size:,} bytes when it was listed, and has {size:,} now"
                raise SourceError(terminal(str(where), 200), message, "Try again when nobody writes to it.")
            opened.seek(start)
            while handed < length:
                chunk = opened.read(min(_CHUNK, length - handed))
                if not chunk:
                    break
                handed += len(chunk)
                if feed(chunk):
                    break
    except OSError as e:
        raise unreadable(where, e) from None
    return handed


def small(where: Path, file: File) -> bytes:
    """The whole of a file of at most 100 MB."""
    if file.size is not None and file.size > SMALL and not file.pointer:
        raise SourceError(terminal(str(where), 200), f"has {file.size:,} bytes; at most {SMALL:,} are read whole")
    parts: list[bytes] = []

    def keep(chunk: bytes) -> bool:
        parts.append(chunk)
        return False

    stream(where, file, 0, SMALL, keep)
    return b"".join(parts)


def refuse_pointer(where: Path, file: File) -> None:
    """Raise `UnsupportedFile` for a pointer: its bytes are not the file's."""
    if file.pointer:
        message = f"is a Git LFS pointer; the file itself ({file.size or 0:,} bytes) is not here"
        raise UnsupportedFile(terminal(str(where), 200), message, "Run `git lfs pull` in its folder to get it.")


def unreadable(where: Path, problem: OSError) -> SourceError:
    """The error for what the file system refuses."""
    reason = (problem.strerror or "cannot be read").lower()
    return SourceError(terminal(str(where), 200), reason, "Check that it exists and its permissions.")


def _walk(root: Path, notes: list[Note]) -> Iterator[tuple[str, Path]]:
    """Every entry that is no folder, as (path with `/`, place); a folder reached twice through links counts once.

    A link to a folder outside gets a note.
    """
    inside = root.resolve()
    pending = [("", root)]
    seen: set[tuple[int, int]] = set()
    while pending:
        prefix, folder = pending.pop()
        try:
            about = folder.stat()
            if (about.st_dev, about.st_ino) in seen:
                continue
            seen.add((about.st_dev, about.st_ino))
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=lambda e: e.name):
                    path = f"{prefix}{entry.name}"
                    if not entry.is_dir():
                        yield path, folder / entry.name
                    elif entry.is_symlink() and not Path(entry.path).resolve().is_relative_to(inside):
                        notes.append(Note("outside_link", "is a link to a folder outside; it was left out", path))
                    elif entry.name not in _SKIPPED:
                        pending.append((f"{path}/", folder / entry.name))
        except OSError as e:
            raise unreadable(folder, e) from None
