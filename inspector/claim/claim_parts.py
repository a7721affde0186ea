"""Figures of one component or one precision, off the cells of a report; and how a figure that is unknown is told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from inspector.claim.claim_model import Kind, Measure, Measured, Setting
from inspector.errors import SourceError
from inspector.model import Cell, Report
from inspector.rollup import parameters

Read = Callable[[Measured, Setting], Measure]
"""How a figure is read off a repo. Raises `SourceError` where the repo does not give it."""

PARTS: Final[Mapping[str, Kind]] = MappingProxyType(
    {
        "bytes": "bytes",
        "weight_bytes": "bytes",
        "overhead_bytes": "bytes",
        "parameters": "count",
        "tensors": "count",
        "bits_per_weight": "number",
        "precision": "word",
    }
)


def unknown(reason: str) -> SourceError:
    """The error of a figure that this repo does not give."""
    return SourceError("", reason)


def complete(report: Report) -> None:
    """Raise `SourceError` where not every header was read: sums would then be too small."""
    if report.incomplete:
        raise unknown(f"not all of it could be read: {report.faults[0]}" if report.faults else "it is incomplete")


def part(figure: str, belongs_to: Callable[[Cell], bool], what: str) -> Read:
    """A figure over the cells of a component or a precision."""

    def read(repo: Measured, setting: Setting) -> Measure:
        complete(repo.report)
        cells = [c for c in repo.report.cells if belongs_to(c)]
        if figure == "precision":
            return _precision(cells, what)
        if figure in ("parameters", "bits_per_weight"):
            count = parameters(cells)
            if count is None:
                raise unknown(f"payloads of {what} are of unknown precision")
            if figure == "parameters":
                return Fraction(count)
            if not count:
                raise unknown(f"there are no weights of {what}")
            return Fraction(8 * sum(c.bytes for c in cells), count)
        if figure == "tensors":
            return Fraction(sum(c.tensors for c in cells))
        return Fraction(sum(int(getattr(c, figure)) for c in cells))

    return read


def _precision(cells: Iterable[Cell], what: str) -> str:
    """The precision of most parameters of some cells."""
    known = [c for c in cells if c.precision is not None and (c.parameters is None or c.parameters)]
    if not known:
        raise unknown(f"there are no weights of {what}")
    main = max(known, key=lambda c: (c.parameters is None, c.parameters or 0))
    if main.parameters is None:
        raise unknown(f"payloads of {what} are of unknown precision")
    return main.precision or ""
