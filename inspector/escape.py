"""Make text from a repo safe to show. Names, metadata and server messages are hostile until they pass here."""

from __future__ import annotations

import re

_LIVE = re.compile(r"@(?=\w)|#(?=\d)")
_MARKUP = str.maketrans({c: "\\" + c for c in "\\`*_{}[]|#!~"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})


def terminal(text: str, width: int | None = None) -> str:
    r"""Printable text on one line: control, format and bidi characters become `\x1b`, `\u202e` and the like.

    With `width` (characters) a longer text keeps its head and tail around an ellipsis.
    """
    if width is not None and len(text) > 2 * width + 2:
        # Escaping only lengthens, so what is between cannot be among what is kept.
        text = text[: width + 1] + text[-width - 1 :]
    if not text.isprintable():
        text = "".join(c if c.isprintable() else _escaped(c) for c in text)
    if width is not None and len(text) > width:
        if width < 8:
            return text[: max(width - 1, 0)] + "…"
        head = (width - 1) // 2
        text = f"{text[:head]}…{text[head + 1 - width :]}"
    return text


def markdown(text: str) -> str:
    """`terminal` text for a table cell: what Markdown or HTML reads as markup, or GitHub as a mention, is escaped.

    GitHub looks for mentions and issues in the text of the page it has made, so that neither a backslash nor an entity
    hides them (github/cmark-gfm, issues 181 and 389); an empty comment parts the text and shows nothing.
    """
    return _LIVE.sub(r"\g<0><!-- -->", terminal(text).translate(_MARKUP))


def csv(text: str) -> str:
    """`terminal` text that no spreadsheet runs as a formula: a leading `= + - @` gets a quote before it."""
    out = terminal(text)
    return "'" + out if out[:1] in ("=", "+", "-", "@") else out


def _escaped(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
