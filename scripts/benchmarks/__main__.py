"""Run the parts asked for and print their figures; `--json FILE` writes them too."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from datetime import date
from importlib import import_module
from pathlib import Path

PARTS = ("startup", "recognise", "gguf", "check", "network", "growth")


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all by default")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to FILE")
    options = parser.parse_args()
    unknown = set(options.parts) - set(PARTS)
    if unknown:
        parser.error(f"there is no part {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    figures = {"date": str(date.today()), "python": platform.python_version(), "machine": platform.machine()}
    results: dict[str, object] = {}
    for part in options.parts or PARTS:
        print(f"== {part}", flush=True)
        results[part] = import_module(f"scripts.benchmarks.{part}").run()
    if options.json is not None:
        options.json.write_text(json.dumps({**figures, "parts": results}, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
