"""Reports as one HTML file that needs nothing else: no network, no script to be read."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.model import Report
from inspector.show.page import page


def render(
    reports: tuple[Report, ...],
    *,
    width: int = 80,
    colour: bool = False,
    bars: bool = True,
    commands: Sequence[str] = (),
) -> str:
    """The page of all reports; `width`, `colour` and `bars` say nothing to HTML, `commands` give each report again."""
    return page(reports, commands)
