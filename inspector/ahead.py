"""The reading begins before what answers is imported: servers take about as long as the imports.

Only where nothing that is still to be read could make the requests other ones: the first argument is a repo of the Hub,
and no option is there but those that change nothing about them. The same source answers the run afterwards, so that
nothing is asked twice, and what goes wrong is said by the run, in its words.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from inspector import address
from inspector.address import Address
from inspector.errors import InspectorError
from inspector.net import environment
from inspector.records import replace
from inspector.request import FORMATS, Request
from inspector.sources.hub import HubSource
from inspector.tasks import Loop

if TYPE_CHECKING:
    from inspector.begun import Asked, Begun

_FLAGS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "-q": "quiet",
        "--quiet": "quiet",
        "--plain": "plain",
        "--tensors": "tensors",
        "--metadata": "metadata",
        "--no-cache": "no_cache",
    }
)
"""Options that change nothing about the first request, by the names that the command line gives them."""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_READING: Final = ("inspector.begun", "inspector.keep.keeping", "inspector.sources.kept", "inspector.checkpoint")
"""What the next requests need."""
_ANSWER: Final = ("inspector.inspection", "inspector.answer")
"""What comes afterwards."""


class Ahead:
    """The source of a repo that has been asked for its listing, before what answers the `request` was imported."""

    def __init__(self, where: Address, request: Request) -> None:
        self.where, self.request, self.source, self.loop = where, request, HubSource(where), Loop()
        self.since = time.perf_counter()
        self._begun: Begun | None = None
        self.loop.start(self.source.listing())
        self.loop.look()

    def go_on(self) -> None:
        """Import what the answers are needed for, and look now and then whether they are there."""
        for name in _READING:
            import_module(name)
            self.loop.look()
        if not (self.request.tensors or self.request.metadata or self.request.no_cache):
            # What goes wrong goes wrong again in the run, which has words for it.
            with suppress(Exception):
                self._begin()
        for name in _ANSWER:
            import_module(name)
            self.loop.look()

    def reading(self, where: Address, asked: Asked | None) -> Begun | None:
        """The reading that has begun, where it is that of `where`, for what is `asked`; any other one ends."""
        begun, self._begun = self._begun, None
        if begun is None or (begun.where == where and begun.asked == asked):
            return begun
        begun.task.cancel()
        return None

    def _begin(self) -> None:
        """Begin to read what an `inspect` without options is asked."""
        from inspector.begun import Asked, begin
        from inspector.keep.keeping import Kept, open_store, this_program
        from inspector.model.fit_model import Workload
        from inspector.sources import open_source

        asked = Asked(replace(self.where, revision=None), environment.endpoint(os.environ), workload=Workload())
        store = open_store()
        kept = None if store is None else Kept(store, asked, this_program())
        source = open_source(self.where, store=store, hub=self.source)
        self._begun = begin(self.where, asked, source, kept, self.loop, self.since)
        self.loop.look()


def begin(asked: Request, env: Mapping[str, str]) -> Ahead | None:
    """Ask for the listing of the repo; None where the run will ask nothing, or is to say what is wrong."""
    if environment.offline(env):
        return None
    try:
        where = address.parse(asked.repos[0])
        if where.kind != "model" or _COMMIT.fullmatch(where.revision or ""):
            # Of a commit everything may be kept: then nothing is asked at all.
            return None
        return Ahead(where, asked)
    except (InspectorError, RuntimeError):
        # Said by the run, in its words; a RuntimeError is that nobody's home folder is known.
        return None


def request(words: Sequence[str]) -> Request | None:
    """What these words of a command line ask; None where there are any but a repo, a format and a few flags.

    `cli` understands them alike, and all the others.
    """
    if not words or "/" not in words[0] or words[0].startswith("-"):
        return None
    found: dict[str, Any] = {}
    rest = iter(words[1:])
    for word in rest:
        if word == "--format":
            found["form"] = next(rest, None)
            if found["form"] not in FORMATS:
                return None
        elif word in _FLAGS:
            found[_FLAGS[word]] = True
        else:
            return None
    return Request((words[0],), **found)
