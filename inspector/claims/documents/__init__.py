"""Read a table's file: one module per format, chosen by the file's suffix.

To add a format, add a module with `read(file, text) -> Document` and its suffixes to `SUFFIXES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Final

from inspector.claim.claim_model import Document
from inspector.errors import UsageError

MAX_BYTES: Final = 64 << 20

SUFFIXES: Final[Mapping[str, str]] = MappingProxyType(
    {
        ".csv": "delimited",
        ".tsv": "delimited",
        ".tab": "delimited",
        ".json": "json",
        ".jsonl": "jsonl",
        ".ndjson": "jsonl",
        ".yaml": "yaml",
        ".yml": "yaml",
        ".toml": "toml",
        ".md": "markdown",
        ".markdown": "markdown",
    }
)
"""Which module reads which suffix."""


def read(path: Path) -> Document:
    """The document in a file. Raises `UsageError` with the file's place where it cannot be read as its format."""
    reader: Callable[[str, str], Document] = import_module(f"{__name__}.{_module(path)}").read
    text = read_text(path)
    if not text.strip():
        raise UsageError(str(path), "is empty", "Give a file with a header and rows.")
    return reader(str(path), text)


def _module(path: Path) -> str:
    found = SUFFIXES.get(path.suffix.lower())
    if found is None:
        raise UsageError(str(path), f"{path.suffix or 'no suffix'!r} is no table", f"Read are: {', '.join(SUFFIXES)}.")
    return found


def read_text(path: Path) -> str:
    """A file's text, a byte order mark kept as its first character. Raises `UsageError`."""
    try:
        if path.is_dir():
            raise UsageError(str(path), "is a folder", "Name a file in it.")
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise UsageError(str(path), f"cannot be read: {error.strerror or error}", "Check the path.") from None
    except ValueError:
        raise UsageError(repr(str(path))[:200], "is no path", "Check it.") from None
    if len(data) > MAX_BYTES:
        raise UsageError(str(path), f"is larger than {MAX_BYTES:,} bytes", "Split the table.")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        message = f"is not UTF-8 (byte {data[error.start]:#04x} at {error.start:,})"
        raise UsageError(str(path), message, "Save it as UTF-8.") from None
