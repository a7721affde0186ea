from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from inspector.net.retrying import Patience


class Clock:
    """Time that passes only while somebody sleeps; `slept` holds the waits."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def patience(clock: Clock) -> Patience:
    return Patience(120.0, clock=clock, sleep=clock.sleep, jitter=lambda: 0.0)


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No proxy, no token, no cache of the person who runs the tests."""
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("HF_", "HUGGING")) or name == "TRANSFORMERS_OFFLINE":
            monkeypatch.delenv(name)
    monkeypatch.setenv("HF_HOME", str(tmp_path_factory.mktemp("hf-home")))
    yield
