"""The first request, sent before the command line is imported: its answer takes about as long as the imports.

Only where nothing that is still to be read could make it another one: the first argument is a repo of the Hub, and no
option is there but those that change nothing about it. The same source answers the run afterwards, so
that nothing is asked twice, and what goes wrong is said by the run, in its words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from itertools import pairwise
from typing import Final

from inspector import address
from inspector.address import Address
from inspector.errors import InspectorError
from inspector.net import environment
from inspector.records import dataclass
from inspector.sources.hub import HubSource
from inspector.tasks import Loop

_HARMLESS: Final = frozenset({"-q", "--quiet", "--plain", "--tensors", "--metadata", "--no-cache", "--format"})
"""Options with which the request is the same one; with any other it is not sent ahead."""
_FORMATS: Final = frozenset({"text", "json", "markdown", "csv", "html", "svg"})
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_MODULES: Final = ("cli", "inspection", "checkpoint", "sources.kept")
"""What is needed up to the next requests; what comes after them is imported while those are waited for."""


@dataclass(frozen=True, slots=True)
class Ahead:
    """A source that has been asked for its listing, its address, and the loop in which the answer is waited for."""

    where: Address
    source: HubSource
    loop: Loop


def begin(words: Sequence[str], env: Mapping[str, str]) -> Ahead | None:
    """Ask for the listing of the repo that is the first word; None where the run might ask otherwise, or nothing."""
    if not words or "/" not in words[0] or words[0].startswith("-") or environment.offline(env):
        return None
    for before, word in pairwise(words):
        if word not in _HARMLESS and not (before == "--format" and word in _FORMATS):
            return None
    if words[-1] == "--format":
        return None
    try:
        where = address.parse(words[0])
        if where.kind != "model" or _COMMIT.fullmatch(where.revision or ""):
            # Of a commit everything may be kept: then nothing is asked at all.
            return None
        ahead = Ahead(where, HubSource(where), Loop())
    except (InspectorError, RuntimeError):
        # Said by the run, in its words; a RuntimeError is that nobody's home folder is known.
        return None
    ahead.loop.start(ahead.source.listing())
    ahead.loop.look()
    return ahead


def importing(ahead: Ahead) -> None:
    """Import what the answer is needed for, and look now and then whether it is there."""
    import_module("click")
    ahead.loop.look()
    for name in _MODULES:
        import_module(f"inspector.{name}")
        ahead.loop.look()
