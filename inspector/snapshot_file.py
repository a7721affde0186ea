"""Tell a snapshot from other files by its name and first bytes; nothing of it is believed here."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Final

SUFFIXES: Final = (".zip", ".inspect")
"""A file of these names is taken for a snapshot whatever it holds, any other if it begins like one."""
MANIFEST: Final = "manifest.json"
MAGIC: Final = b"PK\x03\x04"
"""Of a zip's first entry (PKWARE APPNOTE 6.3)."""
_NAME_AT: Final = 30
"""Where the first entry's name stands."""


def split(text: str) -> tuple[str, str | None] | None:
    """(file, repo in it) of `FILE` or `FILE#repo` where FILE is there and looks like a snapshot; None for all else."""
    if text.startswith("~"):
        with suppress(RuntimeError):
            text = str(Path(text).expanduser())
    if looks_like_one(text):
        return text, None
    file, sharp, repo = text.partition("#")
    while sharp:
        if repo and looks_like_one(file):
            return file, repo
        more, sharp, repo = repo.partition("#")
        file = f"{file}#{more}"
    return None


def looks_like_one(text: str) -> bool:
    """Whether a path leads to a file that is meant as a snapshot."""
    try:
        path = Path(text)
        if not path.is_file():
            return False
        if path.suffix.lower() in SUFFIXES:
            return True
        with path.open("rb") as stream:
            beginning = stream.read(_NAME_AT + len(MANIFEST))
    except (OSError, ValueError):
        return False
    return beginning[:4] == MAGIC and beginning[_NAME_AT:] == MANIFEST.encode("ascii")
