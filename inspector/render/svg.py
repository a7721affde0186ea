"""Reports as one picture, for a README or a model card."""

from __future__ import annotations

from inspector.model import Report
from inspector.show.page import picture


def render(reports: tuple[Report, ...], *, width: int = 80, colour: bool = False, bars: bool = True) -> str:
    """The treemaps and bars of all reports; `width`, `colour` and `bars` say nothing to SVG."""
    return picture(reports)
