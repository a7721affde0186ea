"""Errors are one line that is safe to print and of a bounded length, whatever a file has for keys and names."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector import claims
from inspector.errors import InspectorError, MalformedFile
from inspector.escape import terminal
from inspector.fitting.hardware import user_hardware
from scripts.fuzzing.bounds import MESSAGE, within

BREAKS = "a\nb\r\x1b[2J\u202e\u2028"
LONG = "n" * 1_000_000


@pytest.mark.parametrize("name", [BREAKS, LONG], ids=["breaks", "long"])
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("a.csv", '"{}",b\n1,2\n'),
        ("a.toml", 'rows = [{{"""{}""" = 1}}]\n'),
        ("a.yaml", '"{}": 1\n'),
        ("a.json", '{{"rows": [{{"{}": 1}}]}}'),
    ],
)
def test_a_table_s_columns(tmp_path: Path, file: str, text: str, name: str) -> None:
    path = tmp_path / file
    escaped = name.encode("unicode_escape").decode().replace("\\x1b", "\\u001b") if file != "a.csv" else name
    path.write_text(text.replace('"""', '"').format(escaped), "utf-8")
    for read in (claims.sheet, claims.mapping_file):
        with pytest.raises(InspectorError) as caught:
            read(path)
        assert str(caught.value).isprintable()
        assert len(str(caught.value)) <= MESSAGE


def test_a_device_s_name(tmp_path: Path) -> None:
    path = tmp_path / "own.toml"
    path.write_text('[[device]]\nid = """a\nb"""\nnonsense = 1\n')
    with pytest.raises(InspectorError, match=r"device 1 \(a\\x0ab\): has an unknown key") as caught:
        user_hardware(path)
    assert str(caught.value).isprintable()


def test_the_middle_of_a_long_error_is_left_out() -> None:
    """Its place stands at the beginning, and what to do next at the end."""
    text = str(MalformedFile("m.gguf", LONG, "Fetch it again.", offset=7))
    assert text.startswith("m.gguf: nnn")
    assert text.endswith("nnn (at byte 7). Fetch it again.")
    assert len(text) <= MESSAGE


def test_shortening_takes_the_same_time_however_long_a_text_is() -> None:
    text = "\u202e" * 50_000_000
    with within(0.5):
        assert terminal(text, 20) == "\\u202e\\u2…202e\\u202e"


@given(st.text(max_size=60), st.integers(0, 30))
def test_shortening_is_that_of_the_whole_escaped_text(text: str, width: int) -> None:
    whole = terminal(text)
    assert terminal(whole, width) == terminal(text, width)
    assert len(terminal(text, width)) <= max(width, 1)


def test_a_name_mentions_nobody_on_github() -> None:
    from markdown_it import MarkdownIt

    from inspector.escape import markdown

    shown = markdown("org/@octocat #12 a@b.example @ # x")
    page = MarkdownIt("commonmark", {"html": True}).render(shown)
    # What GitHub looks at are the texts between tags and comments of the page.
    texts = re.split(r"<[^>]*>", page)
    assert not any(re.search(r"@\w|#\d", text) for text in texts)
    assert "".join(texts).strip() == "org/@octocat #12 a@b.example @ # x"
