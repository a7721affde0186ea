"""Pools of connections: one per host, through the proxies of the environment, TLS always verified."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from inspector.errors import UsageError
from inspector.escape import terminal
from inspector.net.names import addresses
from inspector.net.response import Response, Wire
from inspector.net.trust import certified, proxies, proxy_for
from inspector.records import dataclass
from inspector.tasks import WRITE, ready

if TYPE_CHECKING:
    import ssl

_NEXT_ADDRESS = 2.0
"""Seconds after which the next address of a name is tried: a broken IPv6 route answers nothing at all."""


class NotConnected(Exception):
    """No connection came about: `cause` says why, `proxied` whether it was to a proxy."""

    def __init__(self, cause: BaseException, proxied: bool) -> None:
        self.cause, self.proxied = cause, proxied
        super().__init__(str(cause))


class TunnelRefused(OSError):
    """A proxy's own answer where a tunnel was asked for: its status and words."""


@dataclass(frozen=True)
class _Route:
    """How one host is reached: where to connect, with TLS to whom, through which tunnel, and what a proxy is told."""

    host: str
    port: int
    secure: ssl.SSLContext | None = None
    tunnel: str | None = None
    absolute: bool = False
    login: str | None = None

    @property
    def proxied(self) -> bool:
        return self.absolute or self.tunnel is not None


