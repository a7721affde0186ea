"""Reports as GitHub Markdown: the same phrases and tables as text, for an issue or a model card."""

from __future__ import annotations

from itertools import groupby

from inspector.escape import markdown
from inspector.model import Report
from inspector.noting import SHOWN, few
from inspector.show import fit_tables, key_table, phrases, tables
from inspector.show.tables import Table


def render(reports: tuple[Report, ...], *, width: int = 80, colour: bool = False, bars: bool = True) -> str:
    """All reports, several first side by side; `width`, `colour` and `bars` say nothing to Markdown."""
    blocks = []
    if len(reports) > 1:
        blocks += _table(tables.figures(reports, [phrases.name(r) for r in reports]), level=2)
    for report in reports:
        blocks += _report(report)
    return "\n\n".join(blocks) + "\n" if blocks else ""


def _report(report: Report) -> list[str]:
    blocks = []
    for kind, parts in phrases.headline(report):
        text = " · ".join(map(markdown, parts))
        if text:
            blocks.append({"title": f"## {text}", "alarm": f"**{text}**"}.get(kind, text))
    for section in fit_tables.sections(report):
        blocks += _table(Table(section.title, section.columns, section.rows))
        blocks.append("\n".join(f"- {markdown(p)}" for p in section.phrases))
    for table in tables.tables(report):
        blocks += _table(table)
    notes = []
    for note in few(report.notes, SHOWN):
        where = f" ({markdown(note.where)})" if note.where else ""
        notes.append(f"- **{markdown(note.code)}**: {markdown(note.message)}{where}")
    if notes:
        blocks += ["### Notes", "\n".join(notes)]
    blocks.append("Cost: " + " · ".join(map(markdown, phrases.cost(report))))
    for file, values in (report.metadata or {}).items():
        blocks += _table(key_table.metadata(file, values))
    for _, rows in groupby(report.tensor_rows or (), key=lambda row: row.file):
        blocks += _table(tables.tensors(list(rows)))
    return blocks


def _table(table: Table, level: int = 3) -> list[str]:
    lines = [
        _row([c.title for c in table.columns]),
        "|" + "|".join("---:" if c.right else "---" for c in table.columns) + "|",
        *map(_row, table.rows),
    ]
    return [f"{'#' * level} {markdown(table.title)}", "\n".join(lines)]


def _row(cells: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(map(markdown, cells)) + " |"
