"""Each fault of the table gives the right report, or names the file, or an error with its words, within its time."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from inspector import inspect
from inspector.errors import SourceError
from inspector.model import Cost, Report
from inspector.net import transport
from tests.faults.cases import BEFORE, CASES, ERROR, PARTIAL, REPO, RIGHT, SHARD, Case, table
from tests.loopback import LoopbackHub, load

TENSORS = 291


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "backoff", lambda attempt: 0.02)
    monkeypatch.setenv("HF_HUB_DOWNLOAD_TIMEOUT", "1")


@pytest.fixture(scope="module")
def clean() -> Iterator[Report]:
    with LoopbackHub([load(REPO)]) as hub:
        yield inspect(REPO, endpoint=hub.endpoint)


def without(report: Report, *codes: str) -> Report:
    return replace(report, cost=Cost(), notes=tuple(n for n in report.notes if n.code not in codes))


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_fault(case: Case, clean: Report) -> None:
    with LoopbackHub([load(REPO)], faults=case.faults, **case.settings) as hub:
        begun = time.monotonic()
        if case.outcome == ERROR:
            with pytest.raises(SourceError) as caught:
                inspect(REPO, endpoint=hub.endpoint, timeout=case.timeout)
            assert case.says in str(caught.value)
            assert case.atleast <= time.monotonic() - begun < case.atmost
            return
        report = inspect(REPO, endpoint=hub.endpoint, timeout=case.timeout)
        assert case.atleast <= time.monotonic() - begun < case.atmost
    words = " ".join(n.message for n in report.notes)
    assert case.says in words
    if case.retried or case.outcome == RIGHT:
        assert ("sent again: " in words) == case.retried
    if case.outcome == BEFORE:
        # Files that were not asked for before the server said so are not asked for.
        assert report.incomplete
    elif case.outcome == PARTIAL:
        assert report.incomplete
        assert any(n.code == "unread_file" and n.where == SHARD for n in report.notes)
        sizes = {f: len(t) for f, t in shards().items()}
        assert report.tensors == TENSORS - sizes[SHARD]
    elif not case.settings.get("sizes", True):
        # The ranges that were read tell how large the weight files are.
        assert (report.tensors, report.parameters, report.file_bytes) == (TENSORS, 8_030_261_248, clean.file_bytes)
    else:
        assert without(report, "retried") == without(clean)


def shards() -> dict[str, list[str]]:
    import json

    found = {}
    for path, file in load(REPO).files.items():
        if path.endswith(".safetensors"):
            data = bytes(file.load())
            table = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
            found[path] = [n for n in table if n != "__metadata__"]
    return found


def test_the_document_is_made_from_these_cases() -> None:
    document = Path(__file__).resolve().parents[2] / "docs" / "faults.md"
    assert document.read_text("utf-8") == table(), "run python -m tests.faults"


def test_an_expired_url_is_asked_for_once_more_only() -> None:
    case = next(c for c in CASES if c.name == "storage refuses, and not for expiry")
    with LoopbackHub([load(REPO)], faults=case.faults) as hub:
        inspect(REPO, endpoint=hub.endpoint)
        asked = [r for r in hub.requests if r.request.file == SHARD]
    # The log is in the order in which answers ended.
    asked.sort(key=lambda r: r.request.number)
    assert [r.request.server for r in asked] == ["hub", "cdn", "hub", "cdn"]
