"""When a GET is sent again, and when it is given up."""

from __future__ import annotations

import time
from collections.abc import Mapping
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import SourceError, UsageError
from inspector.net.exchange import HttpStatus
from inspector.net.retrying import Patience, asked_delay
from inspector.net.transport import Transport
from inspector.tasks import Tasks, run, sleep, start
from tests.loopback import Fault, LoopbackHub
from tests.transport.cases import HEAD, Clock, at, read, transport
from tests.waiting import Waited


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_failing_server_is_asked_three_times(hub: LoopbackHub, clock: Clock, status: int) -> None:
    hub.faults = lambda r: Fault(status=status, body=b"sorry") if r.attempt < 3 else None
    assert transport(hub, clock).get(at(hub, "x.json")).body == b'{"a": 1}'
    hub.faults = lambda r: Fault(status=status, body=b"sorry")
    with pytest.raises(HttpStatus, match=f"status {status}: sorry"):
        transport(hub, Clock()).get(at(hub, "x.json"))


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 451])
def test_a_refusal_is_not_asked_again(hub: LoopbackHub, clock: Clock, status: int) -> None:
    hub.faults = lambda r: Fault(status=status)
    with pytest.raises(HttpStatus):
        transport(hub, clock).get(at(hub, "x.json"))
    assert len(hub.requests) == 1
    assert not clock.slept


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"RateLimit": '"resolvers";r=0;t=17', "Retry-After": "3"}, 17.0),
        ({"RateLimit": '"resolvers";r=5;t=17', "Retry-After": "3"}, 3.0),
        ({"RateLimit": None, "Retry-After": None}, 1.0),
    ],
)
def test_a_rate_limit_is_waited_for(
    hub: LoopbackHub, clock: Clock, headers: Mapping[str, str | None], wait: float
) -> None:
    hub.faults = lambda r: Fault(status=429, headers=headers) if r.attempt == 1 and r.route == "resolve" else None
    assert read(transport(hub, clock), at(hub)) == HEAD[:100]
    assert clock.slept == [wait]


def test_a_wait_past_the_deadline_fails_at_once(hub: LoopbackHub, clock: Clock) -> None:
    hub.faults = lambda r: Fault(status=429, headers={"RateLimit": '"api";r=0;t=299'})
    with pytest.raises(SourceError, match=r"a wait of 299 s is needed, and 120 s are left of the 120 s allowed"):
        transport(hub, clock).get(at(hub, "x.json"))
    assert not clock.slept


def test_the_deadline_ends_a_drip(hub: LoopbackHub) -> None:
    hub.faults = lambda r: Fault(rate=400.0) if r.server == "cdn" else None
    t = Waited(Transport(hub.endpoint, timeout=0.5, env={}))
    before = time.monotonic()
    with pytest.raises(SourceError, match=r"no answer within the 0\.5 s allowed in all"):
        read(t, at(hub), 0, 4000)
    assert time.monotonic() - before < 3


def test_a_stalled_body_ends_with_the_read_timeout(hub: LoopbackHub, clock: Clock) -> None:
    hub.faults = lambda r: Fault(stall_after=10) if r.server == "cdn" else None
    patience = Patience(120.0, clock=clock, sleep=clock.sleep, jitter=lambda: 0.0)
    t = Waited(Transport(hub.endpoint, patience=patience, env={"HF_HUB_DOWNLOAD_TIMEOUT": "0.2"}))
    with pytest.raises(SourceError, match=r"nothing came within the time allowed for one read after 10 bytes"):
        read(t, at(hub), 0, 4000)


DATE = 1_800_000_000.0


@pytest.mark.parametrize(
    ("status", "headers", "delay"),
    [
        (429, {"ratelimit": '"api";r=0;t=17'}, 17.0),
        (503, {"ratelimit": '"api";r=0;t=17'}, None),
        (503, {"retry-after": "120"}, 120.0),
        # The server's own clock counts, not the one here.
        (503, {"retry-after": formatdate(DATE + 30), "date": formatdate(DATE)}, 30.0),
        (503, {"retry-after": formatdate(5000 + 7)}, 7.0),
        (503, {"retry-after": formatdate(DATE - 30), "date": formatdate(DATE)}, 0.0),
        (503, {"retry-after": "soon"}, None),
        (503, {"retry-after": "-5"}, None),
        (429, {}, None),
    ],
)
def test_what_a_server_asks_to_wait(status: int, headers: Mapping[str, str], delay: float | None) -> None:
    assert asked_delay(status, headers, now=5000.0) == delay


@given(st.text(max_size=60), st.text(max_size=60))
def test_no_header_breaks_the_delay(limit: str, after: str) -> None:
    delay = asked_delay(429, {"ratelimit": limit, "retry-after": after, "date": after}, 0.0)
    assert delay is None or delay >= 0


@pytest.mark.parametrize("seconds", [0.0, -1.0, float("nan")])
def test_a_timeout_is_above_zero(seconds: float) -> None:
    with pytest.raises(UsageError, match="--timeout"):
        Transport("https://hub.example", timeout=seconds, env={})


def test_waiting_ends_when_what_waits_is_cancelled(hub: LoopbackHub) -> None:
    hub.faults = lambda r: Fault(status=503, headers={"Retry-After": "60"})
    t = Transport(hub.endpoint, env={})

    async def impatient() -> None:
        asking = Tasks([("x", t.get(at(hub, "x.json")))], 1)
        beside = await start(asking.some())
        await sleep(0.3)
        beside.cancel()
        asking.cancel()
        raise SourceError("x", "ended")

    before = time.monotonic()
    with pytest.raises(SourceError):
        run(impatient())
    assert len(hub.requests) == 1
    assert time.monotonic() - before < 10
