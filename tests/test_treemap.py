"""The treemap's geometry: areas are bytes, boxes stay inside and apart, components stay together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.model import COMPONENTS, Cell
from inspector.show.treemap import Treemap, treemap
from tests.render.fits import PRECISIONS
from tests.render.samples import V41

SIZES = st.lists(st.tuples(st.sampled_from(COMPONENTS), st.integers(0, 10**13)), max_size=30)


def cells(sizes: list[tuple[str, int]]) -> tuple[Cell, ...]:
    return tuple(Cell(name, f"p{i}", 8.0, (), (), 1, n, n, 0) for i, (name, n) in enumerate(sizes))


@settings(max_examples=60, deadline=None)
@given(SIZES)
def test_areas_are_bytes_and_boxes_neither_leave_nor_overlap(sizes: list[tuple[str, int]]) -> None:
    found = treemap(cells(sizes), 1000.0, 500.0)
    drawn = sum(b.bytes for b in found.boxes)
    assert found.whole == sum(n for _, n in sizes)
    assert len(found.boxes) + found.left_out == sum(n > 0 for _, n in sizes)
    for box in found.boxes:
        assert box.width * box.height == pytest.approx(500_000 * box.bytes / drawn, rel=1e-3)
        assert box.x >= -1e-4
        assert box.y >= -1e-4
        assert box.x + box.width <= 1000 + 1e-4
        assert box.y + box.height <= 500 + 1e-4
    for i, a in enumerate(found.boxes):
        for b in found.boxes[:i]:
            wide = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
            high = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
            assert min(wide, high) < 1e-4


def test_v41_flash_is_mostly_experts_and_engram() -> None:
    found = treemap(V41.cells, 1080.0, 540.0)
    assert [(b.component, b.precision) for b in found.boxes[:2]] == [
        ("routed_experts", "fp4_e2m1"),
        ("memory", "fp8_e4m3"),
    ]
    # 288,777,830,400 of 510,286,023,000 bytes.
    assert found.boxes[0].width * found.boxes[0].height == pytest.approx(0.565914 * 1080 * 540, rel=1e-5)
    assert len(found.boxes) == len(V41.cells)


def test_many_small_precisions_share_a_box_and_lose_no_byte() -> None:
    found = treemap(PRECISIONS.cells, 1000.0, 500.0)
    assert len(found.boxes) == 40
    assert sum(b.bytes for b in found.boxes) == 500 * 501 // 2
    assert "461 smaller" in [b.precision for b in found.boxes]


def test_a_byte_beside_a_terabyte_is_counted_not_drawn() -> None:
    found = treemap(cells([("mlp", 10**13), ("norm", 1)]), 1000.0, 500.0)
    assert (len(found.boxes), found.left_out) == (1, 1)


@pytest.mark.parametrize("sizes", [[], [("norm", 0)]])
def test_nothing_stored_draws_nothing(sizes: list[tuple[str, int]]) -> None:
    assert treemap(cells(sizes), 100.0, 100.0) == Treemap(100.0, 100.0, (), 0, 0)
