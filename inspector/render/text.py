"""Reports for a person at a terminal: the answer first, then tables, ledger, notes and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from inspector.escape import terminal
from inspector.model import Note, Report
from inspector.noting import SHOWN, few
from inspector.show import fit_tables, key_table, phrases, proportions, tables
from inspector.show.columns import cut, fitting, join, layout, measure, wrap
from inspector.show.fit_tables import Section
from inspector.show.tables import Table

if TYPE_CHECKING:
    from inspector.model.fit_model import Fit

_LONGEST = 600
"""Characters of one phrase or note: beyond that it is a repo's text that runs away, and its middle is cut."""

Paint = Callable[[str, str], str]

_STYLES = {"title": "1", "alarm": "1;31", "answer": "1", "detail": "2", "heading": "4", "note": "33", "": ""}
"""SGR codes by what a line is; the words alone say the same."""


def render(reports: tuple[Report, ...], *, width: int = 80, colour: bool = False, bars: bool = True) -> str:
    """All reports in at most `width` terminal columns: one in full, several side by side where they fit.

    `bars` adds proportions and fit gauges drawn with characters, which no screen reader can make sense of.
    """
    width = max(width, 20)
    paint: Paint = _painted if colour else _plain
    blocks = _beside(reports, width, paint, bars=bars) if len(reports) > 1 else None
    if blocks is None:
        blocks = [block for report in reports for block in _single(report, width, paint, bars=bars)]
    return "\n\n".join("\n".join(block) for block in blocks if block) + "\n" if blocks else ""


def _single(report: Report, width: int, paint: Paint, *, bars: bool) -> list[list[str]]:
    blocks = [_headline(report, width, paint)]
    if bars:
        blocks += _drawn(report, width, paint)
    blocks += [_section(section, width, paint) for section in fit_tables.sections(report)]
    blocks += [_table(table, width, paint) for table in tables.tables(report)]
    blocks.append(_notes(report.notes, width, paint))
    blocks.append(_cost(report, width, paint))
    return [*blocks, *_metadata(report, width, paint), *_tensors(report, width, paint)]


def _drawn(report: Report, width: int, paint: Paint) -> list[list[str]]:
    """Where the bytes are, and how full each cluster is."""
    shares = proportions.bars(report.cells, width)
    blocks = [[paint(cut("Where the bytes are", width), "heading"), *shares]] if shares else []
    return [*blocks, *_gauges([("", f) for f in report.fits], width, paint)]


def _gauges(fits: Sequence[tuple[str, Fit]], width: int, paint: Paint) -> list[list[str]]:
    full = proportions.gauges([f for _, f in fits], width, [mark for mark, _ in fits])
    return [[paint(cut("The fullest device of each cluster", width), "heading"), *full]] if full else []


def _beside(reports: tuple[Report, ...], width: int, paint: Paint, *, bars: bool) -> list[list[str]] | None:
    """The reports as columns, None where these do not fit."""
    marks = [f"[{i}]" for i in range(1, len(reports) + 1)]
    table = _escaped(tables.figures(reports, [f"{m} {r.repo}" for m, r in zip(marks, reports, strict=True)]))
    shown = fitting(table.columns, table.rows, width)
    # A repo's name may be cut, since it stands in full above; a figure may not.
    if shown is None or any(size < _widest(table, i) for i, size in shown):
        return None
    blocks = []
    for mark, report in zip(marks, reports, strict=True):
        blocks.append(_headline(report, width, paint, mark + " "))
    if bars:
        fits = [(f"{mark} ", f) for mark, report in zip(marks, reports, strict=True) for f in report.fits]
        blocks += _gauges(fits, width, paint)
    blocks.append(_table(table, width, paint, escaped=True))
    for mark, report in zip(marks, reports, strict=True):
        if report.menu:
            choice = tables.menu(report)
            blocks.append(_table(choice._replace(title=f"{mark} {choice.title}"), width, paint))
    for mark, report in zip(marks, reports, strict=True):
        blocks.append(_notes(report.notes, width, paint, mark + " "))
    blocks.append([line for m, r in zip(marks, reports, strict=True) for line in _cost(r, width, paint, m + " ")])
    for mark, report in zip(marks, reports, strict=True):
        blocks += _metadata(report, width, paint, mark + " ")
        blocks += _tensors(report, width, paint, mark + " ")
    return blocks


def _widest(table: Table, column: int) -> int:
    return max(measure(row[column]) for row in table.rows)


def _headline(report: Report, width: int, paint: Paint, mark: str = "") -> list[str]:
    lines = []
    for kind, parts in phrases.headline(report):
        safe = [terminal(p, width if kind == "detail" else _LONGEST) for p in parts]
        if kind == "title":
            lines.append(paint(cut(mark + safe[0], width), kind))
        elif safe:
            lines += [paint(line, kind) for line in join(safe, width, "  ")]
    return lines


def _table(table: Table, width: int, paint: Paint, *, escaped: bool = False) -> list[str]:
    safe = table if escaped else _escaped(table)
    lines = layout(safe.columns, safe.rows, width)
    return [paint(cut(safe.title, width), "heading"), *lines]


def _section(section: Section, width: int, paint: Paint) -> list[str]:
    """A titled table with its phrases: above it where it has a title of an answer, below it where it has rows."""
    head, *lines = _table(Table(section.title, section.columns, section.rows), width, paint)
    phrases = [line for p in section.phrases for line in wrap(f"- {terminal(p, _LONGEST)}", width, "  ")]
    return [head, *lines, *phrases]


def _escaped(table: Table) -> Table:
    columns = tuple(c._replace(title=terminal(c.title)) for c in table.columns)
    rows = tuple(tuple([terminal(cell) for cell in row]) for row in table.rows)
    return Table(terminal(table.title), columns, rows)


def _notes(notes: Iterable[Note], width: int, paint: Paint, mark: str = "") -> list[str]:
    lines = []
    for note in few(notes, SHOWN):
        where = f" ({terminal(note.where, 2 * width)})" if note.where else ""
        text = f"{mark}note {terminal(note.code, width)}: {terminal(note.message, _LONGEST)}{where}"
        lines += [paint(line, "note") for line in wrap(text, width, "  ")]
    return lines


def _cost(report: Report, width: int, paint: Paint, mark: str = "") -> list[str]:
    first, *rest = [terminal(p, width) for p in phrases.cost(report)]
    return [paint(line, "detail") for line in join([f"{mark}cost: {first}", *rest], width, "  ")]


def _metadata(report: Report, width: int, paint: Paint, mark: str = "") -> list[list[str]]:
    found = [key_table.metadata(file, values) for file, values in (report.metadata or {}).items()]
    return [_table(t._replace(title=mark + t.title), width, paint) for t in found]


def _tensors(report: Report, width: int, paint: Paint, mark: str = "") -> list[list[str]]:
    if report.tensor_rows is None:
        return []
    if not report.tensor_rows:
        return [[paint(cut(f"{mark}no tensor to list in {terminal(report.repo)}", width), "heading")]]
    by_file = groupby(report.tensor_rows, key=lambda row: row.file)
    listings = [tables.tensors(list(rows)) for _, rows in by_file]
    return [_table(t._replace(title=mark + t.title), width, paint) for t in listings]


def _plain(line: str, kind: str) -> str:
    return line


def _painted(line: str, kind: str) -> str:
    return f"\x1b[{_STYLES[kind]}m{line}\x1b[0m" if line else line
