"""Whole processes, timed from outside: medians over runs that alternate, so that a slow moment hits all alike."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from statistics import median


def seconds(
    commands: Mapping[str, Sequence[str]], runs: int = 7, env: Mapping[str, str] | None = None
) -> dict[str, float]:
    """Median wall seconds of each command by name, after one run that does not count."""
    taken: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(runs + 1):
        for name, command in commands.items():
            started = time.perf_counter()
            subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, env=env)
            if turn:
                taken[name].append(time.perf_counter() - started)
    return {name: median(values) for name, values in taken.items()}


def usage(command: Sequence[str], env: Mapping[str, str] | None = None) -> tuple[float, int]:
    """(CPU seconds, peak resident bytes) of one run."""
    pid = os.posix_spawn(command[0], list(command), dict(env if env is not None else os.environ))
    _, status, used = os.wait4(pid, 0)
    if status:
        raise RuntimeError(f"{' '.join(command)} ended with {os.waitstatus_to_exitcode(status)}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024
