"""Faults on the loopback Hub spoil exactly what they say."""

from __future__ import annotations

import gzip
import http.client
import socket
import time

import pytest

from tests.loopback import Fault, LoopbackHub, RequestInfo
from tests.loopback.trial import REPO, SHARD, ask


def one(fault: Fault) -> LoopbackHub:
    """A mirror that spoils the first answer for the shard with `fault`."""

    def faults(request: RequestInfo) -> Fault | None:
        return fault if request.file == "model.safetensors" and request.attempt == 1 else None

    return LoopbackHub([REPO], mirror=True, faults=faults)


SHARD_URL = "/org/tiny/resolve/main/model.safetensors"


def test_faults_change_status_headers_and_ranges() -> None:
    with one(Fault(status=503, headers={"Retry-After": "1", "Server": None}, body=b"busy")) as hub:
        status, headers, body = ask(hub.endpoint + SHARD_URL)
        assert (status, headers["retry-after"], body) == (503, "1", b"busy")
        assert ask(hub.endpoint + SHARD_URL)[0] == 200
    with one(Fault(ignore_range=True)) as hub:
        status, _, body = ask(hub.endpoint + SHARD_URL, Range="bytes=0-7")
        assert (status, len(body)) == (200, 1072)
    with one(Fault(headers={"Content-Range": "bytes 8-15/9"})) as hub:
        assert ask(hub.endpoint + SHARD_URL, Range="bytes=0-7")[1]["content-range"] == "bytes 8-15/9"
    with one(Fault(gzip=True)) as hub:
        status, headers, body = ask(hub.endpoint + SHARD_URL, Range="bytes=0-7")
        assert (status, headers["content-encoding"]) == (206, "gzip")
        assert gzip.decompress(body) == SHARD.header[:8]


def test_faults_break_the_connection() -> None:
    with one(Fault(truncate_after=5)) as hub:
        with pytest.raises(http.client.IncompleteRead) as caught:
            ask(hub.endpoint + SHARD_URL)
        assert caught.value.partial == SHARD.header[:5]
        assert hub.requests[0].sent == 5
    with one(Fault(reset_after=-1)) as hub, pytest.raises(ConnectionResetError):
        ask(hub.endpoint + SHARD_URL)
    with one(Fault(reset_after=5)) as hub, pytest.raises(ConnectionResetError):
        ask(hub.endpoint + SHARD_URL)
    with one(Fault(raw=b"NONSENSE\r\n")) as hub, pytest.raises(http.client.BadStatusLine):
        ask(hub.endpoint + SHARD_URL)


def test_faults_slow_the_answer() -> None:
    with one(Fault(delay=0.2)) as hub:
        begun = time.monotonic()
        ask(hub.endpoint + SHARD_URL)
        assert time.monotonic() - begun >= 0.2
    with one(Fault(rate=4000)) as hub:
        begun = time.monotonic()
        ask(hub.endpoint + SHARD_URL, Range="bytes=0-799")
        assert 0.15 <= time.monotonic() - begun < 2
    with one(Fault(stall_after=5)) as hub:
        with socket.create_connection(("127.0.0.1", hub.port)) as raw:
            raw.settimeout(0.3)
            raw.sendall(f"GET {SHARD_URL} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            got = b""
            with pytest.raises(TimeoutError):
                while True:
                    got += raw.recv(4096)
        assert got.endswith(b"\r\n\r\n" + SHARD.header[:5])
        begun = time.monotonic()
    assert time.monotonic() - begun < 2, "closing must not wait for a stalled answer"
