"""Verdicts become text: one module per output, each with `render(verdicts, *, width, colour) -> str`.

To add an output, add a module here and its name to `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Final

from inspector.claim.claim_verdict import Verdicts

FORMATS: Final = ("text", "json", "markdown", "github", "junit", "html")
"""The names of `check --format`, which are this folder's modules."""


def render(form: str, verdicts: Verdicts, *, width: int = 80, colour: bool = False) -> str:
    """The verdicts in one of `FORMATS`. Raises ValueError for another name."""
    if form not in FORMATS:
        raise ValueError(f"{form!r} is none of {', '.join(FORMATS)}")
    renderer: Callable[..., str] = import_module(f"{__name__}.{form}").render
    return renderer(verdicts, width=width, colour=colour)
