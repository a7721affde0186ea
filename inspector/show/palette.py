"""Colours that mean something: bits per weight, and what fills a device. One place for every drawing.

The ramp is viridis (Smith and van der Walt, 2015), which keeps its order under every colour blindness and in grey;
the fills of devices are Okabe and Ito's (2008). Each fill has an ink with a contrast of at least 4.5 (WCAG 2 AA).
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Shade(NamedTuple):
    """A fill with the ink that is readable on it; `name` is its CSS class, `label` what a legend says."""

    name: str
    label: str
    fill: str
    ink: str


RAMP: Final[tuple[tuple[float, Shade], ...]] = (
    (3.0, Shade("b2", "up to 3 bits", "#fde725", "#111111")),
    (5.0, Shade("b4", "over 3 to 5 bits", "#7ad151", "#111111")),
    (7.0, Shade("b6", "over 5 to 7 bits", "#22a884", "#111111")),
    (10.0, Shade("b8", "over 7 to 10 bits", "#2a788e", "#ffffff")),
    (20.0, Shade("b16", "over 10 to 20 bits", "#414487", "#ffffff")),
    (float("inf"), Shade("b32", "over 20 bits", "#440154", "#ffffff")),
)
"""Shades by the largest bits per weight that they stand for, scales included."""

UNKNOWN: Final = Shade("b-unknown", "unknown precision", "#b9b9b9", "#111111")
OVERHEAD: Final = Shade("b-none", "serves no weight", "#6b6b6b", "#ffffff")

FILLS: Final[tuple[Shade, ...]] = (
    Shade("weights", "weights", "#0072b2", "#ffffff"),
    Shade("copies", "copies of weights that another device holds", "#56b4e9", "#111111"),
    Shade("cache", "cache", "#e69f00", "#111111"),
    Shade("longer", "cache of longer contexts that still fit", "#f7d78a", "#111111"),
    Shade("free", "free", "#d9ead3", "#111111"),
    Shade("kept", "kept back by the budget", "#8795a8", "#111111"),
    Shade("plain", "as if every weight had 16 bits", "#cfd8dc", "#111111"),
    Shade("budget", "budget", "#f0c9a0", "#111111"),
)
"""What a bar of a device or a budget is made of."""

OVER: Final = Shade("over", "claimed too much", "#e69f00", "#111111")
UNDER: Final = Shade("under", "claimed too little", "#0072b2", "#ffffff")

SHADES: Final = (*[shade for _, shade in RAMP], UNKNOWN, OVERHEAD, *FILLS, OVER, UNDER)


def shade(bits_per_weight: float | None, *, overhead_only: bool = False) -> Shade:
    """The shade of an average in bits per weight; None is unknown, or overhead that serves no weight."""
    if overhead_only:
        return OVERHEAD
    if bits_per_weight is None:
        return UNKNOWN
    return next(shade for limit, shade in RAMP if bits_per_weight <= limit)


def css() -> str:
    """Rules for fills, inks and legend keys by class."""
    rules = [f".f-{s.name}{{fill:{s.fill};background:{s.fill}}}.i-{s.name}{{fill:{s.ink}}}" for s in SHADES]
    return "\n".join(rules)
