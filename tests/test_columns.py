"""Layout by terminal columns, not by characters."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.show.columns import Column, cut, join, layout, measure, wrap


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("short", 5, "short"),
        ("abcdefghijkl", 9, "abcd…ijkl"),
        ("abcdefghijkl", 5, "abcd…"),
        ("abc", 0, ""),
        ("長い名前の模型です", 9, "長い…です"),
    ],
)
def test_cut_keeps_head_and_tail(text: str, width: int, expected: str) -> None:
    assert cut(text, width) == expected


def test_wide_characters_take_two_columns() -> None:
    assert measure("ab長い") == 6


@given(st.text(), st.integers(1, 50))
def test_cut_never_exceeds_its_width(text: str, width: int) -> None:
    assert measure(cut(text, width)) <= width


@given(st.lists(st.text("abc 長\u0301", max_size=30)), st.integers(8, 40))
def test_join_and_wrap_lose_no_word_and_keep_the_width(phrases: list[str], width: int) -> None:
    for lines in (join(phrases, width, "  "), wrap(" ".join(phrases), width, "  ")):
        assert all(measure(line) <= width for line in lines)
    flat = "".join(wrap(" ".join(phrases), width, "  ")).replace(" ", "")
    assert flat == "".join(phrases).replace(" ", "")


def test_phrases_break_between_phrases() -> None:
    assert join(["one two", "three", "four"], 15, "  ") == ["one two · three", "  four"]


COLUMNS = (Column("name", floor=8), Column("size", right=True), Column("extra", optional=True))
ROWS = (("a.very.long.tensor.name", "12", "x"), ("b", "3,456", "yy"))


def test_everything_shows_where_there_is_room() -> None:
    assert layout(COLUMNS, ROWS, 40) == [
        "name                      size  extra",
        "a.very.long.tensor.name     12  x",
        "b                        3,456  yy",
    ]


def test_optional_columns_go_first_then_names_are_cut() -> None:
    assert layout(COLUMNS, ROWS, 30) == [
        "name                      size",
        "a.very.long.tensor.name     12",
        "b                        3,456",
    ]
    assert layout(COLUMNS, ROWS, 18) == [
        "name          size",
        "a.ver….name     12",
        "b            3,456",
    ]


def test_rows_become_phrases_where_no_table_fits() -> None:
    columns = (Column("name"), Column("size in B"), Column("extra"))
    assert layout(columns, ROWS[1:], 20) == ["b", "    size in B 3,456", "    extra yy"]
