"""Whether an output is what it should be, whatever a repo's names hold: nothing hidden, no live markup, well formed."""

from __future__ import annotations

import csv
import io
import json
import re
from html.parser import HTMLParser
from typing import Final, NoReturn
from xml.etree import ElementTree

_INLINE: Final = frozenset({"text", "strong_open", "strong_close", "softbreak", "text_special"})
"""What Markdown of ours may hold within a line."""
_BLOCKS: Final = frozenset(
    f"{kind}_{end}"
    for kind in ("heading", "paragraph", "table", "thead", "tbody", "tr", "th", "td", "bullet_list", "list_item")
    for end in ("open", "close")
) | {"inline"}
_FOLD: Final = re.compile(r"(?m)^<details><summary>[\d,]+ ok</summary>$|^</details>$")
"""The one piece of HTML that our Markdown writes itself."""
_BANNED: Final = frozenset({"img", "iframe", "object", "embed", "audio", "video", "base", "form", "use"})
_DRAWN: Final = frozenset({"svg", "title", "desc", "style", "rect", "g", "text", "line"})
_COMMAND: Final = re.compile(r"::(?:error|warning|notice) (?:(?:file|line|col|title)=[^:,]*,?)*::.*")


def output(form: str, text: str) -> None:
    """Raise AssertionError where a rendering in `form` is unsafe or broken."""
    for char in text:
        assert char.isprintable() or char == "\n", f"{form} lets {char!r} through"
    match form:
        case "json":
            assert text.isascii()
            json.loads(text, parse_constant=_constant)
        case "csv":
            _csv(text)
        case "markdown":
            _markdown(text)
        case "html":
            _html(text)
        case "svg":
            found = {e.tag.rpartition("}")[2] for e in ElementTree.fromstring(text).iter()}
            assert found <= _DRAWN, f"a picture with {found - _DRAWN}"
        case "junit":
            ElementTree.fromstring(text)
        case "github":
            for line in text.splitlines():
                assert _COMMAND.fullmatch(line), f"no annotation of ours: {line[:200]!r}"


def _constant(name: str) -> NoReturn:
    raise AssertionError(f"JSON with {name}")


def _csv(text: str) -> None:
    csv.field_size_limit(len(text) + 1)
    rows = list(csv.reader(io.StringIO(text), strict=True))
    assert len({len(row) for row in rows}) == 1, "rows of different lengths"
    for row in rows:
        for cell in row:
            assert cell[:1] not in ("=", "+", "-", "@"), f"a cell that is a formula: {cell[:80]!r}"


def _markdown(text: str) -> None:
    from markdown_it import MarkdownIt

    columns = None
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(_FOLD.sub("", text)):
        assert token.type in _BLOCKS, f"Markdown with a {token.type}: {token.content[:200]!r}"
        for child in token.children or ():
            if child.type == "html_inline" and child.content == "<!-- -->":
                # It parts what GitHub would take for a mention.
                continue
            assert child.type in _INLINE, f"Markdown with a {child.type}: {token.content[:200]!r}"
            live = re.search(r"@\w|#\d", child.content) if child.type == "text" else None
            assert live is None, f"a mention: {child.content[:200]!r}"
        if token.type == "tr_open":
            before, columns = columns, 0
        elif token.type in ("th_open", "td_open") and columns is not None:
            columns += 1
        elif token.type == "tr_close":
            assert before in (None, columns), f"rows of {before} and {columns} cells"
        elif token.type == "table_close":
            columns = None


class _Elements(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in _BANNED, f"a page with <{tag}>"
        self.scripts += tag == "script"
        for name, value in attrs:
            assert not name.startswith("on") and name not in ("src", "style"), f"<{tag} {name}=...>"
            where = value or "#"
            assert name != "href" or where.startswith("#") or where == "data:,", f"a link to {where[:80]!r}"


def _html(text: str) -> None:
    # Every page has the one script that the policy in it names.
    assert _Elements(text).scripts == 1
