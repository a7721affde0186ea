"""The command that gives a report again: the same commit and every flag that its answer depends on."""

from __future__ import annotations

import dataclasses
import os
import shlex
from typing import Final

from inspector import address
from inspector.model import Report
from inspector.request import Request

FLAGS: Final = (
    "variant",
    "tensors",
    "match",
    "metadata",
    "clusters",
    "context",
    "sequences",
    "kv_dtype",
    "engine",
    "placement",
    "utilization",
    "reserve",
    "offload",
    "without",
    "with_draft",
    "hardware",
    "endpoint",
    "offline",
)
"""Fields of a request that an answer depends on, in the order of the flags; the repo's own are in its word."""


def command(word: str, report: Report, request: Request) -> str:
    """A line for a shell that asks for `report` again; `word` is the REPO that was typed.

    A token never stands in it. Values are as they were typed, so a relative path means the same folder.
    """
    words = ["inspect", _pinned(word, report, request)]
    without = {f.name: f.default for f in dataclasses.fields(request)}
    for name in FLAGS:
        value, flag = getattr(request, name), f"--{name.replace('_', '-')}"
        if value is True:
            words.append(flag)
        elif name == "clusters":
            words += [part for one in value for part in _flag("--cluster", one)]
        elif isinstance(value, tuple):
            words += [part for one in value for part in _flag(flag, one)]
        elif value != without[name]:
            words += _flag(flag, value)
    return shlex.join(words)


def _flag(flag: str, value: object) -> list[str]:
    """A flag with its value, joined where the value begins like a flag."""
    return [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]


def _pinned(word: str, report: Report, request: Request) -> str:
    """The repo at the commit that was read; a local path or a snapshot as it was typed."""
    found = address.parse(word, request.revision, request.repo_type, request.endpoint)
    if found.kind == "url":
        # What followed its `?` may be a secret.
        return report.repo
    if found.kind in ("local", "snapshot"):
        return f".{os.sep}{word}" if word.startswith("-") else word
    at = report.revision or found.revision
    name = ("" if found.kind == "model" else f"{found.kind}s/") + report.repo + (f"@{at}" if at else "")
    below = found.path or found.folder
    return f"hf://{name}/{below}" if below else name
