"""Only the exact 206 passes, and nothing else is read."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import SourceError
from inspector.net import ranges
from inspector.net.transport import Transport
from tests.loopback import Fault, LoopbackHub
from tests.transport.cases import HEAD, SIZE, Clock, at, read, transport
from tests.waiting import Waited


def test_a_200_is_refused_before_its_body_is_read(hub: LoopbackHub) -> None:
    hub.faults = lambda r: Fault(ignore_range=True) if r.server == "cdn" else None
    t = transport(hub)
    before = time.monotonic()
    with pytest.raises(SourceError, match=r"asked for bytes 0-99, and the server sends all 3,000,000,000 bytes"):
        read(t, at(hub))
    assert time.monotonic() - before < 5
    assert t.meter.requests == 2
    # Only the 302's short body was taken.
    assert t.meter.bytes < 200


REFUSED: dict[str, tuple[Fault, str]] = {
    "shifted": (Fault(headers={"Content-Range": f"bytes 1-100/{SIZE}"}), "holds bytes 1-100"),
    "short": (Fault(headers={"Content-Range": f"bytes 0-98/{SIZE}"}), "holds bytes 0-98"),
    "other-total": (Fault(headers={"Content-Range": "bytes 0-99/3000000001"}), "and the server says 3,000,000,001"),
    "no-range": (Fault(headers={"Content-Range": None}), "names no range"),
    "multipart": (
        Fault(headers={"Content-Range": None, "Content-Type": "multipart/byteranges; boundary=x"}),
        "names no range",
    ),
    "length": (Fault(headers={"Content-Length": "101"}), "announces '101' bytes for a range of 100"),
    "gzip": (Fault(gzip=True), "is encoded ('gzip')"),
    "416": (
        Fault(status=416, headers={"Content-Range": "bytes */50"}),
        "the file has 50 bytes; the listing says 3,000,000,000",
    ),
    "204": (Fault(status=204), "got status 204 in place of 206"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_every_answer_but_the_exact_206_is_refused(hub: LoopbackHub, case: str) -> None:
    fault, words = REFUSED[case]
    hub.faults = lambda r: fault if r.server == "cdn" else None
    t = transport(hub)
    with pytest.raises(SourceError) as caught:
        read(t, at(hub))
    assert words in str(caught.value)
    assert "Signature" not in str(caught.value)
    hub.faults = None
    assert read(t, at(hub)) == HEAD[:100]


def test_a_range_past_the_end_of_a_file_of_unknown_size_is_clipped(hub: LoopbackHub) -> None:
    assert read(transport(hub), at(hub, "x.json"), 3, 1000, size=None) == b'": 1}'
    assert read(transport(hub), at(hub, "x.json"), 8, 1000, size=None) == b""


@given(start=st.integers(0, 50), length=st.integers(1, 50), size=st.integers(1, 60), shift=st.integers(-2, 2))
def test_only_the_exact_range_passes(start: int, length: int, size: int, shift: int) -> None:
    stop = start + length
    end = min(stop, size) + shift
    headers = {"content-range": f"bytes {start}-{end - 1}/{size}"}
    right = start < size and shift == 0
    if right:
        assert ranges.accept(206, headers, start, stop, size, "x") == end - start
    elif end - 1 >= 0:
        with pytest.raises(SourceError):
            ranges.accept(206, headers, start, stop, size, "x")


def test_a_body_that_is_too_long_is_not_read(hub: LoopbackHub) -> None:
    hub.faults = lambda r: Fault(ignore_range=True) if r.server == "cdn" else None
    t = transport(hub)
    with pytest.raises(SourceError, match=r"has 3,000,000,000 bytes; at most 100,000,000 are read whole"):
        t.get(at(hub))
    assert t.meter.bytes < 200


def test_a_gzip_bomb_ends_at_the_limit(hub: LoopbackHub) -> None:
    import zlib

    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    bomb = b"".join(packer.compress(bytes(1 << 20)) for _ in range(200)) + packer.flush()
    hub.faults = lambda r: Fault(body=bomb, headers={"Content-Encoding": "gzip"}) if r.route == "small" else None
    with pytest.raises(SourceError, match="more than the 100,000,000 bytes"):
        transport(hub).get(at(hub, "x.json"))


@pytest.mark.parametrize("body", [b"not gzip at all", b""])
def test_a_gzip_that_is_none(hub: LoopbackHub, body: bytes, clock: Clock) -> None:
    hub.faults = lambda r: Fault(body=body, headers={"Content-Encoding": "gzip"}) if r.route == "small" else None
    with pytest.raises(SourceError, match="gzip"):
        transport(hub, clock).get(at(hub, "x.json"))


def test_unpacking_that_takes_too_long_ends_with_the_time_allowed(
    hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch
) -> None:
    import random
    import zlib

    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    body = packer.compress(random.Random(1).randbytes(200_000)) + packer.flush()
    hub.faults = lambda r: Fault(body=body, headers={"Content-Encoding": "gzip"}) if r.route == "small" else None
    ended = threading.Event()

    class Slow:
        eof = True

        def decompress(self, data: bytes, most: int) -> bytes:
            ended.wait(20)
            return b""

    monkeypatch.setattr(zlib, "decompressobj", lambda bits: Slow())
    try:
        # The clock of this transport stands still; one that runs gives the words for every end of the time.
        with pytest.raises(SourceError, match="was not unpacked within the time allowed"):
            transport(hub, seconds=1).get(at(hub, "x.json"))
        with pytest.raises(SourceError, match="no answer within the 1 s allowed in all"):
            Waited(Transport(hub.endpoint, timeout=1, env={})).get(at(hub, "x.json"))
    finally:
        ended.set()


def test_a_gzip_that_is_none_is_refused_at_its_first_bytes(hub: LoopbackHub) -> None:
    body, packed = b"<html>" * 500_000, {"Content-Encoding": "gzip"}
    hub.faults = lambda r: Fault(body=body, headers=packed, rate=200_000) if r.route == "small" else None
    t = transport(hub)
    with pytest.raises(SourceError, match="not the gzip that it claims to be"):
        t.get(at(hub, "x.json"))
    assert t.meter.bytes < len(body) / 2


def test_an_encoding_that_was_not_asked_for(hub: LoopbackHub) -> None:
    hub.faults = lambda r: Fault(headers={"Content-Encoding": "br"}) if r.route == "small" else None
    with pytest.raises(SourceError, match="encoded as 'br'"):
        transport(hub).get(at(hub, "x.json"))
