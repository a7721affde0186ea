"""`python -m tests.loopback [REPO ...]`: serve recorded repos until interrupted."""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import threading

from tests.loopback import LoopbackHub, load, names, quants


def main(argv: list[str] | None = None) -> int:
    """Serve, print `HF_ENDPOINT=...` as the first line, stop at SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m tests.loopback", description="Serve recorded repos as a Hub.")
    parser.add_argument("repos", nargs="*", metavar="REPO", help="org/name of a fixture (default: all of them)")
    parser.add_argument("--port", type=int, default=0, help="port of the Hub (default: any free one)")
    parser.add_argument("--cdn-port", type=int, default=0, help="port of its CDN (default: any free one)")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--bandwidth", type=float, default=None, help="bytes per second, shared by all answers")
    parser.add_argument("--log", action="store_true", help="print the totals at the end")
    args = parser.parse_args(argv)
    try:
        wanted = args.repos or [*names(), quants.NAME]
        repos = [quants.repo() if name == quants.NAME else load(name) for name in wanted]
        hub = LoopbackHub(repos, port=args.port, cdn_port=args.cdn_port, latency=args.latency, bandwidth=args.bandwidth)
    except (FileNotFoundError, OSError) as problem:
        print(f"tests.loopback: {problem}", file=sys.stderr)
        return 2
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with hub, contextlib.suppress(BrokenPipeError):
        print(f"HF_ENDPOINT={hub.endpoint}", flush=True)
        print(f"CDN={hub.cdn}", flush=True)
        for repo in repos:
            print(f"serving {repo.name} at {repo.head}", flush=True)
        stop.wait()
        if args.log:
            print(" ".join(f"{k}={v}" for k, v in hub.totals().items()), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
