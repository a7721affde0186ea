"""One file at a plain http or https address, by range requests: no token, no HEAD, the first range tells the size."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urlsplit

from inspector.address import Address
from inspector.contents import held
from inspector.errors import SourceError
from inspector.model import Cost, File, Listing, Ref
from inspector.net.failures import shown
from inspector.net.retrying import Patience
from inspector.net.transport import Transport
from inspector.tasks import Task, finish, start
from inspector.weights import weight_format

_FIRST: Final = 1 << 16
"""Bytes of the first range, which are kept: whole small headers, or the beginning of a large one."""


class UrlSource:
    """The `Source` of one file. `timeout` seconds are for everything together, `trace` gets a line per request.

    An answer other than the exact range, or one that does not say how large the file is, raises `SourceError`.
    """

    def __init__(
        self,
        address: Address,
        *,
        timeout: float | None = None,
        jobs: int | None = None,
        trace: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._url = urlsplit(address.name)._replace(fragment="").geturl()
        self._path = address.path or urlsplit(address.name).netloc.rpartition("@")[2]
        env = os.environ if env is None else env
        self._http = Transport(self._url, timeout=timeout, jobs=jobs or 1, trace=trace, env=env, patience=patience)
        self._landed = self._url
        self._asked: Task[Listing] | None = None
        self._begin = b""
        self._size = 0

    @property
    def jobs(self) -> int:
        """How many files are worth reading at once."""
        return 1

    async def listing(self) -> Listing:
        """The one file, with the size that the server states; its first bytes are read for that, once."""
        if self._asked is None:
            self._asked = await start(self._listed())
        return await finish(self._asked)

    async def _listed(self) -> Listing:
        parts: list[bytes] = []

        def keep(chunk: bytes) -> bool:
            parts.append(chunk)
            return False

        reading = await self._http.stream(self._url, 0, _FIRST, keep)
        if reading.size is None:
            message = "the server does not say how large the file is (Content-Range without a total)"
            raise SourceError(shown(self._url), message, "Download the file and give its path.")
        self._begin, self._size, self._landed = b"".join(parts), reading.size, reading.url
        holds = None if weight_format(self._path) else held(self._begin, self._size)
        file = File(self._path, self._size, holds=holds)
        return Listing(Ref(shown(self._url), None, "url"), (file,))

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand bytes `start..start+length` to `feed`; what the first range brought is not asked for again."""
        await self.listing()
        stop = min(start + length, self._size)
        kept = self._begin[start:stop]
        if kept and feed(kept):
            return len(kept)
        rest = start + len(kept)
        if rest >= stop:
            return len(kept)
        reading = await self._http.stream(self._landed, rest, stop - rest, feed, size=self._size)
        return len(kept) + reading.received

    async def small(self, path: str) -> bytes:
        """Nothing but the file itself is known here."""
        raise SourceError(shown(self._url), "is a single file, nothing beside it can be read")

    def cost(self) -> Cost:
        """Requests (redirects and retries counted) and body bytes so far."""
        meter = self._http.meter
        return Cost(requests=meter.requests, bytes_fetched=meter.bytes, retried=meter.retried)

    def close(self) -> None:
        """Close all connections."""
        self._http.close()
