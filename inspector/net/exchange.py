"""One HTTP answer whose body is still unread: read it exactly, or close the connection."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from inspector.errors import SourceError
from inspector.escape import terminal
from inspector.net import ranges
from inspector.net.connections import NotConnected
from inspector.net.failures import failure, shown
from inspector.net.meter import Meter
from inspector.net.response import Ended, Unreadable
from inspector.net.retrying import Patience
from inspector.net.threads import beside
from inspector.records import dataclass

if TYPE_CHECKING:
    from inspector.net.response import Response

SMALL: Final = 100_000_000
"""Most bytes, packed or not, of a body that is read whole: Kimi-K3's shard index has 60 MB."""
_GZIP: Final = b"\x1f\x8b"
_LARGE: Final = 65_536
"""Bytes of a packed body from which it is worth a thread to unpack it."""
_SHORT: Final = 65_536
"""Bytes of an error's or a redirect's body that are worth reading to keep its connection."""


NETWORK_ERRORS: Final = (NotConnected, Unreadable, Ended, OSError)
"""What `Connections` and `Response` raise where a network or a server fails them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole answer. `headers` has lower-case names; `url` is where redirects led, `moved` whether there were any.

    `packed` is the body as it came, where that was as gzip.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    url: str
    moved: bool
    packed: bytes | None = None


class HttpStatus(SourceError):
    """An answer with a status of 400 or more, for a caller who knows what the words of the server mean."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        text = terminal(answer.body[:800].decode("utf-8", "replace").strip())[:200]
        super().__init__(shown(answer.url), f"status {answer.status}" + (f": {text}" if text else ""))


class Broken(Exception):
    """A body, or a connection, ended too early; the same GET may be sent again."""

    def __init__(self, error: SourceError) -> None:
        self.error = error
        super().__init__(str(error))


class Line:
    """One line of the trace: filled while an exchange runs, written once."""

    def __init__(self, url: str, asked: str, write: Callable[[str], None] | None) -> None:
        self._url, self._asked, self._write = url, asked, write
        self._started = time.perf_counter()
        self.bytes = 0

    def end(self, result: str) -> None:
        """Write the line, without query, token or password."""
        if self._write is None:
            return
        took = 1000 * (time.perf_counter() - self._started)
        asked = f" {self._asked}" if self._asked else ""
        self._write(f"GET {shown(self._url)}{asked} -> {result}, {self.bytes:,} B, {took:.0f} ms")
        self._write = None


