"""One progress bar on standard error, where a person sits at a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final, NoReturn

from inspector import output
from inspector.escape import terminal
from inspector.units import gb

if TYPE_CHECKING:
    from inspector.model import Progress

_BAR: Final = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{postfix}]"
"""tqdm's own form without its rate: files per second say nothing where one shard waits and 47 answer at once."""


@contextmanager
def shown(*, quiet: bool) -> Iterator[Callable[[Progress], None] | None]:
    """A callback that draws, or None where nothing may be drawn: quiet, no terminal, or TERM=dumb."""
    if quiet or not output.terminal(sys.stderr) or os.environ.get("TERM") == "dumb":
        yield None
        return
    from tqdm import tqdm

    bars: list[tqdm[NoReturn]] = []

    def draw(progress: Progress) -> None:
        # The bar is made by the first call, so that it never stands there without knowing its total.
        total, stage = progress.total or None, terminal(progress.stage, 40)
        if not bars:
            bars.append(
                tqdm(
                    total=total,
                    desc=stage,
                    unit="file",
                    leave=False,
                    dynamic_ncols=True,
                    file=sys.stderr,
                    bar_format=_BAR,
                )
            )
        bar = bars[0]
        changed = (bar.total, bar.desc) != (total, f"{stage}: ")
        bar.total = total
        bar.set_description_str(f"{stage}: ", refresh=False)
        bar.set_postfix_str(_state(progress), refresh=False)
        bar.update(progress.done - bar.n)
        if changed:
            bar.refresh()

    try:
        yield draw
    finally:
        for bar in bars:
            bar.close()


def _state(progress: Progress) -> str:
    """Bytes so far, and what has been asked for longest: '6.50 MB, waiting for model-00007.safetensors +23'."""
    text = gb(progress.bytes)
    if not progress.waiting:
        return text
    first, *others = progress.waiting
    more = f" +{len(others):,}" if others else ""
    return f"{text}, waiting for {terminal(first.rpartition('/')[2], 32)}{more}"
