"""The values of one exchange: what was asked, what is answered, what is spoilt, what was seen."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from tests.loopback.content import Entry

Server = Literal["hub", "cdn"]


@dataclass(frozen=True, slots=True)
class RequestInfo:
    """One request before it is answered. `headers` has lower-case names; `range` is as sent, None without.

    `route` is `info`, `tree`, `paths`, `refs`, `resolve`, `small`, `cdn` or `other`; `repo`, `revision` and `file`
    are what the route names. `number` counts all requests from 1, `attempt` those of this method, server and path.
    """

    server: Server
    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    route: str
    repo: str
    revision: str | None
    file: str
    number: int
    attempt: int

    @property
    def range(self) -> str | None:
        """The Range header as sent."""
        return self.headers.get("range")


@dataclass(frozen=True, slots=True)
class Fault:
    """How to spoil one answer; every field left alone keeps the honest answer.

    `status`, `body` and `headers` replace parts of it (a header of None is left out; Content-Length follows the body
    unless given). `ignore_range` answers 200 with the whole file, `gzip` encodes the body even of a range. `delay`
    seconds pass before the status line. After that many body bytes `reset_after` resets the connection (-1: before
    the status line), `truncate_after` closes it, `stall_after` waits `stall` seconds; `rate` limits to bytes per
    second. `raw` is sent in the place of everything, then the connection closes.
    """

    status: int | None = None
    headers: Mapping[str, str | None] = field(default_factory=dict)
    body: bytes | None = None
    ignore_range: bool = False
    gzip: bool = False
    delay: float = 0.0
    reset_after: int | None = None
    truncate_after: int | None = None
    stall_after: int | None = None
    stall: float = 3600.0
    rate: float | None = None
    raw: bytes | None = None


Faults = Callable[[RequestInfo], "Fault | None"]


@dataclass(frozen=True, slots=True)
class Slice:
    """A part of a file, made while it is sent."""

    entry: Entry
    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and body. `chunked` sends the body without a length, as the Hub does with what it gzips."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | Slice = b""
    chunked: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """One answered request. `sent` counts body bytes, `weight_bytes` those of them past the file's header.

    `authorization` is the header as it arrived: on the CDN it must be None. Bytes count once the kernel took them; a
    client that closes early may have left some of them unread.
    """

    request: RequestInfo
    status: int
    sent: int
    weight_bytes: int

    @property
    def authorization(self) -> str | None:
        """The Authorization header as it arrived."""
        return self.request.headers.get("authorization")

    @property
    def user_agent(self) -> str:
        """The User-Agent header, empty without."""
        return self.request.headers.get("user-agent", "")


class Log:
    """All records so far, safe to read while requests run."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._records: list[Record] = []
        self._started = 0
        self._open = 0
        self._attempts: dict[tuple[str, str, str], int] = {}

    def begin(self, server: str, method: str, path: str) -> tuple[int, int]:
        """Count a request that has just arrived: its number, and its attempt for this path."""
        with self._changed:
            self._started += 1
            self._open += 1
            key = (server, method, path)
            self._attempts[key] = self._attempts.get(key, 0) + 1
            return self._started, self._attempts[key]

    def end(self, record: Record) -> None:
        """Keep the record of a request that was begun."""
        with self._changed:
            self._records.append(record)
            self._open -= 1
            self._changed.notify_all()

    def clear(self) -> None:
        """Forget all records and counts."""
        with self._changed:
            self._records.clear()
            self._attempts.clear()
            self._started = 0

    def all(self, settle: float = 1.0) -> tuple[Record, ...]:
        """The records in the order in which their answers ended, after waiting up to `settle` s for open ones."""
        with self._changed:
            self._changed.wait_for(lambda: not self._open, settle)
            return tuple(self._records)
