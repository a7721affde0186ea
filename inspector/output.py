"""Where text goes and how it may look there: standard output or a file that appears whole or not at all."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TextIO

from inspector.errors import UsageError

PLAIN_WIDTH = 80
"""Columns where no terminal says how many it has."""


def emit(text: str, path: str | None) -> None:
    """Write to `path`, or to standard output for None and `-`. Raises UsageError where it cannot be written."""
    if path is None or path == "-":
        _print(text)
    else:
        _replace(Path(path), text.encode("utf-8", "backslashreplace"))


def emit_bytes(content: bytes, path: str) -> None:
    """Write to `path`, whole or not at all. Raises UsageError where it cannot be written."""
    _replace(Path(path), content)


def check(path: str | None) -> None:
    """Raise UsageError where `path` is sure not to be writable, before any work is done for it."""
    if path is None or path == "-":
        if sys.stdout is None:
            raise UsageError("standard output", "is closed", "Choose a file with -o")
        return
    if not path:
        raise UsageError("--output", "is empty", "Name a file, or leave -o out for standard output")
    target = Path(path)
    if target.is_dir():
        raise UsageError(f"--output {path}", "is a folder", "Name a file in it")
    if not target.absolute().parent.is_dir():
        raise UsageError(f"--output {path}", f"there is no folder {target.parent}", "Make it first")


def spare(path: str | None, repos: Sequence[str]) -> None:
    """Raise UsageError where writing to `path` would destroy weights, or one of the inputs."""
    if path is None or path == "-":
        return
    from inspector.weights import weight_format

    target = Path(path)
    if weight_format(target.name) is not None:
        raise UsageError(f"--output {path}", "has the name of a weight file", "Name a report: .txt, .json, .md, .csv")
    for repo in repos:
        if target.exists() and Path(repo).exists() and target.samefile(repo):
            raise UsageError(f"--output {path}", "is what is to be inspected", "Name another file")
        if target.name.endswith(("config.json", ".index.json")) and Path(repo).is_dir():
            inside = target.exists() and target.resolve().is_relative_to(Path(repo).resolve())
            if inside:
                raise UsageError(f"--output {path}", "is part of what is to be inspected", "Name another file")


def say(line: str) -> None:
    """One line on standard error, or nothing where that is closed or its reader has gone."""
    stream: IO[str] | None = sys.stderr
    if stream is None:
        return
    try:
        print(line, file=stream, flush=True)
    except (OSError, ValueError):
        _silence(stream)


def colour(stream: IO[str] | None, environ: Mapping[str, str], *, plain: bool = False) -> bool:
    """Whether escape codes may go to this stream.

    `plain`, then NO_COLOR (no-color.org), then FORCE_COLOR (force-color.org), then TERM=dumb, then the terminal.
    """
    if plain or environ.get("NO_COLOR") or stream is None:
        return False
    if environ.get("FORCE_COLOR"):
        return True
    return environ.get("TERM") != "dumb" and stream.isatty()


def width(stream: IO[str] | None) -> int:
    """The columns of the terminal behind this stream, 80 where there is none."""
    if not terminal(stream):
        return PLAIN_WIDTH
    import shutil

    return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns


def terminal(stream: IO[str] | None) -> bool:
    """Whether a person sits behind this stream; nobody does where it is closed."""
    return stream is not None and stream.isatty()


def _print(text: str) -> None:
    out: TextIO | None = sys.stdout
    if out is None:
        raise UsageError("standard output", "is closed", "Choose a file with -o")
    # Under a locale that lacks a character it is shown as its escape, instead of failing half way.
    encoding = out.encoding or "utf-8"
    try:
        out.write(text.encode(encoding, "backslashreplace").decode(encoding))
        out.flush()
    except BrokenPipeError:
        _silence(out)
    except OSError as error:
        raise UsageError("standard output", f"cannot be written: {error.strerror}") from error


def _silence(stream: IO[str]) -> None:
    """The reader (`| head`) has seen enough: the interpreter must not flush into the pipe again when it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _replace(path: Path, content: bytes) -> None:
    try:
        # A link keeps pointing where it does, and a device or pipe is written into, never replaced.
        target = path.resolve()
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            target.write_bytes(content)
            return
        part = target.with_name(f".inspect-{os.urandom(6).hex()}.part")
        try:
            part.write_bytes(content)
            if target.exists():
                part.chmod(stat.S_IMODE(target.stat().st_mode))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except BrokenPipeError:
        return
    except OSError as error:
        advice = "Choose a file that you may write with -o"
        raise UsageError(f"--output {path}", f"cannot be written: {error.strerror}", advice) from error
