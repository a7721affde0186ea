"""One target under libFuzzer, in a process of its own: `python -m scripts.fuzzing.engine TARGET FOLDER OPTION…`.

The package is imported with its branches counted, all of it, for much of it is imported late otherwise. A finding does
not end the run: each place that fails is kept once, with the shortest input that leads there.
"""

from __future__ import annotations

import hashlib
import random
import signal
import sys
import traceback
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from types import TracebackType
from typing import Final, NoReturn

import atheris

from scripts.fuzzing import FINDING

_HANGS: Final = 60
"""Seconds of processor time after which an input is taken to have no end."""
_COUNTED: Final = ["inspector", "markdown_it", "tomllib"]


def main() -> None:
    name, folder, *options = sys.argv[1:]
    with atheris.instrument_imports(include=_COUNTED):
        import inspector

        for module in walk_packages(inspector.__path__, "inspector."):
            if not module.name.endswith("__main__"):
                import_module(module.name)
        from scripts.fuzzing import mutating
        from scripts.fuzzing.targets import TARGETS
    target = TARGETS[name]
    found = _Findings(Path(folder))

    def one(data: bytes) -> None:
        try:
            signal.setitimer(signal.ITIMER_VIRTUAL, _HANGS)
            target.hold(data)
        except Exception as error:
            found.add(data, error)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)

    def changed(data: bytes, most: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if target.structured is not None and chance.random() < 0.6:
            out = mutating.tree(data, target.structured, target.words, chance)
            if out is not None and len(out) <= most:
                return out
        if chance.random() < 0.05:
            return mutating.spoilt(data, chance)[:most]
        return bytes(atheris.Mutate(data, most))

    atheris.Setup([sys.argv[0], *options], one, custom_mutator=changed)
    signal.signal(signal.SIGVTALRM, _hangs)
    atheris.Fuzz()


def _hangs(number: int, frame: object) -> NoReturn:
    raise TimeoutError(f"no end after {_HANGS} s of processor time")


class _Findings:
    """Inputs that broke something, one per place in the code."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shortest: dict[str, int] = {}

    def add(self, data: bytes, error: Exception) -> None:
        place = _place(error.__traceback__)
        if len(data) >= self._shortest.get(place, 1 << 30):
            return
        new = place not in self._shortest
        self._shortest[place] = len(data)
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / hashlib.sha256(place.encode()).hexdigest()[:12]
        path.write_bytes(data)
        if new:
            print("".join(traceback.format_exception(error)), file=sys.stderr)
            print(f"{FINDING}{path}", file=sys.stderr, flush=True)


def _place(trace: TracebackType | None) -> str:
    """The lines of this project that an exception went through."""
    frames = traceback.extract_tb(trace)
    return " ".join(f"{f.filename}:{f.lineno}" for f in frames if "/inspector/" in f.filename) or str(frames[-1])


if __name__ == "__main__":
    main()
