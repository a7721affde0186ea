"""Kill writers of the cache and of output files at random moments; inspect a small repo over and over."""

from __future__ import annotations

import argparse
import gc
import random
import sys
import tempfile
import threading
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/endure", description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="writers to kill (default: 200)")
    parser.add_argument("--inspections", type=int, default=10_000, help="inspections in this process (default: 10,000)")
    options = parser.parse_args()
    if options.kills:
        _kill(options.kills)
    if options.inspections:
        return _inspect(options.inspections)
    return 0


def _kill(rounds: int) -> None:
    from tests.test_store import killed

    with tempfile.TemporaryDirectory() as where:
        whole = killed(Path(where), rounds, random.Random())
        parts = len(list(Path(where).rglob("*.part")))
    print(
        f"{rounds} writers killed: {whole} times an entry was there and whole, never a damaged one; {parts} parts left"
    )


def _inspect(count: int) -> int:
    from inspector import inspect
    from tests.loopback import LoopbackHub, Repo, Virtual

    head = b'{"w":{"dtype":"BF16","shape":[500],"data_offsets":[0,1000]}}'
    small = Virtual(len(head).to_bytes(8, "little") + head, 8 + len(head) + 1000)
    marks: list[int] = []
    with LoopbackHub([Repo.build("org/small", {"model.safetensors": small})]) as hub:
        for number in range(count + 1):
            if number % max(1, count // 10) == 0:
                gc.collect()
                marks.append(_resident())
                print(
                    f"{number:6,} inspections: {marks[-1] / 1e6:6.1f} MB, {threading.active_count()} threads",
                    flush=True,
                )
            assert inspect("org/small", endpoint=hub.endpoint).tensors == 1
            hub.forget()
    grown = marks[-1] - marks[1]
    print(f"grown by {grown / 1e6:.1f} MB over the last nine tenths")
    return 0 if grown < 5_000_000 else 1


def _resident() -> int:
    """Resident bytes of this process (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


if __name__ == "__main__":
    sys.exit(main())
