"""Reports as CSV: one row per cell of component and precision, or per tensor where tensors were asked for.

`unknown` is a figure that could not be established; an empty field is one that there is none of.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from inspector import escape
from inspector.model import Report
from inspector.rollup import by_component

CELL_FIELDS = (
    "repo",
    "revision",
    "component",
    "precision",
    "bits",
    "storage_dtypes",
    "parameters",
    "weight_bytes",
    "overhead_bytes",
    "note",
)
TENSOR_FIELDS = (
    "repo",
    "revision",
    "file",
    "tensor",
    "dtype",
    "shape",
    "bytes",
    "component",
    "precision",
    "role",
    "note",
)


def render(reports: tuple[Report, ...], *, width: int = 80, colour: bool = False, bars: bool = True) -> str:
    """All reports in one table with a header line; `width`, `colour` and `bars` say nothing to CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    listing = any(r.tensor_rows is not None for r in reports)
    writer.writerow(TENSOR_FIELDS if listing else CELL_FIELDS)
    for report in reports:
        for row in _tensors(report) if listing else _cells(report):
            writer.writerow([escape.csv(v) if isinstance(v, str) else v for v in row])
    return out.getvalue()


def _cells(report: Report) -> Iterator[tuple[str | int | float, ...]]:
    for component, cells in by_component(report.cells):
        for c in cells:
            absent = "" if c.precision is None else "unknown"
            yield (
                report.repo,
                report.revision or "",
                component,
                c.precision or "",
                absent if c.bits is None else f"{c.bits:g}",
                " ".join(c.storage_dtypes),
                "unknown" if c.parameters is None else c.parameters,
                c.weight_bytes,
                c.overhead_bytes,
                "",
            )
    yield from _unread(report, 6)


def _unread(report: Report, gap: int) -> Iterator[tuple[str | int, ...]]:
    """A row for each thing that leaves figures out, so that a saved table is never silently smaller."""
    for fault in report.faults if report.unread else ():
        yield (report.repo, report.revision or "", "unread", *["unknown"] * gap, fault)


def _tensors(report: Report) -> Iterator[tuple[str | int, ...]]:
    for t in report.tensor_rows or ():
        shape = "x".join(map(str, t.shape))
        precision = t.precision or ""
        place = (report.repo, report.revision or "", t.file)
        yield (*place, t.name, t.dtype, shape, t.bytes, t.component, precision, t.role, "")
    yield from _unread(report, 7)
