"""Redirects, broken bodies and the token, against the loopback Hub."""

from __future__ import annotations

import pytest

from inspector.errors import SourceError
from tests.loopback import Fault, LoopbackHub
from tests.transport.cases import HEAD, Clock, at, read, transport


def test_a_body_that_breaks_off_is_continued_at_the_next_byte(hub: LoopbackHub, clock: Clock) -> None:
    hub.faults = lambda r: Fault(truncate_after=1000) if r.server == "cdn" and r.attempt == 1 else None
    t = transport(hub, clock)
    assert read(t, at(hub), 0, 4000) == HEAD[:4000]
    assert [
        r.request.range for r in sorted(hub.requests, key=lambda r: r.request.number) if r.request.server == "cdn"
    ] == ["bytes=0-3999", "bytes=1000-3999"]
    assert t.meter.retries == 1
    assert clock.slept == [1.0]


@pytest.mark.parametrize("fault", [Fault(truncate_after=1000), Fault(reset_after=1000)])
def test_a_body_that_always_breaks_off_names_both_numbers(hub: LoopbackHub, clock: Clock, fault: Fault) -> None:
    hub.faults = lambda r: fault if r.server == "cdn" else None
    t = transport(hub, clock)
    with pytest.raises(SourceError, match=r"(after 1,000 (of 2,000 )?bytes)|broke off"):
        read(t, at(hub), 0, 4000)
    assert sum(r.request.server == "cdn" for r in hub.requests) == 3
    assert clock.slept == [1.0, 2.0]


def test_a_reset_before_the_status_is_tried_again(hub: LoopbackHub, clock: Clock) -> None:
    hub.faults = lambda r: Fault(reset_after=-1) if r.attempt < 3 and r.server == "hub" else None
    assert read(transport(hub, clock), at(hub)) == HEAD[:100]
    assert clock.slept == [1.0, 2.0]


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("file:///etc/passwd", "no http or https address"),
        ("ftp://example.org/x", "no http or https address"),
        ("http://[::1", "no http or https address"),
        ("https:///x", "no http or https address"),
        (None, "without saying where to"),
    ],
)
def test_redirects_that_are_not_followed(hub: LoopbackHub, location: str | None, words: str) -> None:
    hub.faults = lambda r: Fault(status=302, headers={"Location": location})
    with pytest.raises(SourceError, match=words):
        transport(hub).get(at(hub, "x.json"))
    assert len(hub.requests) == 1


def test_redirects_in_a_circle_end(hub: LoopbackHub) -> None:
    hub.faults = lambda r: Fault(status=302, headers={"Location": r.path})
    with pytest.raises(SourceError, match="redirected more than 5 times"):
        transport(hub).get(at(hub, "x.json"))
    assert len(hub.requests) == 6


def test_https_is_never_left_for_http() -> None:
    from inspector.net.transport import _next

    with pytest.raises(SourceError, match="not encrypted"):
        _next("https://hub.example/a", "http://hub.example/b")
    assert _next("https://hub.example/a/b", "/c?d=1") == "https://hub.example/c?d=1"
    assert _next("http://hub.example/a", "https://cdn.example/x") == "https://cdn.example/x"
    assert _next("http://hub.example/a", "HTTPS://cdn.example/x") == "HTTPS://cdn.example/x"
    assert _next("https://hub.example/a/b", "//cdn.example/x") == "https://cdn.example/x"
    with pytest.raises(SourceError, match="not encrypted"):
        _next("https://hub.example/a", "HTTP://cdn.example/x")
    # A character that becomes "a/c" where it is normalised.
    with pytest.raises(SourceError, match="no http or https address"):
        _next("https://hub.example/a", "https://\u2100.com/x")


def test_the_same_host_at_another_port_gets_no_token(hub: LoopbackHub) -> None:
    t = transport(hub, token="hf_secret")
    read(t, at(hub))
    assert {(r.request.server, r.authorization) for r in hub.requests} == {
        ("hub", "Bearer hf_secret"),
        ("cdn", None),
    }
