"""What the bars of a report are made of: exact bytes, nothing drawn twice."""

from __future__ import annotations

from dataclasses import replace

from inspector.inspection import inspect
from inspector.show import pictures
from inspector.show.charts import Bar
from tests.loopback import LoopbackHub, load
from tests.render.fits import FIVE_HUNDRED, GIB, MANY, SLOPED, TWO, device, fit
from tests.render.samples import UNKNOWN, V41


def sizes(bar: Bar) -> list[tuple[str, int]]:
    return [(s.label, s.bytes) for s in bar.shares if s.bytes]


def test_a_device_is_filled_to_the_last_byte() -> None:
    found = device("x", 50 * GIB, GIB)
    longer = replace(found, longer=((131_072, 4 * GIB), (262_144, 9 * GIB)))
    (bar,) = pictures.devices(fit("1x x", "fits", (longer,), 262_144))
    assert sum(n for _, n in sizes(bar)) == 120 * GIB
    assert [n // GIB for _, n in sizes(bar)][2:] == [1, 3, 5, 37, 24]
    assert [label for label, _ in sizes(bar)] == [
        *["weights", "copies", "cache", "131,072 tokens", "262,144 tokens", "free", "kept back"],
    ]
    assert bar.limits == (96 * GIB, 120 * GIB)
    assert bar.figure == "48.32 GB (45.00 GiB) free"


def test_weights_of_a_device_stand_by_component_and_copies_once() -> None:
    parts = (("routed_experts", 30 * GIB, 0), ("attention", 15 * GIB, 2 * GIB), ("norm", 5 * GIB, 5 * GIB))
    found = replace(device("x", 50 * GIB, GIB), replicated_bytes=7 * GIB, parts=parts)
    colours = pictures.shades(V41.cells)
    (bar,) = pictures.devices(fit("1x x", "fits", (found,), 8192), colours)
    assert sizes(bar)[:4] == [
        *[("routed_experts", 30 * GIB), ("attention", 13 * GIB)],
        *[("copies", 7 * GIB), ("cache", GIB)],
    ]
    assert sum(n for _, n in sizes(bar)) == 120 * GIB
    # The colours of the treemap: FP4 with its scales has 4.25 bits, FP8 8.01.
    assert [s.shade.name for s in bar.shares[:2]] == ["b4", "b8"]
    assert bar.shares[0].hint == "routed_experts: 32.21 GB (30.00 GiB)"


def test_many_components_share_the_last_piece_of_a_bar() -> None:
    (two, *_) = FIVE_HUNDRED.fits
    (bar,) = pictures.devices(two, pictures.shades(FIVE_HUNDRED.cells))
    labels = [s.label for s in bar.shares]
    assert labels[15:18] == ["485 smaller", "copies", "cache"]
    assert sum(s.bytes for s in bar.shares) == 120 * GIB
    shipped = pictures.shipped(FIVE_HUNDRED)
    assert len(shipped.shares) == 16
    assert sum(s.bytes for s in shipped.shares) == FIVE_HUNDRED.tensor_bytes


def test_of_many_bars_those_with_the_least_room_are_drawn() -> None:
    found = pictures.runs(SLOPED)
    assert [r.at for r in pictures.fullest(found, 16)] == list(range(48, 64))
    assert pictures.fullest(found, 64) == found


def test_devices_that_differ_by_a_byte_share_a_bar() -> None:
    one, two = device("x", 50 * GIB, GIB), device("x", 50 * GIB + 1, GIB)
    runs = pictures.runs(fit("3x x", "fits", (one, two, device("x", 40 * GIB, GIB)), 8192))
    assert [(r.at, r.size, r.bar.name) for r in runs] == [(0, 2, "devices 1 to 2, each: x"), (2, 1, "device 3: x")]


def test_a_device_without_room_shows_no_free_memory() -> None:
    (bar,) = pictures.devices(TWO)
    assert [label for label, _ in sizes(bar)] == ["weights", "copies", "cache"]
    assert bar.figure.endswith("short")
    assert bar.name == "devices 1 to 2, each: dgx-spark"


def test_equal_devices_share_a_bar() -> None:
    assert [b.name for b in pictures.devices(MANY)] == ["devices 1 to 64, each: h100-80"]
    assert len(pictures.devices(SLOPED)) == 64


def test_the_ladder_ends_with_three_budgets_per_cluster() -> None:
    bars = pictures.ladder(V41, (TWO, MANY))
    assert [b.name for b in bars][:2] == ["if it were BF16", "as shipped"]
    # 763,205,315,794 parameters of two bytes.
    assert sizes(bars[0]) == [("16 bits per parameter", 1_526_410_631_588)]
    assert sum(n for _, n in sizes(bars[1])) == 510_286_023_000
    assert [b.name for b in bars][2:5] == ["2x dgx-spark: raw", "2x dgx-spark: tight", "2x dgx-spark: server"]
    assert [b.name for b in pictures.ladder(UNKNOWN, ())] == ["as shipped"]


def test_longer_contexts_fit_the_server_budget_and_stop_at_its_maximum() -> None:
    with LoopbackHub([load("openai/gpt-oss-120b")]) as hub:
        report = inspect("openai/gpt-oss-120b", endpoint=hub.endpoint, clusters=["2x dgx-spark", "1x rtx-4090"])
    roomy, small = report.fits
    for one in roomy.devices:
        assert [tokens for tokens, _ in one.longer] == [131_072]
        assert one.cache is not None
        assert one.cache < one.longer[-1][1] <= one.usable_bytes - one.weights
    assert all(one.longer == () for one in small.devices)