class Connections:
    """Sends one GET and hands back the answer with its body unread. For the tasks of one thread."""

    def __init__(self, env: Mapping[str, str], *, jobs: int) -> None:
        self._env, self._jobs = env, jobs
        self._routes: dict[tuple[str, str], _Route] = {}
        self._idle: dict[_Route, list[Wire]] = {}
        self._proxies: dict[str, str] | None = None
        self._secure: ssl.SSLContext | None = None
        self._closed = False

    async def get(self, url: str, headers: Mapping[str, str], timeout: float, left: float) -> Response:
        """Send the request; `timeout` seconds are for connecting and for each read, `left` for all up to the body.

        Raises `NotConnected`, `Unreadable` and OSError; follows no redirect and tries once.
        """
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        route = self._route(parts.scheme, host)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = [f"GET {f'http://{host}' if route.absolute else ''}{target} HTTP/1.1", f"Host: {host}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if route.absolute and route.login:
            lines.append(f"Proxy-Authorization: {route.login}")
        until = time.monotonic() + left
        wire = self._again(route) or await self._connect(route, min(timeout, left))
        try:
            await wire.send("\r\n".join([*lines, "", ""]).encode("latin-1"), min(time.monotonic() + timeout, until))
            response = Response(wire, lambda whole: self._give_back(route, wire, whole))
            await response.head(timeout, until)
        except BaseException:
            wire.close()
            raise
        return response

    def close(self) -> None:
        """Close the connections that wait for another request; those that are in use close at their end."""
        self._closed = True
        for wires in self._idle.values():
            for wire in wires:
                wire.close()
        self._idle.clear()

    def _again(self, route: _Route) -> Wire | None:
        """An idle connection that still stands."""
        wires = self._idle.get(route, [])
        while wires:
            wire = wires.pop()
            # Readable while nothing was asked: the server has hung up.
            if not wire.readable():
                return wire
            wire.close()
        return None

    def _give_back(self, route: _Route, wire: Wire, again: bool) -> None:
        idle = self._idle.setdefault(route, [])
        if again and not self._closed and len(idle) < self._jobs:
            idle.append(wire)
        else:
            wire.close()

    async def _connect(self, route: _Route, timeout: float) -> Wire:
        until = time.monotonic() + timeout
        try:
            wire = await _dial(route.host, route.port, until)
            try:
                if route.secure is not None and route.tunnel is None:
                    await wire.secure(route.secure, route.host, until)
                elif route.tunnel is not None:
                    await _tunnel(wire, route, until)
                    if route.secure is not None:
                        await wire.secure(route.secure, route.tunnel.rpartition(":")[0].strip("[]"), until)
            except BaseException:
                wire.close()
                raise
        except (OSError, ValueError) as e:
            raise NotConnected(e, route.proxied) from None
        return wire

    def _route(self, scheme: str, host: str) -> _Route:
        found = self._routes.get((scheme, host))
        if found is None:
            if self._proxies is None:
                self._proxies = proxies(self._env)
            found = self._routes[scheme, host] = self._new(scheme, host, proxy_for(self._proxies, scheme, host))
        return found

    def _new(self, scheme: str, host: str, proxy: str | None) -> _Route:
        own = urlsplit(f"//{host}")
        name, port = own.hostname or "", own.port or (443 if scheme == "https" else 80)
        if proxy is None:
            return _Route(name, port, self._certified() if scheme == "https" else None)
        try:
            parts = urlsplit(proxy)
            named = parts.port
        except ValueError:
            advice = "Set http_proxy and https_proxy to an http:// address."
            raise UsageError("proxy", "its address cannot be read", advice) from None
        if parts.scheme not in ("http", "https") or not parts.hostname:
            advice = "Set http_proxy and https_proxy to an http:// address, or name the host in no_proxy."
            raise UsageError("proxy", f"{terminal(parts.scheme, 20)}:// proxies are not supported", advice)
        if parts.scheme == "https" and scheme == "https":
            message = "an https:// proxy for https addresses is not supported"
            raise UsageError("proxy", message, "Set https_proxy to an http:// address.")
        login = None
        if parts.username is not None:
            from base64 import b64encode

            words = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            login = f"Basic {b64encode(words.encode()).decode()}"
        to = named or (443 if parts.scheme == "https" else 80)
        if scheme == "http":
            secure = self._certified() if parts.scheme == "https" else None
            return _Route(parts.hostname, to, secure, absolute=True, login=login)
        through = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
        return _Route(parts.hostname, to, self._certified(), tunnel=through, login=login)

    def _certified(self) -> ssl.SSLContext:
        if self._secure is None:
            self._secure = certified(self._env)
        return self._secure


async def _dial(host: str, port: int, until: float) -> Wire:
    """A connection to the first address of a host that answers. Raises OSError: of the last one tried."""
    found = await addresses(host, port, until)
    problem: OSError = OSError(f"no address for {host}")
    for number, (family, address) in enumerate(found, 1):
        last = number == len(found)
        try:
            # A kernel may lack the family of an address that a name has.
            sock = socket.socket(family, socket.SOCK_STREAM)
        except OSError as e:
            problem = e
            continue
        try:
            sock.setblocking(False)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            try:
                sock.connect(address)
            except BlockingIOError:
                await ready(sock, WRITE, until if last else min(until, time.monotonic() + _NEXT_ADDRESS))
                code = sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                if code:
                    import os

                    raise OSError(code, os.strerror(code)) from None
            return Wire(sock)
        except OSError as e:
            sock.close()
            problem = e
        except BaseException:
            sock.close()
            raise
    raise problem


async def _tunnel(wire: Wire, route: _Route, until: float) -> None:
    """Ask a proxy for a connection to `route.tunnel`. Raises `TunnelRefused`."""
    lines = [f"CONNECT {route.tunnel} HTTP/1.1", f"Host: {route.tunnel}"]
    if route.login:
        lines.append(f"Proxy-Authorization: {route.login}")
    await wire.send("\r\n".join([*lines, "", ""]).encode("latin-1"), until)
    # Read by the byte: what follows the empty line belongs to the other end.
    head = b""
    while not head.endswith((b"\r\n\r\n", b"\n\n")):
        byte = await wire.receive(1, until)
        if not byte or len(head) > 16_384:
            raise ConnectionResetError("the proxy hung up")
        head += byte
    words = head.partition(b"\n")[0].decode("latin-1").strip().split(" ", 1)
    if len(words) < 2 or not words[0].startswith("HTTP/1.") or not words[1].startswith("2"):
        raise TunnelRefused(f"Tunnel connection failed: {' '.join(words[1:])}")
