"""Colours: readable ink on every fill, an order that survives colour blindness, and the page's own text."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import pytest

from inspector.show import palette, verdicts_page

STYLE = (Path(palette.__file__).parent / "templates" / "style.css").read_text()

# Viénot, Brettel and Mollon (1999), on linear RGB: what a protanope and a deuteranope see.
PROTAN = ((0.11238, 0.88762, 0.0), (0.11238, 0.88762, 0.0), (0.00401, -0.00401, 1.0))
DEUTAN = ((0.29275, 0.70725, 0.0), (0.29275, 0.70725, 0.0), (-0.02234, 0.02234, 1.0))


def linear(colour: str) -> tuple[float, float, float]:
    def one(at: int) -> float:
        value = int(colour[at : at + 2], 16) / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    return one(1), one(3), one(5)


def luminance(rgb: tuple[float, float, float]) -> float:
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2]


def contrast(a: str, b: str) -> float:
    """WCAG 2.2's contrast ratio."""
    low, high = sorted((luminance(linear(a)), luminance(linear(b))))
    return (high + 0.05) / (low + 0.05)


def test_the_measure_itself() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("shade", palette.SHADES, ids=lambda s: s.name)
def test_ink_is_readable_on_its_fill(shade: palette.Shade) -> None:
    assert contrast(shade.fill, shade.ink) >= 4.5


@pytest.mark.parametrize("matrix", [PROTAN, DEUTAN, None], ids=["protan", "deutan", "everyone"])
def test_more_bits_are_darker_for_everyone(matrix: tuple[tuple[float, float, float], ...] | None) -> None:
    seen = []
    for _, shade in palette.RAMP:
        rgb = linear(shade.fill)
        if matrix is not None:
            r, g, b = (sum(m * c for m, c in zip(row, rgb, strict=True)) for row in matrix)
            rgb = (max(r, 0.0), max(g, 0.0), max(b, 0.0))
        seen.append(luminance(rgb) + 0.05)
    assert all(a / b >= 1.3 for a, b in itertools.pairwise(seen)), seen


def lab(colour: str, matrix: tuple[tuple[float, float, float], ...] | None) -> tuple[float, float, float]:
    """CIE L*a*b* (1976, white D65) of a colour as someone sees it."""
    rgb = linear(colour)
    if matrix is not None:
        r, g, b = (max(sum(m * c for m, c in zip(row, rgb, strict=True)), 0.0) for row in matrix)
        rgb = (r, g, b)
    red, green, blue = rgb
    x = (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047
    z = (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, luminance(rgb), z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


OUTCOMES = [s for s in palette.SHADES if s.name in verdicts_page._SHADES.values()]


@pytest.mark.parametrize("matrix", [PROTAN, DEUTAN, None], ids=["protan", "deutan", "everyone"])
@pytest.mark.parametrize(
    "together",
    [[*[s for _, s in palette.RAMP], palette.UNKNOWN, palette.OVERHEAD, *palette.FILLS[1:6]], OUTCOMES],
    ids=["device", "verdicts"],
)
def test_colours_of_one_legend_are_told_apart(
    together: list[palette.Shade], matrix: tuple[tuple[float, float, float], ...] | None
) -> None:
    assert len(together) >= 5
    for one, other in itertools.combinations(together, 2):
        # 2.3 is the least that an eye notices side by side (Mahy and others, 1994); these stand apart.
        assert math.dist(lab(one.fill, matrix), lab(other.fill, matrix)) > 10, (one.name, other.name)


def test_text_of_the_page_is_readable_in_light_dark_and_print() -> None:
    schemes = [dict(re.findall(r"--(\w+):(#[0-9a-f]{3,6})", block)) for block in re.findall(r":root\{([^}]*)\}", STYLE)]
    assert len(schemes) == 3
    for names in schemes:
        full = {k: v if len(v) == 7 else "#" + "".join(c * 2 for c in v[1:]) for k, v in names.items()}
        for ground in ("page", "band"):
            for ink in ("ink", "soft", "link", "alarm"):
                assert contrast(full[ink], full[ground]) >= 4.5, (ink, ground)
        assert contrast(full["edge"], full["page"]) >= 3


@pytest.mark.parametrize(
    ("bits", "name"),
    [
        (1.6, "b2"),
        (3.0, "b2"),
        (4.25, "b4"),
        (5.5, "b6"),
        (8.25, "b8"),
        (16.0, "b16"),
        (32.0, "b32"),
        (None, "b-unknown"),
    ],
)
def test_a_shade_stands_for_a_range_of_bits(bits: float | None, name: str) -> None:
    assert palette.shade(bits).name == name


def test_overhead_that_serves_no_weight_has_its_own_shade() -> None:
    assert palette.shade(None, overhead_only=True) is palette.OVERHEAD
