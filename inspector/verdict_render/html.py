"""Verdicts as one HTML file that needs nothing else."""

from __future__ import annotations

from inspector.claim.claim_verdict import Verdicts
from inspector.show.verdicts_page import html_verdicts


def render(verdicts: Verdicts, *, width: int = 80, colour: bool = False) -> str:
    """The page of all verdicts; `width` and `colour` say nothing to HTML."""
    return html_verdicts(verdicts)
