"""The answer of `inspect fit` as text and JSON."""

from __future__ import annotations

from typing import Any

from inspector.escape import terminal
from inspector.fitting.survey import Place, Survey
from inspector.show import phrases
from inspector.show.columns import Column, cut, layout, wrap
from inspector.show.fit_tables import WORDS
from inspector.units import both, gib


def text(found: Survey, width: int, *, everything: bool = False) -> str:
    """The count, tiers, the smallest machine, and the machines themselves (`everything`: nominal ones too)."""
    hold, all_of = found.count(nominal=False)
    nominal_hold, nominal = found.count(nominal=True)
    lines = [cut(terminal(phrases.name(found.report)), width)]
    for sentence in (
        f"fits {hold} of {all_of} machines with a driver's figure; by marketed size, {nominal_hold} of {nominal} more",
        _smallest(found),
        _floor(found),
    ):
        lines += wrap(terminal(sentence), width, "  ")
    lines += ["", "By visible memory (one machine)"]
    tiers = [(f"up to {t.gib} GiB" if t.gib else "more", f"{t.hold} of {t.machines}") for t in found.tiers]
    lines += layout((Column("memory", right=True), Column("hold it", right=True)), tiers, width)
    shown = [p for p in found.places if everything or not p.hardware.nominal]
    columns = [
        Column("machine", floor=14),
        Column("memory", right=True),
        Column("answer"),
        Column("context", right=True),
    ]
    menu = bool(found.report.menu)
    if menu:
        columns.append(Column("largest set", floor=10))
    columns.append(Column("figure", optional=True))
    rows = [[terminal(c) for c in _row(p, menu=menu)] for p in shown]
    lines += ["", "Machines, smallest first", *layout(columns, rows, width)]
    return "\n".join(lines) + "\n"


def document(found: Survey) -> dict[str, Any]:
    """`{"schema_version": 1, "fit": {...}}`."""
    hold, all_of = found.count(nominal=False)
    nominal_hold, nominal = found.count(nominal=True)
    smallest = found.smallest
    return {
        "schema_version": 1,
        "fit": {
            "repo": found.report.repo,
            "revision": found.report.revision,
            "variant": found.report.variant,
            "tensor_bytes": found.report.tensor_bytes,
            "floor_bytes": found.floor,
            "incomplete": found.report.incomplete,
            "fits": hold,
            "of": all_of,
            "nominal_fits": nominal_hold,
            "nominal_of": nominal,
            "smallest": smallest.hardware.id if smallest else None,
            "tiers": [{"gib": t.gib, "machines": t.machines, "hold": t.hold} for t in found.tiers],
            "machines": [
                {
                    "id": p.hardware.id,
                    "visible_bytes": p.hardware.visible_bytes,
                    "nominal": p.hardware.nominal,
                    "verdict": p.fit.verdict,
                    "max_context": p.fit.max_context,
                    "largest_variant": p.variant.name if p.variant else None,
                }
                for p in found.places
            ],
        },
    }


def _smallest(found: Survey) -> str:
    place = found.smallest
    if place is None:
        return "no single machine known here by its driver holds it (--cluster asks about several)"
    return (
        f"smallest that holds it: {place.hardware.id} ({gib(place.hardware.visible_bytes)} visible), {_context(place)}"
    )


def _floor(found: Survey) -> str:
    if found.floor is None:
        return "what the smallest build here takes is unknown"
    return f"no build below {both(found.floor)} is in this repo"


def _context(place: Place) -> str:
    name = "server" if place.fit.verdict == "fits" else "tight"
    limit = place.fit.budget(name).max_context
    return "context unknown" if limit is None else f"up to {limit:,} tokens"


def _row(place: Place, *, menu: bool) -> list[str]:
    limit = place.fit.budget("server" if place.fit.verdict == "fits" else "tight").max_context
    cells = [
        place.hardware.id,
        gib(place.hardware.visible_bytes),
        WORDS[place.fit.verdict],
        "unknown" if limit is None else f"{limit:,}",
    ]
    if menu:
        cells.append(place.variant.name if place.variant else "none")
    return [*cells, "marketed" if place.hardware.nominal else "driver"]
