"""A table of 500 rows: how the time of `inspect check` grows with repos at 40 ms a request, and what a lock saves."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.claims.repos import tiny
from tests.loopback import LoopbackHub

ROWS, LATENCY = 500, 0.04
LIMIT_ONLINE, LIMIT_LOCKED = 10.0, 2.0


def run() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    with tempfile.TemporaryDirectory() as where:
        for repos in (15, 30, 60):
            table = Path(where, f"{repos}.csv")
            table.write_text(_table(repos))
            with LoopbackHub([tiny(f"org/m{i}", 500 + i) for i in range(repos)], latency=LATENCY) as hub:
                online, requests = _seconds(["check", str(table), "-q"], hub.endpoint), len(hub.requests)
                lock = Path(where, f"{repos}.zip")
                _seconds(["lock", str(table), "-o", str(lock), "-q"], hub.endpoint)
            locked = _seconds(["check", str(table), "--locked", str(lock), "-q"], "http://127.0.0.1:1")
            found[str(repos)] = {"online": online, "requests": requests, "locked": locked}
            print(f"{repos:3} repos: {online:5.2f} s online, {requests} requests; {locked:5.2f} s from a lock")
    print(f"limits for 60 repos: {LIMIT_ONLINE} s online, {LIMIT_LOCKED} s from a lock")
    return found


def _table(repos: int) -> str:
    kinds = ("files,1,,0", "tensors,1,,0", "tensor_bytes,{},B,0")
    rows = [f"org/m{i % repos}," + kinds[i % 3].format(2 * (500 + i % repos)) for i in range(ROWS)]
    return "\n".join(["repo,quantity,value,unit,tolerance", *rows]) + "\n"


def _seconds(words: list[str], endpoint: str) -> float:
    env = {**os.environ, "HF_ENDPOINT": endpoint, "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}
    started = time.perf_counter()
    done = subprocess.run([sys.executable, "-m", "inspector", *words], env=env, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr[-400:]}")
    return time.perf_counter() - started
