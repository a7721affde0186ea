"""Reports as one HTML file that needs nothing else: no network, no script to be read."""

from __future__ import annotations

from inspector.model import Report
from inspector.show.page import page


def render(reports: tuple[Report, ...], *, width: int = 80, colour: bool = False, bars: bool = True) -> str:
    """The page of all reports; `width`, `colour` and `bars` say nothing to HTML."""
    return page(reports)
