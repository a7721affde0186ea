"""Jinja2 with every guard up: autoescape, no undefined name, and each text made printable before it is escaped.

Imported only where a page or picture is wanted.
"""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from inspector import __version__
from inspector.escape import terminal
from inspector.show import lettering, palette, phrases

_FOLDER: Final = Path(__file__).with_name("templates")

_LONGEST: Final = 2000
"""Characters of any one text."""


def filled(template: str, **values: Any) -> str:
    """A template of `inspector/show/templates` with its values."""
    return _environment().get_template(template).render(**values)


def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(_FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["short"] = _short
    made.filters["num"] = _number
    made.filters["fit"] = _fit
    style, script = _text("style.css") + palette.css(), _text("script.js")
    made.globals.update(
        version=__version__,
        alarm=phrases.alarm,
        style=Markup(style),
        script=Markup(script),
        picture_style=Markup(_text("picture.css") + palette.css()),
        style_hash=_digest(style),
        script_hash=_digest(script),
    )
    return made


def _text(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8").strip()


def _digest(text: str) -> str:
    """What a content security policy calls a text."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _printable(value: object) -> object:
    return terminal(value, _LONGEST) if isinstance(value, str) and not isinstance(value, Markup) else value


def _short(value: str, width: int = 120) -> str:
    return terminal(value, width)


def _fit(value: str, width: float, strong: bool = False) -> str:
    return lettering.cut(value, width, strong=strong)


def _number(value: float) -> str:
    """A coordinate: six significant digits keep areas true for boxes of any size."""
    return f"{value:.7g}"
