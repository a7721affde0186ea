"""Sizes and shares in words."""

from __future__ import annotations

import pytest

from inspector.units import percent


@pytest.mark.parametrize(
    ("part", "whole", "words"),
    [
        (0, 10, "0 %"),
        (5, 0, "0 %"),
        (1, 10_000, "<0.1 %"),
        (546, 1_000, "54.6 %"),
        (999, 1_000, "99.9 %"),
        (9_999, 10_000, ">99.9 %"),
        (10, 10, "100 %"),
    ],
)
def test_a_share_is_all_only_where_it_is_all(part: int, whole: int, words: str) -> None:
    assert percent(part, whole) == words
