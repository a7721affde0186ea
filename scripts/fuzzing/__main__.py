"""Fuzz the parsers, one after the other, each for its time; inputs that break one are printed, and the status is 1."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from scripts.fuzzing import FINDING
from scripts.fuzzing.bounds import SECONDS
from scripts.fuzzing.target import Target
from scripts.fuzzing.targets import TARGETS

_STALLED = 3_600
"""Seconds by the clock, which also counts while a machine sleeps: hanging is told from processor time, in `engine`."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one target's run came to; `edges` and `features` are libFuzzer's coverage."""

    name: str
    inputs: int
    edges: int
    features: int
    corpus: int
    peak_mb: int
    findings: tuple[Path, ...]


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument(
        "--seconds", type=int, metavar="N", help="for each (default: 600 for the four formats, else 180)"
    )
    parser.add_argument("--corpus", type=Path, metavar="DIR", help="where inputs are kept that reach new code")
    options = parser.parse_args()
    unknown = set(options.targets) - set(TARGETS)
    if unknown:
        parser.error(f"there is no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    if find_spec("atheris") is None:
        parser.error("atheris is not installed, or not to be had for this Python: pip install -e '.[fuzz]'")
    root = options.corpus or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "inspect-fuzz")
    print(f"inputs are kept in {root}; one may take {SECONDS:g} s and more by its size (scripts/fuzzing/bounds.py)")
    runs = [_run(TARGETS[name], root.absolute(), options.seconds) for name in options.targets or TARGETS]
    _show(runs)
    return 1 if any(run.findings for run in runs) else 0


def _run(target: Target, root: Path, seconds: int | None) -> Run:
    corpus, findings = root / target.name, root / f"{target.name}.findings"
    corpus.mkdir(parents=True, exist_ok=True)
    seconds = seconds or target.seconds
    print(f"== {target.name}, {seconds:,} s", flush=True)
    with tempfile.TemporaryDirectory() as work:
        seeds, words = Path(work, "seeds"), Path(work, "words")
        seeds.mkdir()
        for number, seed in enumerate(target.seeds()):
            Path(seeds, str(number)).write_bytes(seed)
        words.write_text("".join(map(_entry, target.words)))
        flags = {"max_total_time": seconds, "max_len": target.longest, "dict": words, "timeout": _STALLED}
        flags |= {
            "artifact_prefix": f"{findings}/",
            "rss_limit_mb": 4096,
            "print_final_stats": 1,
            "report_slow_units": 600,
        }
        command = [sys.executable, "-m", "scripts.fuzzing.engine", target.name, str(findings)]
        command += [*(f"-{key}={value}" for key, value in flags.items()), str(corpus), str(seeds)]
        findings.mkdir(exist_ok=True)
        with Path(root, f"{target.name}.log").open("wb") as log:
            subprocess.run(command, stdout=log, stderr=log, check=False, env=dict(os.environ, PYTHONHASHSEED="0"))
    run = _read(target.name, Path(root, f"{target.name}.log").read_text("utf-8", "replace"), corpus)
    _show([run])
    for path in run.findings:
        print(f"  {path}\n  {path.read_bytes()!r}", flush=True)
    return run


def _entry(word: str) -> str:
    """A line of libFuzzer's dictionary."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in word.encode("utf-8", "surrogatepass")) + '"\n'


def _read(name: str, log: str, corpus: Path) -> Run:
    """The figures in a log; a process that ended otherwise than by its time left an artifact, which is a finding."""
    last = (re.findall(r"^#\d+\s.*?cov: (\d+) ft: (\d+)", log, re.MULTILINE) or [("0", "0")])[-1]
    inputs, peak = _figure(log, "number_of_executed_units"), _figure(log, "peak_rss_mb")
    paths = [Path(p) for p in re.findall(rf"^{FINDING}(.*)$", log, re.MULTILINE)]
    paths += [Path(p) for p in re.findall(r"Test unit written to (\S+)", log)]
    return Run(name, inputs, int(last[0]), int(last[1]), sum(1 for _ in corpus.iterdir()), peak, tuple(paths))


def _figure(log: str, name: str) -> int:
    found = re.findall(rf"stat::{name}:\s+(\d+)", log)
    return int(found[-1]) if found else 0


def _show(runs: Iterable[Run]) -> None:
    print("| target | inputs | edges | features | corpus | peak MB | findings |\n|---|---:|---:|---:|---:|---:|---:|")
    for r in runs:
        figures = (r.inputs, r.edges, r.features, r.corpus, r.peak_mb, len(r.findings))
        print(f"| {r.name} | {' | '.join(f'{n:,}' for n in figures)} |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
