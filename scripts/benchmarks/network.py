"""Reading headers over a network: this tool, the floor and the peers, side by side on one loopback Hub.

Whole processes, alternating, so that a slow moment hits all alike. A first run of each does not count.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from scripts.benchmarks import peers
from scripts.benchmarks.hub import ONE_FILE, Hub, serving

REPOS = {
    "1 file": ONE_FILE,
    "4 shards": "meta-llama/Llama-3.1-8B",
    "48 shards": "deepseek-ai/DeepSeek-V4.1-Flash",
    "163 shards": "deepseek-ai/DeepSeek-V3",
}
LINKS: tuple[tuple[str, float, float | None], ...] = (("40 ms", 0.04, None), ("40 ms, 100 Mbit/s", 0.04, 12.5e6))
TOOLS = Path(os.environ.get("INSPECT_PEERS", tempfile.gettempdir()), "inspect-peers")
RUNS = int(os.environ.get("INSPECT_BENCH_RUNS", "5"))
OURS = "inspect"


@dataclass(frozen=True, slots=True)
class Run:
    """One process: wall and CPU seconds, peak resident bytes, and what the Hub saw."""

    seconds: float
    cpu: float
    memory: int
    seen: Mapping[str, int]
    output: bytes


def run() -> dict[str, object]:
    commands = {OURS: [_command()], **peers.commands(TOOLS)}
    found: dict[str, object] = {"versions": peers.versions(TOOLS), "machine": _machine()}
    rows: list[str] = []
    for link, latency, bandwidth in LINKS:
        chosen = REPOS if bandwidth is None else {"48 shards": REPOS["48 shards"]}
        with serving(list(chosen.values()), latency=latency, bandwidth=bandwidth) as hub:
            for shape, repo in chosen.items():
                figures = _compare(hub, repo, commands)
                found[f"{shape}, {link}"] = figures
                rows += _rows(f"{shape}, {link}", figures)
                print("\n".join(_rows(f"{shape}, {link}", figures)), flush=True)
    found["table"] = _table(rows, found)
    found["load"] = os.getloadavg()
    return found


def _compare(hub: Hub, repo: str, commands: Mapping[str, Sequence[str]]) -> dict[str, object]:
    facts = hub.facts(repo)
    taken: dict[str, list[Run]] = {}
    with tempfile.TemporaryDirectory() as home:
        for turn in range(RUNS + 1):
            others: dict[str, Sequence[str]] = {f"{OURS}, warm": (), f"{OURS}, --help": (), "interpreter": ()}
            for name, command in {**commands, **others}.items():
                run = _one(hub, name, command, repo, facts["commit"], Path(home))
                if turn:
                    taken.setdefault(name, []).append(run)
    figures = {name: _figures(runs) for name, runs in taken.items()}
    ours = json.loads(taken[OURS][-1].output)["reports"][0]["cost"]
    figures[OURS]["header_ratio"] = (facts["header_bytes"] + ours["weight_bytes_read"]) / facts["header_bytes"]
    figures[OURS]["bytes_fetched"] = ours["bytes_fetched"]
    base = figures[OURS]["seconds"]
    ratios = {name: f["seconds"] / base for name, f in figures.items() if name not in (OURS, "interpreter")}
    figures[OURS]["over_floor"] = base / figures["floor"]["seconds"]
    return {**facts, "figures": figures, "others_over_ours": ratios}


def _one(hub: Hub, name: str, command: Sequence[str], repo: str, commit: str, home: Path) -> Run:
    arguments = [*command, hub.endpoint, repo]
    cache = home / "warm"
    if name == OURS:
        cache = home / f"cold-{time.monotonic_ns()}"
        arguments = [*command, repo, "--format", "json"]
    elif name == "get_safetensors_metadata":
        arguments = [*command, repo]
    elif name == f"{OURS}, warm":
        arguments = [_command(), f"{repo}@{commit}", "--format", "json"]
    elif name == f"{OURS}, --help":
        arguments = [_command(), "--help"]
    elif name == "interpreter":
        arguments = [sys.executable, "-c", "pass"]
    env = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "HF_HOME": str(cache / "hf"),
        "INSPECT_CACHE": str(cache / "inspect"),
        "HF_ENDPOINT": hub.endpoint,
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "PYTHONPATH": str(Path(__file__).resolve().parents[2]),
    }
    hub.forget()
    run = _process(arguments, env, home / "output")
    seen = hub.seen()
    return Run(run.seconds, run.cpu, run.memory, seen, run.output)


def _process(command: Sequence[str], env: Mapping[str, str], output: Path) -> Run:
    actions = [(os.POSIX_SPAWN_OPEN, 1, str(output), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
    errors = output.with_suffix(".err")
    actions.append((os.POSIX_SPAWN_OPEN, 2, str(errors), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    started = time.perf_counter()
    pid = os.posix_spawn(command[0], list(command), dict(env), file_actions=actions)
    _, status, used = os.wait4(pid, 0)
    seconds = time.perf_counter() - started
    if status:
        raise RuntimeError(f"{' '.join(command)}: {errors.read_text()[-2000:]}")
    return Run(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, {}, output.read_bytes())


def _figures(runs: Sequence[Run]) -> dict[str, float]:
    return {
        "seconds": median(r.seconds for r in runs),
        "best": min(r.seconds for r in runs),
        "cpu": median(r.cpu for r in runs),
        "memory": max(r.memory for r in runs),
        "requests": runs[-1].seen["requests"],
        "sent": median(r.seen["sent"] for r in runs),
        "header_sent": median(r.seen["header_sent"] for r in runs),
    }


def _rows(title: str, compared: Mapping[str, object]) -> list[str]:
    figures = compared["figures"]
    assert isinstance(figures, dict)
    base = figures[OURS]["seconds"]
    rows = []
    for name, f in figures.items():
        rows.append(
            f"| {title} | {name} | {f['seconds']:.2f} | {f['seconds'] / base:.2f} | {f['requests']:.0f} "
            f"| {f['sent'] / 1e6:.2f} | {f['memory'] / 1e6:.0f} | {f['cpu']:.2f} |"
        )
    return rows


def _table(rows: Sequence[str], found: Mapping[str, object]) -> str:
    versions = found["versions"]
    assert isinstance(versions, dict)
    head = "| repo and link | program | wall s | x ours | requests | MB sent | peak MB | CPU s |\n" + "|---" * 8 + "|"
    made = ", ".join(f"{name} {version}" for name, version in versions.items())
    load = ", ".join(f"{n:.1f}" for n in os.getloadavg())
    about = f"{time.strftime('%Y-%m-%d')}, {found['machine']}, load averages at the end {load}; {made}."
    return f"{about}\n\n{head}\n" + "\n".join(rows) + "\n"


def _command() -> str:
    """The installed command, as users start it."""
    return str(Path(sys.executable).with_name("inspect"))


def _machine() -> str:
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
