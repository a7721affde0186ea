"""A checked table as one HTML page: every row with its verdict, the difference as a bar, and the reason."""

from __future__ import annotations

from typing import Final

from inspector.claim.claim_verdict import OUTCOMES, Judged, Verdicts
from inspector.show import palette
from inspector.show.columns import Column
from inspector.show.page_tables import Entry, Figure, Key, Off, Sheet
from inspector.show.phrases import many
from inspector.show.templating import filled
from inspector.show.verdict_words import quantity, remarks, repo, share, tally, value
from inspector.units import gb

_MOST: Final = 3000
_HALF: Final = 60.0
_SHADES: Final = {
    "ok": "free",
    "wrong": "over",
    "drifted": "copies",
    "unverifiable": palette.UNKNOWN.name,
    "malformed": palette.OVERHEAD.name,
}


def html_verdicts(verdicts: Verdicts) -> str:
    """The page of all verdicts, those that are not ok first."""
    # Sorting is stable: rows of one kind stay in the table's order.
    ordered = sorted(verdicts.judged, key=lambda one: one.outcome == "ok")
    rows = tuple(_row(one) for one in ordered[:_MOST])
    columns = (
        Column("place"),
        Column("verdict"),
        Column("repo"),
        Column("quantity"),
        Column("claimed", right=True),
        Column("measured", right=True),
        Column("off by", right=True),
        Column("reason"),
    )
    cost = verdicts.cost
    return filled(
        "verdicts.html.j2",
        title=tally(verdicts),
        remarks=remarks(verdicts),
        outcomes=[(o, verdicts.summary[o], _SHADES[o]) for o in OUTCOMES if verdicts.summary[o]],
        sheet=Sheet("Every claim", columns, rows, len(ordered) - len(rows), "--format json has them all"),
        cost=f"{many(cost.repos, 'repo')} read · {many(cost.requests, 'request')} · {gb(cost.bytes_fetched)} fetched",
        legend=(palette.UNDER, palette.OVER),
    )


def _row(one: Judged) -> tuple[Entry, ...]:
    kind = one.claim.kind
    relative = None if one.relative is None else float(one.relative)
    return (
        str(one.claim.place),
        Key(one.outcome, _SHADES[one.outcome]),
        repo(one),
        quantity(one),
        value(kind, one.claimed) or one.claim.said.strip()[:80],
        value(kind, one.measured),
        "" if one.relative is None else _off(Figure(share(one.relative), relative), float(one.relative)),
        one.reason or ", ".join(one.notes) or _unexplained(one),
    )


def _unexplained(one: Judged) -> str:
    """What a wrong row says whose mistake arithmetic does not prove."""
    if one.outcome != "wrong":
        return ""
    return "the headers say otherwise" if one.relative is None else "no known mistake explains the difference"


def _off(figure: Figure, relative: float) -> Off | Figure:
    if not relative:
        return figure
    width = min(abs(relative), 1.0) * _HALF
    words = f"{abs(relative):.3g} of the measured figure too {'much' if relative > 0 else 'little'}"
    shade = palette.OVER if relative > 0 else palette.UNDER
    return Off(figure, words, _HALF if relative > 0 else _HALF - width, width, shade.name)