class Exchange:
    """An answer at the end of one request. Exactly one of `part`, `whole` and `skip` is to be called, once.

    `timeout` seconds are for each read of the body.
    """

    def __init__(
        self, response: Response, url: str, moved: bool, line: Line, meter: Meter, patience: Patience, timeout: float
    ) -> None:
        self.url, self.moved, self.status = url, moved, response.status
        self.headers: Mapping[str, str] = response.headers
        self._response, self._line, self._meter, self._patience = response, line, meter, patience
        self._timeout = timeout

    @property
    def _place(self) -> str:
        """Made where something goes wrong: ninety-six answers of a hundred go right."""
        return shown(self.url)

    async def part(self, start: int, stop: int, size: int | None, feed: Callable[[bytes], bool]) -> None:
        """Hand the body of a 206 for `start..stop` to `feed` until it returns True; every other answer is refused.

        Raises `Broken` where the body ends early.
        """
        result, whole = str(self.status), False
        try:
            expected = ranges.accept(self.status, self.headers, start, stop, size, self._place)
            received = 0
            while received < expected:
                chunk = await self._take()
                if not chunk:
                    message = f"the body ended after {received:,} of {expected:,} bytes"
                    raise Broken(SourceError(self._place, message, "Try again; the connection broke off."))
                # A chunked body without a length may hold more than was asked for.
                chunk = chunk[: expected - received]
                received += len(chunk)
                if feed(chunk):
                    break
            whole = received == expected
        except SourceError:
            result += " refused"
            raise
        finally:
            self._release(whole, result)

    async def whole(self) -> Answer:
        """The whole body of a 200, at most `SMALL` bytes, unpacked where it came as gzip."""
        whole = False
        try:
            if self.status != 200:
                raise SourceError(self._place, f"answers with status {self.status} in place of 200")
            body, packed = await self._all()
            whole = True
            return Answer(self.status, self.headers, body, self.url, self.moved, packed)
        finally:
            self._release(whole, str(self.status))

    async def skip(self) -> Answer:
        """The first bytes of a redirect's or an error's body."""
        body = b""
        try:
            while len(body) < _SHORT and (chunk := await self._take()):
                body += chunk
        except Broken:
            pass
        self._release(len(body) < _SHORT, str(self.status))
        if self.headers.get("content-encoding", "").endswith("gzip"):
            import zlib

            try:
                body = zlib.decompressobj(31).decompress(body, _SHORT)
            except zlib.error:
                body = b""
        return Answer(self.status, self.headers, body, self.url, self.moved)

    async def _all(self) -> tuple[bytes, bytes | None]:
        encoding = self.headers.get("content-encoding", "identity").strip().lower()
        if encoding not in ("", "identity", "gzip", "x-gzip"):
            raise SourceError(self._place, f"the answer is encoded as {encoding[:20]!a}, which was not asked for")
        announced = self.headers.get("content-length", "")
        if announced.isascii() and announced.isdigit() and int(announced) > SMALL:
            raise SourceError(self._place, f"has {int(announced):,} bytes; at most {SMALL:,} are read whole")
        parts: list[bytes] = []
        total, gzip = 0, encoding.endswith("gzip")
        while chunk := await self._take():
            total += len(chunk)
            if total > SMALL:
                raise SourceError(self._place, f"has more than the {SMALL:,} bytes that are read whole")
            parts.append(chunk)
            if gzip and len(parts) <= 2 and not b"".join(parts).startswith(_GZIP[:total]):
                raise SourceError(self._place, "the body is not the gzip that it claims to be")
        body = b"".join(parts)
        return (await self._unpacked(body), body) if gzip else (body, None)

    async def _unpacked(self, packed: bytes) -> bytes:
        """A body out of its gzip form; a large one beside everything else, which zlib's code can."""
        import zlib

        unpacker = zlib.decompressobj(31)
        try:
            if len(packed) < _LARGE:
                body = unpacker.decompress(packed, SMALL + 1)
            else:
                until = time.monotonic() + self._patience.remaining(self.url, shown)
                body = await beside(lambda: unpacker.decompress(packed, SMALL + 1), until)
        except zlib.error:
            raise SourceError(self._place, "the body is not the gzip that it claims to be") from None
        except TimeoutError:
            self._patience.remaining(self._place)
            raise SourceError(self._place, "was not unpacked within the time allowed", "Raise --timeout.") from None
        if len(body) > SMALL:
            raise SourceError(self._place, f"has more than the {SMALL:,} bytes that are read whole")
        if not unpacker.eof:
            raise Broken(SourceError(self._place, "the gzip body is cut off", "Try again; the connection broke off."))
        return body

    async def _take(self) -> bytes:
        """Body bytes as they come; empty at the end of the body."""
        left = self._patience.remaining(self.url, shown)
        try:
            chunk = await self._response.read(self._timeout, time.monotonic() + left)
        except NETWORK_ERRORS as e:
            self._patience.remaining(self._place)
            told = failure(self.url, e).error
            message = f"{told.message} after {self._line.bytes:,} bytes of the body"
            raise Broken(SourceError(self._place, message, told.advice)) from None
        self._line.bytes += len(chunk)
        self._meter.body(len(chunk))
        return chunk

    def _release(self, whole: bool, result: str) -> None:
        """Give the connection back where nothing of the body is left on it, else close it."""
        if whole:
            self._response.give_back()
        else:
            self._response.close()
        self._line.end(result)
