"""Faults that need more than one spoilt answer: no server, other hosts, moving repos, many files, interrupts."""

from __future__ import annotations

import gc
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from inspector import inspect
from inspector.errors import SourceError
from inspector.net import transport
from tests.faults.cases import REPO
from tests.loopback import Fault, LoopbackHub, Repo, RequestInfo, Virtual, load

FLASH = "deepseek-ai/DeepSeek-V4.1-Flash"
HEAD = b'{"w":{"dtype":"BF16","shape":[500],"data_offsets":[0,1000]}}'
SMALL = Virtual(len(HEAD).to_bytes(8, "little") + HEAD, 8 + len(HEAD) + 1000)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "backoff", lambda attempt: 0.02)


def closed_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port: int = s.getsockname()[1]
        return port


def test_connection_refused() -> None:
    with pytest.raises(SourceError, match=r"the connection was refused\. Check HF_ENDPOINT"):
        inspect("org/name", endpoint=f"http://127.0.0.1:{closed_port()}")


def test_a_name_that_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []

    def none(*args: object, **kwargs: object) -> None:
        asked.append(args[0])
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", none)
    with pytest.raises(SourceError, match=r"the name hub\.invalid is not known"):
        inspect("org/name", endpoint="http://hub.invalid")
    assert asked == ["hub.invalid"]


def test_a_header_that_drips_ends_with_the_time_allowed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drip() -> None:
            client, _ = server.accept()
            with client:
                try:
                    client.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                    while True:
                        client.sendall(b"x")
                        time.sleep(0.05)
                except OSError:
                    pass

        threading.Thread(target=drip, daemon=True).start()
        begun = time.monotonic()
        with pytest.raises(SourceError, match=r"no answer within the 1\.5 s allowed"):
            inspect("org/name", endpoint=f"http://127.0.0.1:{server.getsockname()[1]}", timeout=1.5)
        assert time.monotonic() - begun < 4


def test_the_token_stays_with_the_hub() -> None:
    with LoopbackHub([load(REPO)]) as hub:
        lines: list[str] = []
        inspect(REPO, endpoint=hub.endpoint, token="hf_verysecret", trace=lines.append)
        assert hub.totals()["cdn_authorized"] == 0
        assert all(r.authorization == "Bearer hf_verysecret" for r in hub.requests if r.request.server == "hub")
    assert len(lines) > 5
    assert not any("verysecret" in line or "Signature" in line for line in lines)


def test_a_repo_that_changes_while_it_is_read() -> None:
    repo = load(REPO)
    with LoopbackHub([repo]) as hub:
        want = inspect(REPO, endpoint=hub.endpoint)

        def change(request: RequestInfo) -> Fault | None:
            if request.route != "info":
                hub.put(repo.with_commit({"model.safetensors": SMALL}))
            return None

        hub.faults = change
        got = inspect(REPO, endpoint=hub.endpoint)
    assert (got.revision, got.tensor_bytes, got.incomplete) == (want.revision, want.tensor_bytes, False)


def test_a_hundred_thousand_files() -> None:
    files: dict[str, bytes | Virtual] = {f"data/{n:06d}.txt": b"x" for n in range(100_000)}
    with LoopbackHub([Repo.build("org/many", {**files, "model.safetensors": SMALL})]) as hub:
        begun = time.monotonic()
        report = inspect("org/many", endpoint=hub.endpoint)
        assert time.monotonic() - begun < 60
    assert (report.tensor_bytes, report.other_bytes) == (1000, 100_000)


def test_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackHub([load(REPO)]) as hub:
        monkeypatch.setenv("http_proxy", f"http://user:secret@127.0.0.1:{closed_port()}")
        with pytest.raises(SourceError, match="the proxy does not answer") as caught:
            inspect(REPO, endpoint=hub.endpoint)
        assert "secret" not in str(caught.value)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert inspect(REPO, endpoint=hub.endpoint).tensors == 291


def test_one_bad_shard_of_48() -> None:
    bad = "model-00020-of-00048.safetensors"
    repo = load(FLASH)
    raw = bytes(repo.files[bad].load())
    inside = raw.count(b'"data_offsets"')
    with LoopbackHub([repo], faults=lambda r: Fault(status=500) if r.file == bad else None) as hub:
        report = inspect(FLASH, endpoint=hub.endpoint)
    assert report.incomplete
    assert [n.where for n in report.notes if n.code == "unread_file"] == [bad]
    assert (report.files, report.tensors) == (48, 96_085 - inside)


def test_429_in_the_middle() -> None:
    limit = Fault(status=429, headers={"RateLimit": '"resolvers";r=0;t=2'})

    def faults(request: RequestInfo) -> Fault | None:
        return limit if request.number == 50 else None

    with LoopbackHub([load(FLASH)], faults=faults) as hub:
        report = inspect(FLASH, endpoint=hub.endpoint)
    assert not report.incomplete
    assert report.tensors == 96_085
    assert "1 request was sent again: status 429 (1)" in [n.message for n in report.notes]


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
@pytest.mark.parametrize("route", ["info", "cdn"])
def test_interrupt_ends_at_once(route: str) -> None:
    waiting = threading.Event()

    def faults(request: RequestInfo) -> Fault | None:
        if request.route != route:
            return None
        waiting.set()
        return Fault(delay=60)

    with LoopbackHub([load(REPO)], faults=faults) as hub:
        command = [sys.executable, "-m", "inspector", REPO, "--endpoint", hub.endpoint, "-q"]
        run = subprocess.Popen(command, stderr=subprocess.PIPE, cwd=Path(__file__).parents[2])
        assert waiting.wait(30)
        time.sleep(0.3)
        begun = time.monotonic()
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=30)
        assert time.monotonic() - begun < 3
    assert run.returncode == 130
    assert said.decode().strip() == "inspect: interrupted"


def test_memory_stays_flat_over_many_inspections() -> None:
    def resident() -> int:
        gc.collect()
        with Path("/proc/self/statm").open() as file:
            return int(file.read().split()[1]) * 4096

    if not Path("/proc/self/statm").exists():
        pytest.skip("no /proc to read memory from")
    with LoopbackHub([Repo.build("org/small", {"model.safetensors": SMALL})]) as hub:

        def some(count: int) -> None:
            for _ in range(count):
                assert inspect("org/small", endpoint=hub.endpoint).tensors == 1
                hub.forget()

        some(60)
        threads, before = threading.active_count(), resident()
        some(240)
        # A leak of one small report (20 kB) each would be 5 MB.
        assert resident() - before < 4_000_000
        assert threading.active_count() <= threads + 4
