"""The page and the picture of one or several reports; the templates only lay them out."""

from __future__ import annotations

from collections.abc import Sequence

from inspector.model import Report
from inspector.show import lettering, phrases, pictures, sentences, tables
from inspector.show.charts import Limit
from inspector.show.page_tables import sheet
from inspector.show.templating import filled
from inspector.show.views import WIDTHS, FitView, View, charts, view, whole


def page(reports: Sequence[Report], commands: Sequence[str] = ()) -> str:
    """The HTML page of these reports; `commands` give each again, made of the report alone where there are none."""
    largest = max([whole(r.cells) for r in reports], default=0)
    lines = commands or [sentences.command(r, r.fits) for r in reports]
    views = [view(r, f"r{i}", largest, line) for i, (r, line) in enumerate(zip(reports, lines, strict=True))]
    several = len(reports) > 1
    return filled(
        "page.html.j2",
        title=" · ".join(r.repo for r in reports) or "nothing inspected",
        views=views,
        beside=charts(pictures.beside(reports), _lines(reports)) if several else (),
        beside_words=pictures.described(pictures.beside(reports)),
        figures=sheet(tables.figures(reports, [phrases.name(r) for r in reports])) if several else None,
    )


def picture(reports: Sequence[Report]) -> str:
    """One SVG: each report's treemap on one scale, the bars of what ships, and the devices of each cluster."""
    largest = max([whole(r.cells) for r in reports], default=0)
    blocks = []
    y = 0.0
    for i, report in enumerate(reports):
        shown = view(report, f"r{i}", largest)
        drawn = [("", shown.maps[0])] if shown.maps else []
        drawn += [("What ships, against what", shown.ladder[0])] if shown.fits and shown.ladder else []
        drawn += [(_over(f), f.bars[0]) for f in shown.fits if f.bars]
        placed = []
        title = y + 24
        answer = [(line, title + 20 + 18 * n) for n, line in enumerate(lettering.lines(shown.answer, WIDTHS[0][1], 4))]
        y = answer[-1][1] + 16
        for over, one in drawn:
            y += 26 if over else 0
            placed.append((over, one.drawn, y))
            y += one.height + 24
        keys = lettering.spread([s.label for s in shown.shades], WIDTHS[0][1])
        blocks.append((shown, title, answer, placed, y, list(zip(shown.shades, keys, strict=True))))
        y += 30 + max([down for _, down in keys], default=0)
    words = " ".join(_told(v) for v, *_ in blocks) or "Nothing inspected."
    return filled(
        "picture.svg.j2",
        title=" · ".join(r.repo for r in reports) or "nothing inspected",
        words=words,
        blocks=blocks,
        width=WIDTHS[0][1],
        height=max(y, 40),
    )


def _over(shown: FitView) -> str:
    """What stands over the devices of a cluster in a picture."""
    fit = shown.fit
    verdict = fit.verdict.replace("_", " ")
    fewer = "; those with the least room" if shown.roomier else ""
    return f"On {fit.cluster}: {verdict}{fewer}; lines across: server budget, all memory shown"


def _told(shown: View) -> str:
    """A report's part of a picture in words: the answer, then the bars."""
    return " ".join([shown.answer, shown.ladder_words, *[f.description for f in shown.fits]])


def _lines(reports: Sequence[Report]) -> list[Limit]:
    """Budgets to draw across several reports: each cluster's once."""
    seen: dict[str, Limit] = {}
    for report in reports:
        seen |= {line.label: line for line in pictures.limits(report.fits)}
    return list(seen.values())
