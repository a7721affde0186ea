"""The first request, sent before the command line is imported: its answer takes about as long as the imports.

Only where nothing that is still to be read could make it another one: the first argument is a repo of the Hub, and no
option names an endpoint, a token, a revision, a deadline or a trace. The same source answers the run afterwards, so
that nothing is asked twice, and what goes wrong is said by the run, in its words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Final, NamedTuple

from inspector import address
from inspector.address import Address
from inspector.errors import InspectorError
from inspector.net import environment
from inspector.sources.hub import HubSource
from inspector.tasks import Loop

_OTHERWISE: Final = (
    *("--endpoint", "--token", "--revision", "--repo-type", "--timeout", "--jobs", "--offline", "--verbose", "-v"),
    *("--help", "-h", "--version"),
)
"""Options with which the request would be another one, or none."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_MODULES: Final = ("cli", "inspection", "checkpoint", "measure", "menu", "fitting.outlook", "render")


class Ahead(NamedTuple):
    """A source that has been asked for its listing, its address, and the loop in which the answer is waited for."""

    where: Address
    source: HubSource
    loop: Loop


def begin(words: Sequence[str], env: Mapping[str, str]) -> Ahead | None:
    """Ask for the listing of the repo that is the first word; None where the run might ask otherwise, or nothing."""
    if not words or "/" not in words[0] or any(w.startswith(_OTHERWISE) for w in words) or environment.offline(env):
        return None
    try:
        where = address.parse(words[0])
        if where.kind != "model" or _COMMIT.fullmatch(where.revision or ""):
            # Of a commit everything may be kept: then nothing is asked at all.
            return None
        ahead = Ahead(where, HubSource(where), Loop())
    except InspectorError:
        return None
    ahead.loop.start(ahead.source.listing())
    ahead.loop.look()
    return ahead


def importing(ahead: Ahead) -> None:
    """Import the rest of the program, and look now and then whether the answer is there."""
    import_module("click")
    ahead.loop.look()
    for name in _MODULES:
        import_module(f"inspector.{name}")
        ahead.loop.look()
