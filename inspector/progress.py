"""What long work does, on standard error, where a person sits at a terminal: a line, then a bar."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from inspector import output
from inspector.escape import terminal
from inspector.units import gb

if TYPE_CHECKING:
    from inspector.model import Progress

_BAR: Final = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"
"""tqdm's own form without its rate: files per second say nothing where one shard waits and 47 answer at once."""

_LATE: Final = 0.3
"""Seconds before anything is shown: most answers are there sooner, and a line that flashes only disturbs."""

_TICK: Final = 0.5
"""Seconds between looks at the clock, so that a wait for one slow server is seen to be one."""


@contextmanager
def shown(*, quiet: bool, first: str = "waiting") -> Iterator[Callable[[Progress], None] | None]:
    """A callback that draws, or None where nothing may be drawn: quiet, no terminal, or TERM=dumb.

    `first` says what is done until the callback is called for the first time.
    """
    if quiet or not output.terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield None
        return
    drawing = _Drawing(first)
    threading.Thread(target=drawing.tick, name="inspect-progress", daemon=True).start()
    try:
        yield drawing.draw
    finally:
        drawing.close()


class _Drawing:
    """The line or bar that stands on the terminal; `tick` runs in a thread of its own."""

    def __init__(self, first: str) -> None:
        self._first = first
        self._started = time.monotonic()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._written = False
        self._bar: Any = None

    def tick(self) -> None:
        """Show how long it has taken, once it takes long."""
        pause = _LATE
        while not self._ended.wait(pause):
            pause = _TICK
            with self._lock, suppress(OSError, ValueError):
                if self._ended.is_set():
                    return
                if self._bar is not None:
                    self._bar.refresh()
                else:
                    self._write()

    def draw(self, progress: Progress) -> None:
        """Show how far it is, from now on as a bar."""
        # The bar is made by the first call, so that it never stands there without knowing its total.
        total, stage = progress.total or None, terminal(progress.stage, 40)
        with self._lock:
            if self._bar is None:
                self._erase()
                self._bar = _bar(total, stage)
            bar = self._bar
            changed = (bar.total, bar.desc) != (total, f"{stage}: ")
            bar.total = total
            bar.set_description_str(f"{stage}: ", refresh=False)
            bar.set_postfix_str(_state(progress), refresh=False)
            bar.update(progress.done - bar.n)
            if changed:
                bar.refresh()

    def close(self) -> None:
        """Leave the terminal as it was."""
        self._ended.set()
        with self._lock:
            self._erase()
            if self._bar is not None:
                self._bar.close()

    def _write(self) -> None:
        minutes, seconds = divmod(int(time.monotonic() - self._started), 60)
        clock = f" [{minutes:02}:{seconds:02}]"
        text = terminal(self._first, max(_columns() - len(clock) - 1, 1)) + clock
        sys.stderr.write(f"\r{text}")
        sys.stderr.flush()
        self._written = True

    def _erase(self) -> None:
        if self._written:
            with suppress(OSError, ValueError):
                # Return, and erase to the end of the line: its width need not be known.
                sys.stderr.write("\r\x1b[K")
                sys.stderr.flush()
            self._written = False


def _bar(total: int | None, stage: str) -> Any:
    from tqdm import tqdm

    return tqdm(total=total, desc=stage, unit="file", leave=False, dynamic_ncols=True, file=sys.stderr, bar_format=_BAR)


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stderr.fileno()).columns
    except (OSError, ValueError):
        return output.PLAIN_WIDTH


def _state(progress: Progress) -> str:
    """Bytes so far, and what has been asked for longest: '6.50 MB, waiting for model-00007.safetensors +23'."""
    text = gb(progress.bytes)
    if not progress.waiting:
        return text
    first, *others = progress.waiting
    more = f" +{len(others):,}" if others else ""
    return f"{text}, waiting for {terminal(first.rpartition('/')[2], 32)}{more}"
