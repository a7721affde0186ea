"""Reports become text: one module per output, each with `render(reports, *, width, colour, bars) -> str`.

To add an output, add a module here and its name to `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Final

from inspector.model import Report

FORMATS: Final = ("text", "json", "markdown", "csv", "html", "svg")
"""The names of `--format`, which are this folder's modules."""


def render(
    form: str,
    reports: tuple[Report, ...],
    *,
    width: int = 80,
    colour: bool = False,
    bars: bool = True,
    commands: Sequence[str] = (),
) -> str:
    """The reports in one of `FORMATS`; text keeps to `width` terminal columns, with `bars` of characters.

    `commands` are the lines that give each report again; the page alone shows them. Raises ValueError for another
    name.
    """
    if form not in FORMATS:
        raise ValueError(f"{form!r} is none of {', '.join(FORMATS)}")
    renderer: Callable[..., str] = import_module(f"{__name__}.{form}").render
    more = {"commands": commands} if form == "html" else {}
    return renderer(reports, width=width, colour=colour, bars=bars, **more)
