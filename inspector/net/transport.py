"""HTTP as header reading needs it: exact ranges, redirects followed by hand, the token at one origin only.

No request is sent but GET, so that every one of them may be sent again.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import urljoin, urlsplit

from inspector import __version__
from inspector.errors import SourceError
from inspector.net import environment, ranges
from inspector.net.connections import Connections
from inspector.net.exchange import NETWORK_ERRORS, Answer, Broken, Exchange, HttpStatus, Line
from inspector.net.failures import PROXY_ADVICE, failure, origin, sendable, shown, unsaid
from inspector.net.meter import Meter
from inspector.net.retrying import RETRIED, TRIES, Patience, asked_delay, backoff
from inspector.records import dataclass, replace

TIMEOUT: Final = 120.0
"""Seconds for everything that one source does, where nobody says otherwise."""
_REDIRECTS: Final = 5


@dataclass(frozen=True, slots=True)
class Reading:
    """How many bytes of a range were handed over, the URL that gave them, and the file's size as the server says it."""

    received: int
    url: str
    size: int | None = None


class Transport:
    """GETs for one source. `home` is the Hub's endpoint: its origin alone ever sees `token`.

    `timeout` seconds are for everything together. `trace` gets a line per request, with neither token nor query. All
    methods are for the tasks of one thread and raise `SourceError`; `HttpStatus` where a server said no.
    """

    def __init__(
        self,
        home: str,
        *,
        token: str | None = None,
        timeout: float | None = None,
        jobs: int = 64,
        trace: Callable[[str], None] | None = None,
        env: Mapping[str, str] | None = None,
        patience: Patience | None = None,
    ) -> None:
        self._env: Mapping[str, str] = os.environ if env is None else env
        self._home, self._token = origin(home), token
        self._near = home.partition("://")[0] + "://" + urlsplit(home).netloc + "/"
        self._patience = patience or Patience(TIMEOUT if timeout is None else timeout)
        self._read_timeout = environment.socket_timeout(self._env)
        self._connections = Connections(self._env, jobs=jobs)
        self._trace = trace
        self._agent = f"inspect/{__version__}; python/{sys.version.split()[0]}"
        self.meter = Meter()

    async def get(self, url: str, *, accept: str = "application/json") -> Answer:
        """A whole body of at most 100 MB, unpacked if it came as gzip."""
        attempt = 0
        while True:
            attempt += 1
            exchange = await self._follow(url, {"Accept": accept, "Accept-Encoding": "gzip"}, "")
            try:
                return await exchange.whole()
            except Broken as e:
                await self._again(attempt, url, e)

    async def stream(
        self, url: str, start: int, length: int, feed: Callable[[bytes], bool], *, size: int | None = None
    ) -> Reading:
        """Hand `start..start+length` of a file of `size` bytes (None: not known) to `feed`, until it returns True.

        Where the body breaks off, the reading goes on at the next byte.
        """
        received, attempt = 0, 0
        stop = start + length if size is None else min(start + length, size)
        done = start >= stop

        def count(chunk: bytes) -> bool:
            nonlocal received, done
            received += len(chunk)
            done = feed(chunk)
            return done

        landed, said = url, size
        while not done:
            attempt += 1
            begin = start + received
            asked = f"bytes={begin}-{stop - 1}"
            exchange = await self._follow(url, {"Range": asked, "Accept-Encoding": "identity"}, asked)
            landed = exchange.url
            said = ranges.total(exchange.headers) if said is None else said
            try:
                await exchange.part(begin, stop, size, count)
                break
            except Broken as e:
                await self._again(attempt, url, e)
        return Reading(received, landed, said)

    def away(self, url: str) -> bool:
        """Whether `url` lies at another origin than the Hub's."""
        return not self._is_home(url)

    def _is_home(self, url: str) -> bool:
        """Whether a URL is of the Hub's own origin: nearly always plain to see, without taking it apart."""
        return url.startswith(self._near) or origin(url) == self._home

    def close(self) -> None:
        """Close all connections that wait for another request."""
        self._connections.close()

    async def _follow(self, url: str, headers: Mapping[str, str], asked: str) -> Exchange:
        """The answer at the end of the redirects, its body unread."""
        trusted, target = True, url
        for hops in range(_REDIRECTS + 1):
            # Once a chain has left the Hub the token stays behind: another host may send it anywhere.
            trusted = trusted and self._is_home(target)
            exchange = await self._send(target, headers, trusted, asked, hops > 0)
            if exchange.status not in (301, 302, 303, 307, 308):
                return exchange
            await exchange.skip()
            target = _next(target, exchange.headers.get("location"))
        message = f"redirected more than {_REDIRECTS} times, at last to {shown(target)}"
        raise SourceError(shown(url), message, "The server's redirects run in a circle.")

    async def _send(self, url: str, headers: Mapping[str, str], trusted: bool, asked: str, moved: bool) -> Exchange:
        """One URL, tried again where that may help."""
        attempt, url = 0, sendable(url)
        sent = {"User-Agent": self._agent, **headers}
        if trusted and self._token:
            sent["Authorization"] = f"Bearer {self._token}"
        while True:
            attempt += 1
            if self._patience.holds:
                await self._patience.turn(origin(url), shown(url))
            left = self._patience.remaining(url, shown)
            line = Line(url, asked, self._trace)
            self.meter.request()
            try:
                response = await self._connections.get(url, sent, self._read_timeout, left)
            except NETWORK_ERRORS as e:
                line.end(f"no answer ({type(e).__name__})")
                told = failure(url, e)
                if not told.passing:
                    raise told.error from None
                await self._again(attempt, url, Broken(told.error))
                continue
            exchange = Exchange(response, url, moved, line, self.meter, self._patience, self._read_timeout)
            if exchange.status < 400 or (exchange.status == 416 and asked):
                return exchange
            await self._refused(await exchange.skip(), attempt, url)

    async def _refused(self, answer: Answer, attempt: int, url: str) -> None:
        """Wait for the next try, or raise what the server said."""
        if answer.status == 407:
            raise SourceError(shown(url), "the proxy wants a user and a password (status 407)", PROXY_ADVICE)
        if answer.status not in RETRIED or attempt >= TRIES:
            body = unsaid(answer.body.decode("utf-8", "replace"), self._token).encode()
            headers = {name: unsaid(value, self._token) for name, value in answer.headers.items()}
            raise HttpStatus(replace(answer, body=body, headers=headers))
        self.meter.retry(f"status {answer.status}")
        delay = asked_delay(answer.status, answer.headers, time.time())
        if answer.status == 429 and delay is not None:
            self._patience.hold(origin(url), delay)
        else:
            await self._patience.wait(backoff(attempt) if delay is None else delay, shown(url))

    async def _again(self, attempt: int, url: str, broken: Broken) -> None:
        self._patience.remaining(shown(url))
        if attempt >= TRIES:
            raise broken.error from None
        self.meter.retry(broken.error.message.partition(" after ")[0])
        await self._patience.wait(backoff(attempt), shown(url))


def _next(url: str, location: str | None) -> str:
    """Where a redirect leads. Raises `SourceError` for what must not be followed."""
    if not location:
        raise SourceError(shown(url), "redirects without saying where to")
    try:
        # Nearly all lead to a whole address, with which there is nothing to join.
        whole = urlsplit(location)
        target = sendable(location if whole.scheme and whole.netloc else urljoin(url, location))
        scheme = urlsplit(target).scheme
        sound = scheme in ("http", "https") and bool(origin(target)) and target.isascii()
    except ValueError:
        target, scheme, sound = "", "", False
    if not sound:
        message = f"redirects to {shown(target or location)}, which is no http or https address"
        raise SourceError(shown(url), message, "Not followed.")
    if url.lower().startswith("https:") and scheme == "http":
        message = f"redirects from https to {shown(target)}, which is not encrypted"
        raise SourceError(shown(url), message, "Not followed.")
    return target
