"""The loopback Hub itself: two threaded servers on 127.0.0.1, the Hub and its CDN."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterable, Mapping
from http.server import ThreadingHTTPServer
from queue import SimpleQueue
from typing import Any

from tests.loopback.handler import Handler
from tests.loopback.repo import Repo
from tests.loopback.settings import Settings
from tests.loopback.state import State
from tests.loopback.wire import Faults, Record


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512

    def __init__(self, port: int, handler: type[Handler]) -> None:
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._new: SimpleQueue[tuple[Any, Any] | None] = SimpleQueue()
        self._workers = self._idle = 0
        super().__init__(("127.0.0.1", port), handler)

    def server_bind(self) -> None:
        # HTTPServer asks the resolver for this machine's name here, which may take seconds.
        self.allow_reuse_address = True
        super(ThreadingHTTPServer, self).server_bind()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.add(request)
            more = self._idle == 0
            self._workers += more
            self._idle -= not more
        self._new.put((request, client_address))
        if more:
            threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        """One connection after another: a new thread for each takes longer than a whole answer."""
        while (connection := self._new.get()) is not None:
            self.process_request_thread(*connection)
            with self._lock:
                self._idle += 1

    def server_close(self) -> None:
        super().server_close()
        for _ in range(self._workers):
            self._new.put(None)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is no error here."""

    def hang_up(self) -> None:
        with self._lock:
            left = list(self._open)
        for connection in left:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class LoopbackHub:
    """A stand-in for the Hub: `with LoopbackHub([repo]) as hub: ... hub.endpoint`.

    Keyword arguments are the fields of `Settings`. It serves from construction until `close` or the end of `with`.
    """

    def __init__(self, repos: Iterable[Repo] = (), *, port: int = 0, cdn_port: int = 0, **settings: Any) -> None:
        self._state = State(repos, Settings(**settings))
        hub = type("HubHandler", (Handler,), {"state": self._state, "port_name": "hub"})
        cdn = type("CdnHandler", (Handler,), {"state": self._state, "port_name": "cdn"})
        self._servers = [_Server(port, hub)]
        try:
            self._servers.append(_Server(cdn_port, cdn))
        except OSError:
            self._servers[0].server_close()
            raise
        self.port, self.cdn_port = (s.server_address[1] for s in self._servers)
        self.endpoint = self._state.hub_url = f"http://127.0.0.1:{self.port}"
        self.cdn = self._state.cdn_url = f"http://127.0.0.1:{self.cdn_port}"
        for server in self._servers:
            threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def __enter__(self) -> LoopbackHub:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop both ports and hang up on every connection, stalled ones too."""
        self._state.stopped.set()
        for server in self._servers:
            server.shutdown()
            server.hang_up()
            server.server_close()

    def put(self, repo: Repo) -> None:
        """Add a repo or replace the one of its name, while serving."""
        self._state.put(repo)

    @property
    def faults(self) -> Faults | None:
        """The hook that may spoil answers; settable while serving."""
        return self._state.settings.faults

    @faults.setter
    def faults(self, faults: Faults | None) -> None:
        object.__setattr__(self._state.settings, "faults", faults)

    @property
    def requests(self) -> tuple[Record, ...]:
        """Every request answered so far."""
        return self._state.log.all()

    def forget(self) -> None:
        """Empty the log."""
        self._state.log.clear()

    def totals(self) -> Mapping[str, int]:
        """Counts over the log: `requests`, `sent`, `weight_bytes`, `hub`, `cdn`, and `cdn_authorized` (must be 0)."""
        records = self.requests
        on_cdn = [r for r in records if r.request.server == "cdn"]
        return {
            "requests": len(records),
            "hub": len(records) - len(on_cdn),
            "cdn": len(on_cdn),
            "sent": sum(r.sent for r in records),
            "weight_bytes": sum(r.weight_bytes for r in records),
            "cdn_authorized": sum(r.authorization is not None for r in on_cdn),
        }
