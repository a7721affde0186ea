"""Bars on one scale: lengths, labels that have room, lines that cross no other's words."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from inspector.show import lettering, palette
from inspector.show.charts import Bar, Limit, Share, chart, near

SHADE = palette.FILLS[0]


def bar(name: str, *sizes: int, figure: str = "1 GB", limits: tuple[int, ...] = ()) -> Bar:
    return Bar(name, figure, tuple(Share(f"part {n}", n, SHADE) for n in sizes), limits)


def test_lengths_are_bytes_on_one_scale() -> None:
    drawn = chart([bar("a", 300, 100), bar("b", 200, limits=(500,))], 1002.0)
    assert drawn.scale == 2.0
    assert [(s.x, s.width) for s in drawn.rows[0].segments] == [(0.0, 600.0), (600.0, 200.0)]
    assert drawn.rows[1].ticks == (1000.0,)


def test_a_part_without_bytes_is_not_drawn_and_a_label_without_room_not_written() -> None:
    (row,) = chart([bar("a", 0, 3, 997)], 1000.0).rows
    assert [(s.bytes, s.label) for s in row.segments] == [(3, ""), (997, "part 997")]


def test_a_long_name_moves_every_figure_to_a_line_of_its_own() -> None:
    short = chart([bar("a", 1), bar("b", 1)], 324.0)
    assert {r.anchor for r in short.rows} == {"end"}
    long = chart([bar("a", 1), bar("b" * 60, 1)], 324.0)
    assert {(r.anchor, r.figure_y - r.y) for r in long.rows} == {("start", 19.0)}
    assert long.rows[1].name.startswith("bbb")
    assert "…" in long.rows[1].name
    assert long.height > short.height


def test_nothing_to_draw() -> None:
    assert chart([], 100.0).rows == ()
    assert chart([bar("a")], 100.0).rows[0].segments == ()


def test_a_line_near_the_right_end_says_what_it_is_on_a_narrow_page() -> None:
    limit = Limit("2x rtx-4090, raw: 51.51 GB (47.98 GiB)", 51_510, "2x rtx-4090, raw: 51.51 GB")
    (narrow,) = chart([bar("BF16", 61_100)], 324.0, [limit]).marks
    assert (narrow.label, narrow.anchor) == ("2x rtx-4090, raw: 51.51 GB", "end")
    (wide,) = chart([bar("BF16", 61_100)], 1080.0, [limit]).marks
    assert (wide.label, wide.anchor) == (limit.label, "end")
    (left,) = chart([bar("BF16", 61_100)], 1080.0, [limit._replace(bytes=10)]).marks
    assert (left.label, left.anchor) == (limit.label, "start")


def test_limits_far_beyond_are_not_drawn() -> None:
    limits = [Limit("x", 300), Limit("y", 301)]
    assert near([bar("a", 100)], limits) == [limits[0]]
    assert near([], limits) == []


@given(st.lists(st.tuples(st.integers(0, 10**12), st.integers(1, 40)), max_size=6))
def test_no_line_crosses_the_words_of_a_line_on_the_same_side(found: list[tuple[int, int]]) -> None:
    drawn = chart([bar("a", 10**12)], 1000.0, [Limit("w" * n, size) for size, n in found])
    for mark in drawn.marks:
        wide = lettering.width(mark.label)
        start = mark.label_x - wide if mark.anchor == "end" else mark.label_x
        assert start >= -1
        assert start + wide <= 1001
        for other in drawn.marks:
            # A line runs from its own words down, so only those above reach a label.
            if other.y < mark.y and other.anchor == mark.anchor:
                assert not start < other.x < start + wide
