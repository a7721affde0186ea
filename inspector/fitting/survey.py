"""One checkpoint on every known machine: how many hold it, the smallest that does, by size of memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from inspector.model import Report, Variant
from inspector.model.fit_model import Cluster, Fit, Hardware
from inspector.records import dataclass

TIERS: Final = (8, 12, 16, 24, 32, 48, 64, 80, 96, 128, 144, 192, 256, 288, 512)
"""Upper ends of memory tiers, in GiB of visible memory."""

_GIB: Final = 2**30
_HOLDS: Final = ("fits", "tight")


@dataclass(frozen=True, slots=True)
class Place:
    """One machine with its answer; `variant` is the largest set of the menu that it holds, None without a menu."""

    hardware: Hardware
    fit: Fit
    variant: Variant | None = None

    @property
    def holds(self) -> bool:
        """Fits, or is tight."""
        return self.fit.verdict in _HOLDS


@dataclass(frozen=True, slots=True)
class Tier:
    """Machines of up to `gib` visible GiB (None: of more than the last tier): how many there are and hold it."""

    gib: int | None
    machines: int
    hold: int


@dataclass(frozen=True, slots=True)
class Survey:
    """The answer: places smallest first; `nominal` ones have a marketed size and are counted apart."""

    report: Report
    places: tuple[Place, ...]

    def count(self, *, nominal: bool) -> tuple[int, int]:
        """(machines that hold it, machines) with a driver's figure, or those with a marketed size alone."""
        chosen = [p for p in self.places if p.hardware.nominal is nominal]
        return sum(p.holds for p in chosen), len(chosen)

    @property
    def smallest(self) -> Place | None:
        """The machine of least memory that holds it, among those with a driver's figure."""
        return next((p for p in self.places if p.holds and not p.hardware.nominal), None)

    @property
    def tiers(self) -> tuple[Tier, ...]:
        """Machines by visible memory."""
        found = []
        low = 0
        for high in (*TIERS, None):
            inside = [p for p in self.places if low < _gib(p) and (high is None or _gib(p) <= high)]
            if inside:
                found.append(Tier(high, len(inside), sum(p.holds for p in inside)))
            low = high or low
        return tuple(found)

    @property
    def floor(self) -> int | None:
        """Bytes of the smallest build that this repo has; no other is invented."""
        sizes = [v.file_bytes for v in self.report.menu if v.file_bytes is not None]
        return min(sizes) if sizes else self.report.tensor_bytes


def clusters(rows: Sequence[Hardware]) -> tuple[Cluster, ...]:
    """One cluster per machine; another setting of the same machine is not another machine."""
    return tuple(Cluster(((1, row),)) for row in rows if not row.variant_of)


def survey(report: Report, machines: Sequence[Cluster]) -> Survey:
    """The places of a report that was made with these clusters, smallest memory first."""
    places = [Place(c.units[0][1], f, _largest(report, f)) for c, f in zip(machines, report.fits, strict=True)]
    return Survey(report, tuple(sorted(places, key=lambda p: (p.hardware.visible_bytes, p.hardware.id))))


def _gib(place: Place) -> float:
    return place.hardware.visible_bytes / _GIB


def _largest(report: Report, fit: Fit) -> Variant | None:
    """The largest set of the menu whose files and the chosen set's cache the server budget holds."""
    device = next(iter(fit.devices), None)
    if device is None or device.cache is None:
        return None
    room = device.usable_bytes - device.cache
    able = [v for v in report.menu if v.file_bytes is not None and v.file_bytes <= room]
    return max(able, key=lambda v: v.file_bytes or 0, default=None)
