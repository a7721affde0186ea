"""What the page of one or several reports holds, section by section; the templates only lay it out."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final

from inspector.model import Cell, Note, Report
from inspector.model.fit_model import Fit
from inspector.show import lettering, page_tables, palette, phrases, pictures, sentences, tables
from inspector.show.charts import Bar, Chart, Limit, chart, near
from inspector.show.page_tables import Sheet, sheet
from inspector.show.templating import filled
from inspector.show.treemap import Treemap, cell_shade, treemap

WIDTHS: Final = (("wide", 1080.0, 0.44), ("middle", 680.0, 0.62), ("narrow", 324.0, 1.25))
"""Each drawing is made for three widths (user units), with a treemap's height as a part of it; CSS shows one."""

_NOTES: Final = 300
_TENSORS: Final = 1000


@dataclass(frozen=True, slots=True)
class Scaled:
    """One drawing at one width."""

    name: str
    width: float
    height: float
    drawn: Treemap | Chart


@dataclass(frozen=True, slots=True)
class FitView:
    """What the page shows of one cluster."""

    fit: Fit
    lead: str
    bars: tuple[Scaled, ...]
    description: str
    legend: tuple[palette.Shade, ...]
    devices: Sheet
    parts: Sheet
    budgets: Sheet


@dataclass(frozen=True, slots=True)
class View:
    """What the page shows of one report; `id` keeps anchors apart."""

    id: str
    report: Report
    name: str
    answer: str
    legend: tuple[palette.Shade, ...]
    shades: tuple[palette.Shade, ...]
    maps: tuple[Scaled, ...]
    left_out: int
    components: Sheet
    totals: Sheet
    dtypes: Sheet
    ladder: tuple[Scaled, ...]
    ladder_words: str
    menu_bars: tuple[Scaled, ...]
    menu_beyond: tuple[str, ...]
    menu: Sheet
    fits: tuple[FitView, ...]
    cache: Sheet | None
    ledger: tuple[Sheet, ...]
    notes: tuple[Note, ...]
    more_notes: int
    tensors: Sheet | None
    cost: tuple[str, ...]
    command: str


def page(reports: Sequence[Report], commands: Sequence[str] = ()) -> str:
    """The HTML page of these reports; `commands` give each again, made of the report alone where there are none."""
    largest = max([_whole(r.cells) for r in reports], default=0)
    lines = commands or [sentences.command(r, r.fits) for r in reports]
    views = [_view(r, f"r{i}", largest, line) for i, (r, line) in enumerate(zip(reports, lines, strict=True))]
    several = len(reports) > 1
    return filled(
        "page.html.j2",
        title=" · ".join(r.repo for r in reports) or "nothing inspected",
        views=views,
        beside=_charts(pictures.beside(reports), _lines(reports)) if several else (),
        beside_words=pictures.described(pictures.beside(reports)),
        figures=sheet(tables.figures(reports, [phrases.name(r) for r in reports])) if several else None,
    )


def picture(reports: Sequence[Report]) -> str:
    """One SVG: each report's treemap on one scale, the bars of what ships, and the devices of each cluster."""
    largest = max([_whole(r.cells) for r in reports], default=0)
    blocks = []
    y = 0.0
    for i, report in enumerate(reports):
        view = _view(report, f"r{i}", largest)
        drawn = [("", view.maps[0])] if view.maps else []
        drawn += [("What ships, against what", view.ladder[0])] if view.fits and view.ladder else []
        drawn += [(_over(f), f.bars[0]) for f in view.fits if f.bars]
        placed = []
        title = y + 24
        answer = [(line, title + 20 + 18 * n) for n, line in enumerate(lettering.lines(view.answer, WIDTHS[0][1], 4))]
        y = answer[-1][1] + 16
        for over, one in drawn:
            y += 26 if over else 0
            placed.append((over, one.drawn, y))
            y += one.height + 24
        keys = lettering.spread([s.label for s in view.shades], WIDTHS[0][1])
        blocks.append((view, title, answer, placed, y, list(zip(view.shades, keys, strict=True))))
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


def _over(view: FitView) -> str:
    """What stands over the devices of a cluster in a picture."""
    fit = view.fit
    verdict = fit.verdict.replace("_", " ")
    return f"On {fit.cluster}: {verdict}; lines across: server budget, all memory shown"


def _told(view: View) -> str:
    """A report's part of a picture in words: the answer, then the bars."""
    bars = [view.ladder_words, *[f.description for f in view.fits]] if view.fits else [view.ladder_words]
    return " ".join([view.answer, *bars])


