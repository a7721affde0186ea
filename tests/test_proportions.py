"""Gauges of characters: letters by rule, widths, alignment."""

from __future__ import annotations

import pytest

from inspector.model.fit_model import Device
from inspector.show import proportions
from inspector.show.columns import measure
from tests.render.fits import BLIND, GIB, MANY, ONE, SLOPED, TWO, device, fit
from tests.render.samples import V41


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        # 80 of 120 GiB weights, 8 cache, 8 free, 24 kept back: four characters are 24 GiB of the 20-character bar.
        (device("x", 60 * GIB, 12 * GIB), "##########cc....|---"),
        (device("x", 96 * GIB, 0), "################|---"),
        # Nothing known of the cache: no c, and what is not weights stands as free of them.
        (device("x", 60 * GIB, None), "##########......|---"),
        # 240 GiB needed, the server budget of 96 ends at two fifths.
        (device("x", 228 * GIB, 12 * GIB), "########|##########c"),
        (device("x", 0, 0), "................|---"),
    ],
)
def test_a_gauge_by_its_letters(found: Device, expected: str) -> None:
    assert proportions.gauge(found, len(expected)) == expected


def test_a_device_without_room_is_a_mark_at_its_start() -> None:
    assert proportions.gauge(Device("x", -GIB, 2 * GIB, 0, 0, 3 * GIB, -3 * GIB), 8) == "|#######"


@pytest.mark.parametrize("width", [20, 40, 80, 140])
def test_gauges_stand_below_each_other_and_fit(width: int) -> None:
    lines = proportions.gauges((TWO, MANY, ONE, BLIND, SLOPED), width)
    assert all(measure(line) <= width for line in lines)
    assert all(line.isascii() or width < 80 for line in lines)
    if width >= 80:
        gauges = lines[:5]
        assert len({line.index("[") for line in gauges}) == 1
        assert len({line.index("]") for line in gauges}) == 1


def test_the_fullest_device_decides() -> None:
    (line, *_) = proportions.gauges((SLOPED,), 100)
    assert line.endswith("65.00 GiB of 96.00 GiB: fits")


def test_of_unlike_devices_the_one_with_the_least_room_decides() -> None:
    large, small = device("h200", 60 * GIB, GIB, 120 * GIB), device("rtx-3090", 30 * GIB, GIB, 20 * GIB)
    (line, *_) = proportions.gauges((fit("1x h200 + 1x rtx-3090", "does_not_fit", (large, small), 0),), 100)
    assert line.endswith("31.00 GiB of 20.00 GiB: does not fit")


def test_gauges_of_several_checkpoints_say_whose_they_are() -> None:
    lines = proportions.gauges((TWO, MANY), 100, ("[1] ", "[2] "))
    assert [line.partition("  ")[0] for line in lines[:2]] == ["[1] 2x dgx-spark", "[2] 64x h100-80"]


def test_no_cluster_no_gauge() -> None:
    assert proportions.gauges((), 80) == []


def test_no_bytes_no_bars() -> None:
    assert proportions.bars((), 80) == []
    assert proportions.bars(V41.cells, 20) == []
