"""The other direction: a table of figures that are true, for repos and quantities, or for a mapping's columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from inspector.claim.claim_amounts import unit, written
from inspector.claim.claim_build import said_of
from inspector.claim.claim_mapping import Column, Layout
from inspector.claim.claim_model import Amount, Claim, Kind, Measure, Measured, Place, Setting, Subject, Unit
from inspector.claim.claim_quantities import quantity
from inspector.errors import InspectorError
from inspector.records import dataclass

COLUMNS: Final = (
    *("files", "tensors", "file_bytes", "tensor_bytes", "parameters", "bits_per_weight"),
    "prequantised",
)
"""What a table holds where no mapping says."""
UNKNOWN: Final = "unknown"


@dataclass(frozen=True, slots=True)
class Truth:
    """Column names and, per repo, its figures as written; `faults` says what could not be established."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    faults: tuple[str, ...]


def plain_columns(names: Iterable[str]) -> tuple[Column, ...]:
    """Columns named as quantities, bytes in B. Raises `UsageError` for a name that is none."""
    return tuple(Column(n, quantity=n, unit="B" if quantity(n).kind == "bytes" else "") for n in names)


def mapped_columns(layouts: Sequence[Layout]) -> tuple[Column, ...]:
    """The columns of a mapping that hold one figure per repo, each once."""
    return tuple({c.name: c for x in layouts for c in x.columns if not c.repo and c.value is None}.values())


def table(
    repos: Sequence[tuple[str, Subject]],
    columns: Sequence[Column],
    found: Mapping[Subject, Measured | InspectorError],
    measure: Callable[[Claim, Measured], Measure],
) -> Truth:
    """One row per repo: its name as shown, the commit, and each column's figure."""
    rows, faults = [], []
    for shown, subject in repos:
        repo = found[subject]
        if isinstance(repo, InspectorError):
            faults.append(f"{shown}: {said_of(repo)}")
            rows.append((shown, "", *(UNKNOWN for _ in columns)))
            continue
        cells = []
        for column in columns:
            try:
                cells.append(_written(column, measure(_claim(column, subject), repo)))
            except InspectorError as error:
                faults.append(f"{shown} {column.name}: {said_of(error)}")
                cells.append(UNKNOWN)
        rows.append((shown, repo.report.revision or "", *cells))
    return Truth(("repo", "revision", *(c.name for c in columns)), tuple(rows), tuple(faults))


def _claim(column: Column, subject: Subject) -> Claim:
    tokens = int(column.context) if re.fullmatch(r"\d{1,13}", column.context, re.ASCII) else None
    setting = Setting(tokens, column.kv_dtype or None, column.cluster or None)
    name = column.rule.text if column.rule is not None else column.quantity
    return Claim(Place(""), subject, name, "", kind=_kind(column), rule=column.rule, setting=setting)


def _kind(column: Column) -> Kind:
    return column.rule.kind if column.rule is not None else quantity(column.quantity).kind


_DIGITS: Final[Mapping[Kind, int]] = MappingProxyType({"number": 3, "count": 0, "bytes": 2})


def _written(column: Column, value: Measure) -> str:
    """A figure in the column's unit: whole bytes and counts in full, others to two or three digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, Fraction):
        return value
    kind = _kind(column)
    scale = column.rule.scale if column.rule is not None else None
    named: Unit | None = unit(column.unit, kind) if column.unit else scale
    scaled = value / (named.factor if named else 1)
    decimals = 0 if scaled.denominator == 1 else 2 if named and named.factor > 1 else _DIGITS.get(kind, 3)
    return written(value, Amount(Fraction(0), named), decimals)
