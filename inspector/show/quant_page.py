"""The answer of `inspect quant` as text, Markdown and JSON."""

from __future__ import annotations

import json as json_module
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from inspector.escape import markdown as markdown_safe
from inspector.escape import terminal
from inspector.quant import Answer, Expectation, Line
from inspector.show import phrases
from inspector.show.columns import Column, cut, layout, wrap
from inspector.show.phrases import UNKNOWN, bits, counted
from inspector.show.tables import Table
from inspector.units import both

_SCHEMA = 1


def text(answers: Sequence[Answer], width: int = 80) -> str:
    """One block per repo in at most `width` columns."""
    return "\n\n".join("\n".join(_block(a, width)) for a in answers) + "\n"


def markdown(answers: Sequence[Answer], width: int = 80) -> str:
    """One section per repo."""
    parts = []
    for found in answers:
        lines = [f"## {markdown_safe(phrases.name(found.report))}", "", f"**{markdown_safe(_verdict(found))}**", ""]
        for table in _tables(found):
            lines += [f"### {table.title}", "", _row([c.title for c in table.columns])]
            lines += [f"|{'---|' * len(table.columns)}"]
            lines += [_row([markdown_safe(cell) for cell in row]) for row in table.rows]
            lines += [""]
        lines += [markdown_safe(_saving(found)), ""]
        parts.append("\n".join(lines))
    return "\n".join(parts)


def json(answers: Sequence[Answer], width: int = 80) -> str:
    """`{"schema_version": 1, "quant": [...]}`; unknown is null."""
    document = {"schema_version": _SCHEMA, "quant": [_document(a) for a in answers]}
    return json_module.dumps(document, indent=2, ensure_ascii=True) + "\n"


FORMS: Final[Mapping[str, Callable[[Sequence[Answer], int], str]]] = MappingProxyType(
    {"text": text, "json": json, "markdown": markdown}
)
"""The outputs of the command; only text minds the width."""


def _verdict(found: Answer) -> str:
    method = found.report.prequantised.method
    how = f" (method {method})" if method else ""
    return f"{found.report.prequantised.verdict}: {found.report.prequantised.summary}{how}"


def _saving(found: Answer) -> str:
    if found.saving is None or found.report.tensor_bytes is None:
        return found.advice
    return f"{found.advice} {both(found.saving)} of {both(found.report.tensor_bytes)}"


def _tables(found: Answer) -> list[Table]:
    components = Table(
        "By component",
        (
            Column("component"),
            Column("precision", floor=9),
            Column("bits", right=True),
            Column("bits/w", right=True),
            Column("parameters", right=True),
            Column("share", right=True),
            Column("block", floor=5, optional=True),
        ),
        tuple(_line(line) for line in found.lines),
    )
    evidence = Table(
        "Evidence",
        (Column("where", floor=16), Column("fact", floor=20)),
        tuple((e.where, e.fact) for e in found.evidence),
    )
    contradictions = Table(
        "Contradictions",
        (Column("code"), Column("what", floor=20), Column("where", floor=12)),
        tuple((n.code, n.message, n.where) for n in found.contradictions),
    )
    expected = Table(
        "Expectations",
        (Column("component"), Column("expected"), Column("found"), Column("outcome")),
        tuple((e.component, e.family, e.found or "none", e.outcome) for e in found.expectations),
    )
    return [t for t in (components, evidence, contradictions, expected) if t.rows]


def _line(line: Line) -> tuple[str, ...]:
    cell = line.cell
    return (
        cell.component,
        cell.precision or "overhead",
        UNKNOWN if cell.bits is None and cell.precision else "" if cell.bits is None else f"{cell.bits:g}",
        bits(line.bits_per_weight) if cell.precision else "",
        counted(cell.parameters),
        UNKNOWN if line.share is None else f"{100 * line.share:.1f} %",
        ", ".join(f"{r}x{c}" for r, c in cell.blocks),
    )


def _block(found: Answer, width: int) -> list[str]:
    lines = [cut(terminal(phrases.name(found.report)), width), *wrap(terminal(_verdict(found)), width, "  ")]
    for table in _tables(found):
        lines += ["", table.title]
        if table.title in ("Evidence", "Contradictions"):
            for row in table.rows:
                first, *rest = [terminal(c, 400) for c in row if c]
                lines += wrap(f"- {first}: {' '.join(rest)}" if rest else f"- {first}", width, "  ")
        else:
            rows = [[terminal(c) for c in row] for row in table.rows]
            lines += layout(table.columns, rows, width)
    return [*lines, "", *wrap(_saving(found), width, "  ")]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _document(found: Answer) -> dict[str, Any]:
    report = found.report
    return {
        "repo": report.repo,
        "revision": report.revision,
        "incomplete": report.incomplete,
        "verdict": report.prequantised.verdict,
        "method": report.prequantised.method,
        "summary": report.prequantised.summary,
        "parameters": report.parameters,
        "tensor_bytes": report.tensor_bytes,
        "bits_per_weight": report.bits_per_weight,
        "components": [
            {
                "component": line.cell.component,
                "precision": line.cell.precision,
                "bits": line.cell.bits,
                "bits_per_weight": line.bits_per_weight,
                "parameters": line.cell.parameters,
                "share": line.share,
                "bytes": line.cell.bytes,
            }
            for line in found.lines
        ],
        "evidence": [{"where": e.where, "fact": e.fact} for e in found.evidence],
        "contradictions": [{"code": n.code, "message": n.message, "where": n.where} for n in found.contradictions],
        "saving_bytes": found.saving,
        "saving": _saving(found),
        "expectations": [_expected(e) for e in found.expectations],
    }


def _expected(found: Expectation) -> dict[str, Any]:
    return {
        "component": found.component,
        "expected": found.family,
        "found": found.found,
        "outcome": found.outcome,
    }
