"""Pools of connections: one per host, through the proxies of the environment, TLS always verified."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from inspector.errors import UsageError
from inspector.escape import terminal
from inspector.net.trust import certified, proxies, proxy_for

if TYPE_CHECKING:
    import ssl
    from http.client import HTTPConnection, HTTPResponse


class NotConnected(Exception):
    """No connection came about: `cause` says why, `proxied` whether it was to a proxy."""

    def __init__(self, cause: BaseException, proxied: bool) -> None:
        self.cause, self.proxied = cause, proxied
        super().__init__(str(cause))


class Response:
    """One answer with its body unread; `give_back` or `close` ends it."""

    def __init__(self, connection: HTTPConnection, answer: HTTPResponse, pool: Pool) -> None:
        self.connection, self._answer, self._pool = connection, answer, pool
        self.status = answer.status
        self.headers: dict[str, str] = {}
        for name, value in answer.getheaders():
            name = name.lower()
            self.headers[name] = f"{self.headers[name]}, {value}" if name in self.headers else value

    def read1(self, count: int) -> bytes:
        """Up to `count` body bytes as they come, empty at the end. Raises where the body ends early."""
        chunk = self._answer.read1(count)
        if not chunk and self._answer.length:
            from http.client import IncompleteRead

            raise IncompleteRead(b"", self._answer.length)
        return chunk

    def give_back(self) -> None:
        """End the answer; its connection is used again where nothing of the body is left on it."""
        done = self._answer.isclosed() or self._answer.length == 0
        self._answer.close()
        self._pool.give_back(self.connection, again=done and not self._answer.will_close)

    def close(self) -> None:
        """End the answer and its connection: what is left of the body is not wanted."""
        self._answer.close()
        self._pool.give_back(self.connection, again=False)


class Pool:
    """The connections to one host, idle and busy."""

    def __init__(self, make: Callable[[], HTTPConnection], *, proxied: bool, idle: int) -> None:
        self._make, self._proxied, self._most = make, proxied, idle
        self._lock = threading.Lock()
        self._idle: list[HTTPConnection] = []
        self._busy: set[HTTPConnection] = set()
        self._closed = False

    def take(self, timeout: float) -> HTTPConnection:
        """An idle connection that still stands, else a new one. Raises `NotConnected`."""
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
                if connection is not None:
                    self._busy.add(connection)
            if connection is None:
                return self._connect(timeout)
            if not _readable(connection.sock):
                connection.sock.settimeout(timeout)
                return connection
            # Readable while nothing was asked: the server has hung up.
            self.give_back(connection, again=False)

    def give_back(self, connection: HTTPConnection, *, again: bool) -> None:
        """Keep a connection for the next request, or close it."""
        with self._lock:
            self._busy.discard(connection)
            keep = again and not self._closed and connection.sock is not None and len(self._idle) < self._most
            if keep:
                self._idle.append(connection)
        if not keep:
            connection.close()

    def close(self) -> None:
        """Close what is idle, and hang up on what is busy: whoever waits there wakes with an error."""
        with self._lock:
            self._closed = True
            idle, busy = self._idle, list(self._busy)
            self._idle = []
        for connection in idle:
            connection.close()
        for connection in busy:
            with suppress(OSError, AttributeError):
                connection.sock.shutdown(socket.SHUT_RDWR)

    def _connect(self, timeout: float) -> HTTPConnection:
        connection = self._make()
        connection.timeout = timeout
        with self._lock:
            self._busy.add(connection)
        try:
            connection.connect()
        except (OSError, ValueError) as e:
            self.give_back(connection, again=False)
            raise NotConnected(e, self._proxied) from None
        return connection


class Connections:
    """Sends one GET and hands back the answer with its body unread. Safe from any thread."""

    def __init__(self, env: Mapping[str, str], *, jobs: int) -> None:
        self._env, self._jobs = env, jobs
        self._lock = threading.Lock()
        self._pools: dict[tuple[str, str], tuple[Pool, dict[str, str] | None]] = {}
        self._proxies: dict[str, str] | None = None
        self._secure: ssl.SSLContext | None = None

    def get(self, url: str, headers: Mapping[str, str], timeout: float) -> Response:
        """Send the request; `timeout` seconds are for connecting and for each read.

        Raises `NotConnected` and what `http.client` raises; follows no redirect and tries once.
        """
        parts = urlsplit(url)
        pool, absolute = self._pool(parts.scheme, parts.netloc.rpartition("@")[2])
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection = pool.take(timeout)
        try:
            if absolute is None:
                connection.request("GET", target, headers=dict(headers))
            else:
                host = parts.netloc.rpartition("@")[2]
                connection.request("GET", f"http://{host}{target}", headers={"Host": host, **headers, **absolute})
            return Response(connection, connection.getresponse(), pool)
        except BaseException:
            pool.give_back(connection, again=False)
            raise

    def close(self) -> None:
        """Close all connections, busy ones too."""
        with self._lock:
            pools = [pool for pool, _ in self._pools.values()]
        for pool in pools:
            pool.close()

    def _pool(self, scheme: str, host: str) -> tuple[Pool, dict[str, str] | None]:
        """The host's pool, and the headers for a proxy that is to be asked with the whole URL."""
        with self._lock:
            found = self._pools.get((scheme, host))
            if found is None:
                if self._proxies is None:
                    self._proxies = proxies(self._env)
                if scheme == "https" and self._secure is None:
                    self._secure = certified(self._env)
                found = self._pools[scheme, host] = self._make(scheme, host, proxy_for(self._proxies, scheme, host))
            return found

    def _make(self, scheme: str, host: str, proxy: str | None) -> tuple[Pool, dict[str, str] | None]:
        from http.client import HTTPConnection, HTTPSConnection

        secure = self._secure
        if proxy is None:
            make = (
                partial(HTTPSConnection, host, context=secure) if scheme == "https" else partial(HTTPConnection, host)
            )
            return Pool(make, proxied=False, idle=self._jobs), None
        parts = urlsplit(proxy)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            advice = "Set http_proxy and https_proxy to an http:// address, or name the host in no_proxy."
            raise UsageError("proxy", f"{terminal(parts.scheme, 20)}:// proxies are not supported", advice)
        if parts.scheme == "https" and scheme == "https":
            message = "an https:// proxy for https addresses is not supported"
            raise UsageError("proxy", message, "Set https_proxy to an http:// address.")
        login = {}
        if parts.username is not None:
            from base64 import b64encode

            words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            login = {"Proxy-Authorization": f"Basic {b64encode(words.encode()).decode()}"}
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if scheme == "http":
            if parts.scheme == "https":
                context = self._secure = self._secure or certified(self._env)
                return Pool(
                    partial(HTTPSConnection, parts.hostname, port, context=context), proxied=True, idle=self._jobs
                ), login

            return Pool(partial(HTTPConnection, parts.hostname, port), proxied=True, idle=self._jobs), login

        def tunnel() -> HTTPConnection:
            connection = HTTPSConnection(parts.hostname or "", port, context=secure)
            connection.set_tunnel(host, None, login)
            return connection

        return Pool(tunnel, proxied=True, idle=self._jobs), None


def _readable(sock: socket.socket | None) -> bool:
    """Whether something, an end too, waits to be read; a socket that is gone counts."""
    if sock is None:
        return True
    import select

    try:
        if hasattr(select, "poll"):
            poll = select.poll()
            poll.register(sock, select.POLLIN)
            return bool(poll.poll(0))
        return bool(select.select([sock], [], [], 0)[0])
    except (OSError, ValueError):
        return True
