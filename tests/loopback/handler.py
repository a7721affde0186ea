"""One connection: read requests, build honest answers, spoil them where a fault says so, send and record."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler
from typing import ClassVar
from urllib.parse import unquote, urlsplit

from tests.loopback import cdn_routes, hub_routes
from tests.loopback.access import refusal
from tests.loopback.content import WEIGHT_SUFFIXES, Entry
from tests.loopback.repo import Repo
from tests.loopback.routes import Route, hub_route
from tests.loopback.state import State
from tests.loopback.wire import Answer, Fault, Record, RequestInfo, Server, Slice

_HONEST = Fault()
_STEP = 1 << 16


class Closed(Exception):
    """The connection is over: by a fault, or because the other side left."""


class Handler(BaseHTTPRequestHandler):
    """Serves one of the two ports; `state` and `server_name` are set on a subclass per port."""

    state: ClassVar[State]
    port_name: ClassVar[Server]
    raw_requestline: bytes
    seen: dict[str, str]
    """Headers of the request, by their lower-case names."""
    protocol_version = "HTTP/1.1"
    server_version = "loopback-hub"
    sys_version = ""
    disable_nagle_algorithm = True
    wbufsize = _STEP

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent: the log is the record."""

    def parse_request(self) -> bool:
        """The request line and headers: the email package, which the base class uses, takes as long as all the rest."""
        words = self.raw_requestline.decode("latin-1").split()
        if len(words) != 3 or not words[2].startswith("HTTP/1."):
            self.requestline, self.command, self.request_version = "", "", self.protocol_version
            self.send_error(400, "Bad request")
            return False
        self.command, self.path, self.request_version = words
        self.seen = {}
        while (line := self.rfile.readline(_STEP).decode("latin-1").strip()) != "":
            name, _, value = line.partition(":")
            self.seen[name.strip().lower()] = value.strip()
        self.close_connection = self.seen.get("connection", "").lower() == "close"
        return True

    def do_GET(self) -> None:
        self._exchange()

    def do_HEAD(self) -> None:
        self._exchange()

    def do_POST(self) -> None:
        self._exchange()

    def _exchange(self) -> None:
        seen = self.seen
        length = seen.get("content-length", "0")
        body = self.rfile.read(int(length)) if length.isdigit() and int(length) else b""
        parts = urlsplit(self.path)
        route, owner, entry = self._find(parts.path, parts.query)
        number, attempt = self.state.log.begin(self.port_name, self.command, parts.path)
        request = RequestInfo(
            server=self.port_name,
            method=self.command,
            path=unquote(parts.path),
            query=parts.query,
            headers=seen,
            route=route.name,
            repo=owner.name if owner else route.repo,
            revision=route.revision,
            file=entry.path if entry else route.path,
            number=number,
            attempt=attempt,
        )
        status, counted = 0, [0, 0]
        try:
            fault = (self.state.settings.faults and self.state.settings.faults(request)) or _HONEST
            pause = self.state.settings.latency + fault.delay
            if pause:
                self.state.stopped.wait(pause)
            answer = self._answer(request, route, seen, body, fault)
            status = answer.status
            self._send(answer, fault, counted)
        except (Closed, OSError):
            self.close_connection = True
        finally:
            self.state.log.end(Record(request, status, counted[0], counted[1]))

    def _find(self, path: str, query: str) -> tuple[Route, Repo | None, Entry | None]:
        if self.port_name == "hub":
            return hub_route(self.path), None, None
        found = self.state.signed(path, query)
        owner, entry = (None, None) if isinstance(found, str) else found
        return Route("cdn"), owner, entry

    def _answer(self, request: RequestInfo, route: Route, seen: Mapping[str, str], body: bytes, fault: Fault) -> Answer:
        headers = {k: v for k, v in seen.items() if k != "range"} if fault.ignore_range else seen
        if self.port_name == "hub":
            answer = self._limited(route) or hub_routes.answer(self.state, self.command, route, headers, body)
            identity = {"X-Request-Id": f"loopback-{request.number}"}
            answer = replace(answer, headers={**answer.headers, **self._limits, **identity})
        else:
            answer = cdn_routes.answer(self.state, urlsplit(self.path).path, request.query, headers)
        if fault.status is not None:
            answer = replace(answer, status=fault.status, body=b"", chunked=False)
        if fault.body is not None:
            answer = replace(answer, body=fault.body, chunked=False)
        if fault.gzip:
            packed = hub_routes.gzip_bytes(answer.body)
            answer = replace(answer, headers={**answer.headers, "Content-Encoding": "gzip"}, body=packed)
        merged = {k.lower(): (k, v) for k, v in answer.headers.items()}
        for name, value in fault.headers.items():
            merged.pop(name.lower(), None)
            if value is not None:
                merged[name.lower()] = (name, value)
        return replace(answer, headers=dict(merged.values()))

    def _limited(self, route: Route) -> Answer | None:
        bucket = "resolvers" if route.name in ("resolve", "small") else "api"
        left, seconds = self.state.spend(bucket, self.seen.get("authorization", "anonymous"))
        quota, window = self.state.settings.quota.get(bucket, 100), self.state.settings.window
        self._limits = {
            "RateLimit": f'"{bucket}";r={max(left, 0)};t={seconds}',
            "RateLimit-Policy": f'"fixed window";"{bucket}";q={quota};w={window}',
        }
        return refusal(429, "We had to rate limit you") if left < 0 else None

    def _send(self, answer: Answer, fault: Fault, counted: list[int]) -> None:
        if fault.raw is not None:
            self.wfile.write(fault.raw)
            raise Closed
        if fault.reset_after == -1:
            self._reset()
        size = answer.body.stop - answer.body.start if isinstance(answer.body, Slice) else len(answer.body)
        self.send_response_only(answer.status)
        self.send_header("Server", self.server_version)
        names = {name.lower() for name in answer.headers}
        if "date" not in names:
            self.send_header("Date", self.date_time_string())
        for name, value in answer.headers.items():
            self.send_header(name, value)
        bodiless = self.command == "HEAD" or answer.status in (204, 304)
        if answer.chunked and not bodiless:
            self.send_header("Transfer-Encoding", "chunked")
        elif not answer.chunked and "content-length" not in names:
            self.send_header("Content-Length", str(size))
        if fault.truncate_after is not None:
            self.close_connection = True
        self.end_headers()
        if not bodiless:
            self._body(answer, fault, size, counted)
        self.wfile.flush()

    def _body(self, answer: Answer, fault: Fault, size: int, counted: list[int]) -> None:
        weights = _weights_start(answer.body)
        stops = sorted(
            n for n in (fault.reset_after, fault.truncate_after, fault.stall_after) if n is not None and n <= size
        )
        for chunk in _cut(answer.body, stops):
            self._stop_at(counted[0], fault)
            self._write(chunk, fault, answer.chunked)
            counted[0] += len(chunk)
            if weights is not None:
                counted[1] = max(0, counted[0] - weights)
        self._stop_at(counted[0], fault)
        if answer.chunked:
            self.wfile.write(b"0\r\n\r\n")

    def _write(self, chunk: bytes | memoryview, fault: Fault, chunked: bool) -> None:
        self.state.pace(len(chunk))
        if chunked:
            self.wfile.write(b"%x\r\n" % len(chunk) + bytes(chunk) + b"\r\n")
        elif fault.rate:
            step = max(1, int(fault.rate / 20))
            for at in range(0, len(chunk), step):
                self.wfile.write(chunk[at : at + step])
                self.wfile.flush()
                self.state.stopped.wait(step / fault.rate)
        else:
            self.wfile.write(chunk)

    def _stop_at(self, sent: int, fault: Fault) -> None:
        if self.state.stopped.is_set():
            raise Closed
        if sent in (fault.stall_after, fault.truncate_after, fault.reset_after):
            self.wfile.flush()
        if sent == fault.stall_after:
            self.state.stopped.wait(fault.stall)
        if sent == fault.truncate_after:
            raise Closed
        if sent == fault.reset_after:
            # What was sent must be in the other side's hands, or the reset takes it back from its buffer.
            time.sleep(0.02)
            self._reset()

    def _reset(self) -> None:
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()
        raise Closed


def _weights_start(body: bytes | Slice) -> int | None:
    """After how many bytes of this body weight bytes begin; None where there are none."""
    if isinstance(body, bytes) or not body.entry.path.endswith(WEIGHT_SUFFIXES):
        return None
    return max(0, body.entry.weights_start() - body.start)


def _cut(body: bytes | Slice, stops: list[int]) -> Iterator[bytes | memoryview]:
    """The body in chunks that end at every one of `stops`."""
    chunks = [memoryview(body)] if isinstance(body, bytes) else body.entry.read(body.start, body.stop)
    at = 0
    for whole in chunks:
        chunk = memoryview(whole)
        while len(chunk):
            limit = min([s - at for s in stops if s > at] + [len(chunk), _STEP])
            yield chunk[:limit]
            at += limit
            chunk = chunk[limit:]
