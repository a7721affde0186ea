"""The request that leaves before the command line is read: made once, for the right repo, or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector.ahead import begin, importing
from tests.loopback import Fault, LoopbackHub, load

REPO = "meta-llama/Llama-3.1-8B"
ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub([load(REPO)]) as found:
        yield found


def started(hub: LoopbackHub, tmp_path: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    own = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "hf"), "INSPECT_CACHE": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "inspector", *words, "-q", "--format", "json"]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, cwd=ROOT, env={"PATH": os.environ["PATH"], **own, **env}
    )


def routes(hub: LoopbackHub) -> list[str]:
    return sorted(r.request.route for r in hub.requests)


def test_the_listing_is_asked_for_once(hub: LoopbackHub, tmp_path: Path) -> None:
    done = started(hub, tmp_path, REPO)
    (report,) = json.loads(done.stdout)["reports"]
    assert routes(hub).count("info") == 1
    assert report["cost"]["requests"] == len(hub.requests)
    assert report["tensors"] == 291


def test_of_several_repos_each_is_listed_once(hub: LoopbackHub, tmp_path: Path) -> None:
    done = started(hub, tmp_path, REPO, REPO, f"{REPO}@main")
    reports = json.loads(done.stdout)["reports"]
    assert routes(hub).count("info") == 3
    assert sum(r["cost"]["requests"] for r in reports) == len(hub.requests)


@pytest.mark.parametrize(
    ("words", "env"),
    [
        ((REPO, "--offline"), {}),
        ((REPO,), {"HF_HUB_OFFLINE": "1"}),
        ((REPO, "--help"), {}),
        ((REPO, "--version"), {}),
        ((REPO, "-qh"), {}),
        ((REPO, "--bogus"), {}),
        ((REPO, "--context", "0"), {}),
        ((REPO, "--cluster", "nonsense"), {}),
        ((REPO, "-o", "/nonexistent/x"), {}),
        ((REPO, "--endpoint", "http://127.0.0.1:1", "--timeout", "0.5"), {}),
        (("./nowhere",), {}),
        (("check", "a/b.csv"), {}),
        (("--match", REPO), {}),
    ],
)
def test_nothing_is_asked(hub: LoopbackHub, tmp_path: Path, words: tuple[str, ...], env: dict[str, str]) -> None:
    started(hub, tmp_path, *words, **env)
    assert routes(hub) == []


def test_a_commit_that_is_kept_is_not_asked_for(hub: LoopbackHub, tmp_path: Path) -> None:
    pinned = f"{REPO}@{load(REPO).head}"
    first = started(hub, tmp_path, pinned)
    hub.forget()
    again = started(hub, tmp_path, pinned)
    assert routes(hub) == []
    assert [json.loads(x.stdout)["reports"][0]["tensor_bytes"] for x in (first, again)] == [16_060_522_496] * 2


def test_ctrl_c_at_any_moment_of_the_start(hub: LoopbackHub, tmp_path: Path) -> None:
    own = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path), "INSPECT_CACHE": str(tmp_path / "cache")}
    hub.faults = lambda request: Fault(delay=30)
    for number in range(12):
        command = [sys.executable, "-m", "inspector", *([REPO] if number % 2 else ["--no-cache", REPO]), "-q"]
        run = subprocess.Popen(
            command, stderr=subprocess.PIPE, cwd=ROOT, env={"PATH": os.environ["PATH"], **own}, text=True
        )
        time.sleep(0.15 + 0.04 * number)
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=20)
        # Before the first line of this program the interpreter itself is interrupted.
        early = run.returncode in (-signal.SIGINT, 1) and "inspector" not in said.partition("KeyboardInterrupt")[0]
        assert early or (run.returncode, said.strip()) == (130, "inspect: interrupted"), said


def test_what_goes_wrong_is_said_once_and_by_the_run(hub: LoopbackHub, tmp_path: Path) -> None:
    done = started(hub, tmp_path, "no/such")
    assert done.returncode == 3
    assert len(done.stderr.splitlines()) == 1 and "no/such" in done.stderr
    assert len(hub.requests) == 1
    wrong = started(hub, tmp_path, REPO, HF_ENDPOINT="ftp://x")
    assert wrong.returncode == 2
    assert "HF_ENDPOINT" in wrong.stderr and len(wrong.stderr.splitlines()) == 1


def test_it_is_sent_before_anything_else_is_imported(hub: LoopbackHub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    ahead = begin([REPO], os.environ)
    assert ahead is not None
    importing(ahead)
    assert ahead.loop.run(ahead.source.listing()).ref.repo == REPO
    assert routes(hub) == ["info"]
    ahead.loop.close()
    ahead.source.close()
