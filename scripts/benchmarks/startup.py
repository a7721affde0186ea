"""`inspect --help` against `import click`: what a person waits before anything happens."""

from __future__ import annotations

import sys

from scripts.benchmarks.processes import seconds

LIMIT = 3.0
"""`--help` may take this many times what importing click takes."""


def run() -> dict[str, float]:
    found = seconds(
        {
            "interpreter": [sys.executable, "-c", "pass"],
            "import click": [sys.executable, "-c", "import click"],
            "inspect --help": [sys.executable, "-m", "inspector", "--help"],
        }
    )
    ratio = found["inspect --help"] / found["import click"]
    for name, value in found.items():
        print(f"{name:16} {1000 * value:7.1f} ms")
    print(f"ratio            {ratio:7.2f}  (limit {LIMIT})")
    return {**found, "ratio": ratio, "limit": LIMIT}
