"""A loopback Hub, a clock and a transport, for the tests of HTTP."""

from __future__ import annotations

from inspector.net.retrying import Patience
from inspector.net.transport import Transport
from tests.loopback import LoopbackHub, Repo, Virtual
from tests.waiting import Waited

HEAD = bytes(range(256)) * 16


SIZE = 3_000_000_000


REPO = Repo.build("org/name", {"w.bin": Virtual(HEAD, SIZE), "x.json": b'{"a": 1}'})


class Clock:
    """Time that passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.now, self.slept = 0.0, list[float]()

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def transport(hub: LoopbackHub, clock: Clock | None = None, seconds: float = 120.0, **options: object) -> Waited:
    clock = clock or Clock()
    patience = Patience(seconds, clock=clock, sleep=clock.sleep, jitter=lambda: 0.0)
    return Waited(Transport(hub.endpoint, patience=patience, env={}, **options))  # type: ignore[arg-type]


def read(t: Waited, url: str, start: int = 0, length: int = 100, size: int | None = SIZE) -> bytes:
    parts: list[bytes] = []

    def keep(chunk: bytes) -> bool:
        parts.append(chunk)
        return False

    reading = t.stream(url, start, length, keep, size=size)
    assert reading.received == sum(map(len, parts))
    return b"".join(parts)


def at(hub: LoopbackHub, file: str = "w.bin") -> str:
    return f"{hub.endpoint}/org/name/resolve/{REPO.head}/{file}"
