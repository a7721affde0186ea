"""One connection, and one answer on it: bytes in, a status, headers and a body out.

The answer is read by llhttp (the parser of Node.js, as httptools brings it): http.client imports the email package
for its headers, which takes longer than a round trip, and reads only by blocking.
"""

from __future__ import annotations

import select
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from inspector.tasks import READ, WRITE, ready

if TYPE_CHECKING:
    import socket
    import ssl

_CHUNK: Final = 65_536
_LONGEST: Final = 262_144
"""Bytes of status line and headers, after which an answer is refused."""


class Unreadable(Exception):
    """What came is no HTTP."""


class Ended(Exception):
    """The server closed the connection before the answer was whole."""


class Wire:
    """One open connection whose waits are tasks' waits; `until` is a time of `time.monotonic`.

    `send` and `receive` raise TimeoutError, and every OSError that a socket raises.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock

    async def send(self, data: bytes, until: float) -> None:
        """All of `data`."""
        while data:
            try:
                data = data[self.sock.send(data) :]
            except OSError as e:
                await self._patiently(e, WRITE, until)

    async def receive(self, count: int, until: float) -> bytes:
        """Up to `count` bytes as they come; empty at the end."""
        while True:
            try:
                return self.sock.recv(count)
            except OSError as e:
                await self._patiently(e, READ, until)

    async def secure(self, context: ssl.SSLContext, host: str, until: float) -> None:
        """Speak TLS from here on, with a server that must prove to be `host`. Raises ssl.SSLError."""
        secured = context.wrap_socket(self.sock, server_hostname=host, do_handshake_on_connect=False)
        self.sock = secured
        while True:
            try:
                secured.do_handshake()
                return
            except OSError as e:
                await self._patiently(e, READ, until)

    def readable(self) -> bool:
        """Whether something, an end too, waits to be read; a socket that is gone counts."""
        try:
            if hasattr(select, "poll"):
                poll = select.poll()
                poll.register(self.sock, select.POLLIN)
                return bool(poll.poll(0))
            return bool(select.select([self.sock], [], [], 0)[0])
        except (OSError, ValueError):
            return True

    def close(self) -> None:
        """Hang up."""
        self.sock.close()

    async def _patiently(self, problem: OSError, event: int, until: float) -> None:
        """Wait where `problem` only says that the socket is not ready; else raise it."""
        if isinstance(problem, BlockingIOError):
            await ready(self.sock, event, until)
            return
        # The names of ssl's two, which need no import of ssl where no TLS is spoken.
        name = type(problem).__name__
        if name not in ("SSLWantReadError", "SSLWantWriteError"):
            raise problem
        await ready(self.sock, READ if name == "SSLWantReadError" else WRITE, until)


class Response:
    """One answer with its body unread; `give_back` or `close` ends it. Headers have lower-case names."""

    def __init__(self, wire: Wire, ended: Callable[[bool], None]) -> None:
        from httptools import HttpResponseParser

        self.headers: dict[str, str] = {}
        self.status = 0
        self._wire, self._ended = wire, ended
        self._parser = HttpResponseParser(self)
        # What a server says of an error may hold control characters: it is shown, escaped, and not refused.
        self._parser.set_dangerous_leniencies(lenient_headers=True)
        self._body: deque[bytes] = deque()
        self._begun = self._complete = self._again = False

    async def head(self, timeout: float, until: float) -> None:
        """Read up to the end of the headers; `timeout` seconds are for each read, `until` ends them all.

        Raises `Unreadable`, `Ended`, TimeoutError and OSError.
        """
        taken = 0
        while not self._begun:
            data = await self._wire.receive(_CHUNK, min(time.monotonic() + timeout, until))
            if not data:
                if taken:
                    raise Ended
                raise ConnectionResetError("closed before an answer")
            taken += len(data)
            self._feed(data)
            if taken > _LONGEST and not self._begun:
                raise Unreadable(f"headers of more than {_LONGEST:,} bytes")

    async def read(self, timeout: float, until: float) -> bytes:
        """Body bytes as they come, empty at the end; `timeout` seconds are for each read, `until` ends them all.

        Raises `Ended` where the body ends early, `Unreadable` where too much comes that is no body.
        """
        framing = 0
        while not self._body:
            if self._complete:
                return b""
            data = await self._wire.receive(_CHUNK, min(time.monotonic() + timeout, until))
            if data:
                framing += len(data)
                self._feed(data)
                if framing > _LONGEST and not self._body and not self._complete:
                    raise Unreadable(f"more than {_LONGEST:,} bytes between two pieces of a body")
            elif "content-length" in self.headers or "transfer-encoding" in self.headers:
                raise Ended
            else:
                # A body without a length ends with its connection (RFC 9112, 6.3).
                self._complete = True
        return self._body.popleft()

    def give_back(self) -> None:
        """End the answer; its connection is used again where nothing of the body is left on it."""
        self._ended(self._complete and not self._body and self._again)

    def close(self) -> None:
        """End the answer and its connection: what is left of the body is not wanted."""
        self._ended(False)

    def _feed(self, data: bytes) -> None:
        from httptools import HttpParserError, HttpParserUpgrade

        if self._complete:
            self._again = False
            return
        try:
            self._parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade) as e:
            self._stumbled(str(e))

    def _stumbled(self, words: str) -> None:
        """What follows a whole answer need not be HTTP; what is part of it must be. Raises `Unreadable`."""
        if not self._complete:
            raise Unreadable(words)
        self._again = False

    # What follows is called by the parser. After the end of the answer it may be fed another one, which nobody asked
    # for and which says nothing; the connection is of no use any more.

    def on_message_begin(self) -> None:
        """The first bytes of an answer."""
        self._again = False

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header; several of one name become one, as RFC 9110, 5.3 allows."""
        if self._begun:
            # A trailer of a chunked body says nothing that is asked here.
            return
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        self.headers[key] = f"{self.headers[key]}, {text}" if key in self.headers else text

    def on_headers_complete(self) -> None:
        """The end of the headers; those of an interim answer (1xx) are forgotten."""
        if self._begun:
            return
        self.status = self._parser.get_status_code()
        if 100 <= self.status < 200:
            self.headers.clear()
        else:
            self._begun = True

    def on_body(self, data: bytes) -> None:
        """A piece of the body."""
        if not self._complete:
            self._body.append(data)

    def on_message_complete(self) -> None:
        """The end of the body; that of an interim answer is none."""
        if self._begun and not self._complete:
            self._complete, self._again = True, self._parser.should_keep_alive()
