"""What is a coroutine in the package as a plain call, for tests that read one thing after another."""

from __future__ import annotations

import inspect
from typing import Any

from inspector import checkpoint, inspection
from inspector.checkpoint import Loaded
from inspector.model import Checkpoint, Footprint, Report, Source
from inspector.snapshots import recording
from inspector.snapshots.recording import Recording
from inspector.tasks import run


class Waited:
    """Stands for a source or a transport: its coroutines are run to their end, everything else is passed on."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        if not inspect.iscoroutinefunction(found):
            return found
        return lambda *args, **options: run(found(*args, **options))


def load(source: Source | Waited, **options: Any) -> Loaded:
    return run(checkpoint.load(source.inner if isinstance(source, Waited) else source, **options))


def examine(source: Source, **options: Any) -> tuple[Report, Checkpoint, Footprint]:
    return run(inspection.examine(source, **options))


def record(*args: Any, **options: Any) -> Recording:
    return run(recording.record(*args, **options))
