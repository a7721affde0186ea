"""The request that leaves before the command line is read: made once, for the right repo, or not at all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import inspect
from inspector.ahead import Ahead, begin, request
from inspector.cli import command, joined
from inspector.keep import keeping
from inspector.model.fit_model import Workload
from inspector.request import Request
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


def early(hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> Ahead:
    for name, value in {"HF_ENDPOINT": hub.endpoint, "INSPECT_CACHE": str(tmp_path), "HF_HOME": str(tmp_path)}.items():
        monkeypatch.setenv(name, value)
    asked = request([REPO, *words])
    assert asked is not None
    ahead = begin(asked, os.environ)
    assert ahead is not None
    ahead.go_on()
    return ahead


FLAGS = ["-q", "--quiet", "--plain", "--tensors", "--metadata", "--no-cache", "--format", "json", "text", "--offline"]
OTHERS = ["--format=json", "-v", "--match", "--", "-", "", "-h", "--version", "-qv", "check", "2x", "--cluster"]
WORDS = st.sampled_from([REPO, "./a", "a/b@c", *FLAGS, *OTHERS])


@given(st.lists(WORDS, max_size=6))
def test_the_few_words_mean_what_they_mean_to_the_command_line(words: list[str]) -> None:
    ours = request(words)
    if ours is not None:
        context = command.make_context("inspect", joined(words))
        assert context.command is command
        assert ours == Request(**context.params)


def test_they_are_those_that_people_type() -> None:
    assert request([REPO]) == Request((REPO,))
    assert request(["./a", "--format", "json", "-q"]) == Request(("./a",), form="json", quiet=True)
    assert request(["a/b", "--format", "text", "--tensors", "--format", "csv"]) == Request(
        ("a/b",), form="csv", tensors=True
    )
    for other in ([], ["check"], ["a"], ["-q", REPO], [REPO, "a/b"], [REPO, "--format"], [REPO, "--format", "--plain"]):
        assert request(other) is None


def test_a_plain_run_imports_no_more_than_it_needs(hub: LoopbackHub, tmp_path: Path) -> None:
    code = (
        "import sys; from inspector.process import _status; status = _status(); "
        "print(*sys.modules, file=sys.stderr); sys.exit(status)"
    )
    own = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "hf"), "INSPECT_CACHE": str(tmp_path / "cache")}
    commit = load(REPO).head
    for words in ([REPO, "--format", "json"], [f"{REPO}@{commit}"], [f"{REPO}@{commit}", "--tensors"]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words],
            capture_output=True,
            text=True,
            check=True,
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], **own},
        )
        loaded = set(done.stderr.split())
        assert "inspector.answer" in loaded
        heavy = {
            "click",
            "huggingface_hub",
            "tqdm",
            "jinja2",
            "ssl",
            "email",
            "asyncio",
            "numpy",
            "gguf",
            "dataclasses",
        }
        assert heavy.isdisjoint(loaded)


def test_what_was_read_ahead_is_kept_for_every_spelling(hub: LoopbackHub, tmp_path: Path) -> None:
    pinned = f"{REPO}@{load(REPO).head}"
    spellings = [(REPO,), (pinned,), (REPO, "--jobs", "64"), (REPO, "--context", "8192")]
    for first in spellings:
        cache = tmp_path / str(spellings.index(first))
        started(hub, cache, *first)
        entries = len(list((cache / "cache").glob("*.entry")))
        for second in spellings:
            (report,) = json.loads(started(hub, cache, *second).stdout)["reports"]
            assert report["cost"]["weight_bytes_read"] == 0
        assert len(list((cache / "cache").glob("*.entry"))) - entries in (0, 1), "a branch's commit at the most"


def test_a_fault_while_reading_ahead_is_the_run_s(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(_: Ahead) -> None:
        raise RuntimeError

    monkeypatch.setattr(Ahead, "_begin", fault)
    ahead = early(hub, tmp_path, monkeypatch)
    assert inspect(REPO, cached=True, ahead=ahead).tensors == 291
    assert routes(hub).count("info") == 1


def test_a_link_that_leads_nowhere_beside_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "keep").mkdir()
    (tmp_path / "keep" / "keeping.py").write_text("x")
    monkeypatch.setattr(keeping, "__file__", str(tmp_path / "keep" / "keeping.py"))
    before = keeping.this_program()
    (tmp_path / "keep" / ".#keeping.py").symlink_to("nobody@nowhere:1")
    assert keeping.this_program() == before


def test_nothing_is_asked_where_nothing_can_be_written(hub: LoopbackHub, tmp_path: Path) -> None:
    own = {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path / "hf"), "INSPECT_CACHE": str(tmp_path / "cache")}
    command = f'exec "{sys.executable}" -m inspector {REPO} >&-'
    done = subprocess.run(
        ["/bin/sh", "-c", command],
        stderr=subprocess.PIPE,
        check=False,
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], **own},
    )
    assert (done.returncode, routes(hub)) == (2, [])
    assert b"standard output" in done.stderr


def test_with_options_of_another_report_only_the_listing_is_asked_for(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead = early(hub, tmp_path, monkeypatch, "--tensors")
    assert ahead.loop.run(ahead.source.listing()).ref.repo == REPO
    assert routes(hub) == ["info"]
    ahead.loop.close()
    ahead.source.close()


@pytest.mark.parametrize("other", [{}, {"tensors": True}, {"cached": False}, {"workload": Workload(context=1)}])
def test_the_reading_that_has_begun_is_that_of_the_run_or_ends(
    hub: LoopbackHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, other: dict[str, Any]
) -> None:
    asked: dict[str, Any] = {"cached": True, "workload": Workload(), **other}
    plain = inspect(REPO, endpoint=hub.endpoint, **{**asked, "cached": False})
    hub.forget()
    ahead = early(hub, tmp_path, monkeypatch, "--format", "json", "-q")
    got = inspect(REPO, **asked, ahead=ahead)
    assert replace(got, cost=plain.cost) == plain
    assert routes(hub).count("info") == 1
    if not other:
        assert got.cost.requests == len(hub.requests) == plain.cost.requests


@pytest.mark.parametrize("words", [(), ("--plain",), ("--tensors",), ("--metadata",), ("--no-cache",)])
def test_what_is_asked_ahead_is_asked_once(hub: LoopbackHub, tmp_path: Path, words: tuple[str, ...]) -> None:
    # An option that is not known to be harmless: nothing is sent before it is read.
    started(hub, tmp_path / "other", REPO, "--jobs", "64", "--no-cache")
    want = routes(hub)
    hub.forget()
    done = started(hub, tmp_path, REPO, *words)
    assert routes(hub) == want
    assert json.loads(done.stdout)["reports"][0]["cost"]["requests"] == len(want)
    hub.forget()
    again = started(hub, tmp_path, REPO, *words)
    assert routes(hub) == (want if "--no-cache" in words else ["info"])
    reports = [json.loads(run.stdout)["reports"][0] | {"cost": None} for run in (done, again)]
    assert reports[0] == reports[1]