def _view(report: Report, name: str, largest: int, command: str = "") -> View:
    fits = report.fits
    maps = _maps(report, largest)
    rows = report.tensor_rows
    shown = heapq.nlargest(_TENSORS, rows, key=attrgetter("bytes")) if rows else []
    ladder = pictures.ladder(report, fits)
    colours = pictures.shades(report.cells)
    views = tuple(_fit(f, f"fits.{i}", colours) for i, f in enumerate(fits))
    legend = _legend(report.cells)
    return View(
        id=name,
        report=report,
        name=phrases.name(report),
        answer=sentences.answer(report, fits),
        legend=legend,
        shades=_used([*legend, *[s for v in views for s in v.legend]]),
        maps=maps,
        left_out=maps[0].drawn.left_out if maps and isinstance(maps[0].drawn, Treemap) else 0,
        components=page_tables.components(report),
        totals=page_tables.totals(report),
        dtypes=sheet(tables.dtypes(report)),
        ladder=_charts(ladder) if report.cells else (),
        ladder_words=pictures.described(ladder),
        menu_bars=_charts(pictures.menu(report), pictures.limits(fits)) if report.menu else (),
        menu_beyond=_beyond(report),
        menu=sheet(tables.menu(report)),
        fits=views,
        cache=page_tables.cache(fits, report.cache) if report.cache is not None else None,
        ledger=tuple(sheet(t) for t in (tables.ledger(report), tables.excluded(report), tables.claims(report))),
        notes=report.notes[:_NOTES],
        more_notes=max(len(report.notes) - _NOTES, 0),
        tensors=_tensors(len(rows), tables.tensors(shown)) if rows else None,
        cost=phrases.cost(report),
        command=command,
    )


def _tensors(count: int, table: tables.Table) -> Sheet:
    title = "Tensors, the largest first"
    return Sheet(title, table.columns, table.rows, count - len(table.rows), "--format csv or json has every one")


def _fit(fit: Fit, path: str, colours: Mapping[str, palette.Shade]) -> FitView:
    bars = pictures.devices(fit, colours)
    return FitView(
        fit=fit,
        lead=sentences.lead(fit),
        bars=_charts(bars),
        description=pictures.described(bars),
        legend=_used(s.shade for bar in bars for s in bar.shares if s.bytes > 0),
        devices=page_tables.devices(fit, path),
        parts=page_tables.parts(fit, path),
        budgets=page_tables.budgets(fit, path),
    )


def _maps(report: Report, largest: int) -> tuple[Scaled, ...]:
    """The treemap for each width; areas of several reports are on the scale of the largest."""
    whole = _whole(report.cells)
    if not whole:
        return ()
    side = math.sqrt(whole / largest)
    found = []
    for name, width, ratio in WIDTHS:
        drawn = treemap(report.cells, width * side, width * ratio * side)
        found.append(Scaled(name, width, drawn.height + 1, drawn))
    return tuple(found)


def _charts(bars: Sequence[Bar], limits: Sequence[Limit] = ()) -> tuple[Scaled, ...]:
    found = []
    drawable = near(bars, limits)
    for name, width, _ in WIDTHS if bars else ():
        drawn = chart(bars, width, drawable)
        found.append(Scaled(name, width, drawn.height, drawn))
    return tuple(found)


def _beyond(report: Report) -> tuple[str, ...]:
    """The budgets that lie too far beyond every set of the menu to be drawn."""
    wanted = pictures.limits(report.fits)
    drawn = near(pictures.menu(report), wanted)
    return tuple(x.label for x in wanted if x not in drawn) if report.menu else ()


def _lines(reports: Sequence[Report]) -> list[Limit]:
    """Budgets to draw across several reports: each cluster's once."""
    seen: dict[str, Limit] = {}
    for report in reports:
        seen |= {line.label: line for line in pictures.limits(report.fits)}
    return list(seen.values())


def _legend(cells: Sequence[Cell]) -> tuple[palette.Shade, ...]:
    """The shades that a report's drawing uses."""
    return _used(cell_shade(c) for c in cells if c.bytes)


def _used(shades: Iterable[palette.Shade]) -> tuple[palette.Shade, ...]:
    """Each shade once, in the palette's order."""
    used = set(shades)
    return tuple(s for s in palette.SHADES if s in used)


def _whole(cells: Sequence[Cell]) -> int:
    return sum(c.bytes for c in cells)
