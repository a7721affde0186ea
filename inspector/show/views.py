"""What a page shows of one report and of one cluster: tables, drawings at each width, words."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from inspector.model import Cell, Note, Report
from inspector.model.fit_model import Fit
from inspector.records import dataclass
from inspector.show import page_tables, palette, phrases, pictures, sentences, tables
from inspector.show.charts import Bar, Chart, Limit, chart, near
from inspector.show.page_tables import Sheet, sheet
from inspector.show.treemap import Treemap, cell_shade, treemap

WIDTHS: Final = (("wide", 1080.0, 0.44), ("middle", 680.0, 0.62), ("narrow", 324.0, 1.25))
"""Each drawing is made for three widths (user units), with a treemap's height as a part of it; CSS shows one."""

_BARS: Final = 16
"""Bars of one cluster; devices with more room than these stand in its table alone."""
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
    roomier: int
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


def view(report: Report, name: str, largest: int, command: str = "") -> View:
    """What is shown of a report; `name` begins its anchors, `largest` is the bytes of the largest treemap beside it."""
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
        ladder=charts(ladder) if report.cells else (),
        ladder_words=pictures.described(ladder),
        menu_bars=charts(pictures.menu(report), pictures.limits(fits)) if report.menu else (),
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
    found = pictures.runs(fit, colours)
    shown = pictures.fullest(found, _BARS)
    bars = [run.bar for run in shown]
    return FitView(
        fit=fit,
        lead=sentences.lead(fit),
        bars=charts(bars),
        description=pictures.described(bars),
        legend=_used(s.shade for bar in bars for s in bar.shares if s.bytes > 0),
        roomier=len(found) - len(shown),
        devices=page_tables.devices(fit, path, found),
        parts=page_tables.parts(fit, path, found),
        budgets=page_tables.budgets(fit, path),
    )


def _maps(report: Report, largest: int) -> tuple[Scaled, ...]:
    """The treemap for each width; areas of several reports are on the scale of the largest."""
    size = whole(report.cells)
    if not size:
        return ()
    side = math.sqrt(size / largest)
    found = []
    for name, width, ratio in WIDTHS:
        drawn = treemap(report.cells, width * side, width * ratio * side)
        found.append(Scaled(name, width, drawn.height + 1, drawn))
    return tuple(found)


def charts(bars: Sequence[Bar], limits: Sequence[Limit] = ()) -> tuple[Scaled, ...]:
    """Bars on one scale at each width, with those lines across that do not make them tiny."""
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


def _legend(cells: Sequence[Cell]) -> tuple[palette.Shade, ...]:
    """The shades that a report's drawing uses."""
    return _used(cell_shade(c) for c in cells if c.bytes)


def _used(shades: Iterable[palette.Shade]) -> tuple[palette.Shade, ...]:
    """Each shade once, in the palette's order."""
    used = set(shades)
    return tuple(s for s in palette.SHADES if s in used)


def whole(cells: Sequence[Cell]) -> int:
    """All bytes of the cells."""
    return sum(c.bytes for c in cells)
