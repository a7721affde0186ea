"""Is a repo already quantised: the answer by component, what more could be saved, and expectations held against it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from inspector.errors import UsageError
from inspector.model import COMPONENTS, Cell, Evidence, Note, Report
from inspector.records import dataclass
from inspector.rollup import by_component, parameters

_FOUR_BITS: Final = 4
_CONTRADICTIONS: Final = frozenset(
    {
        "config_contradicts_headers",
        "expert_dtype_missing",
        "undeclared_quantisation",
        "declarations_differ",
        "unusable_pattern",
        "unknown_quant_method",
        "two_schemes",
        "unknown_precision",
        "orphan_scale",
        "kv_scales_missing",
        "hub_count",
    }
)
"""Codes of notes that speak about quantisation."""

Outcome = Literal["holds", "does_not_hold", "unknown"]


@dataclass(frozen=True, slots=True)
class Line:
    """One component in one precision, with its share of all known parameters (0 to 1, None if unknown)."""

    cell: Cell
    share: float | None

    @property
    def bits_per_weight(self) -> float | None:
        """8 x all bytes of the cell / parameters."""
        return 8 * self.cell.bytes / self.cell.parameters if self.cell.parameters else None


@dataclass(frozen=True, slots=True)
class Expectation:
    """`component=family`, as asked, and whether the component's main precision belongs to the family."""

    component: str
    family: str
    found: str | None
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Answer:
    """What `inspect quant` says of one report."""

    report: Report
    lines: tuple[Line, ...]
    evidence: tuple[Evidence, ...]
    contradictions: tuple[Note, ...]
    saving: int | None
    advice: str
    expectations: tuple[Expectation, ...]


def answer(report: Report, expect: str | None = None) -> Answer:
    """The answer for a report. Raises `UsageError` for an expectation that names no component."""
    cells = [cell for _, part in by_component(report.cells) for cell in part]
    whole = parameters(cells)
    lines = tuple(Line(c, c.parameters / whole if whole and c.parameters is not None else None) for c in cells)
    saving = _saving(report)
    return Answer(
        report,
        lines,
        report.prequantised.evidence,
        tuple(n for n in report.notes if n.code in _CONTRADICTIONS or n.code.startswith("declared_")),
        saving,
        _advice(report, saving),
        tuple(_expectation(word, report) for word in _words(expect)),
    )


def check(expect: str | None) -> None:
    """Raise `UsageError` for an expectation that cannot be held against any report."""
    _words(expect)


def belongs(precision: str, family: str) -> bool:
    """True where a precision is the family or one of its members: `fp4` has `fp4_e2m1`, `int4` has `uint4`."""
    wanted, name = family.strip().lower(), precision.lower()
    if name == wanted or name.partition("_")[0] == wanted or name.partition("@")[0] == wanted:
        return True
    return name.removeprefix("u") == wanted and wanted.startswith("int")


def status(found: Answer, *, exit_code: bool) -> int:
    """0 holds or quantised, 1 does not hold or not quantised, 3 unknown; 1 before 3 before 0."""
    outcomes = {e.outcome for e in found.expectations}
    statuses = {{"holds": 0, "does_not_hold": 1, "unknown": 3}[o] for o in outcomes}
    if exit_code:
        statuses.add({"yes": 0, "partly": 0, "no": 1, "unknown": 3}[found.report.prequantised.verdict])
    if found.report.incomplete:
        statuses.add(3)
    return next((s for s in (1, 3) if s in statuses), 0)


def _saving(report: Report) -> int | None:
    """Bytes that storing every weight above 4 bits in exactly 4, without any scale, would save: an upper bound."""
    if report.parameters is None:
        return None
    saved = 0
    for cell in report.cells:
        if cell.parameters and cell.bits is not None and cell.bits > _FOUR_BITS:
            saved += max(0, cell.bytes - (cell.parameters * _FOUR_BITS + 7) // 8)
    return saved


def _advice(report: Report, saving: int | None) -> str:
    if saving is None or report.tensor_bytes is None:
        return "what a further quantisation could save is unknown: some payloads are"
    if report.prequantised.verdict == "no":
        return "nothing is quantised: all weights in 4 bits would save at most"
    low = sorted({c.component for c in report.cells if c.bits is not None and c.bits <= _FOUR_BITS and c.parameters})
    if low:
        names = ", ".join(n.replace("_", " ") for n in low)
        return f"{names} already have 4 bits or fewer; re-quantising the rest to 4 bits would save at most"
    return "re-quantising everything to 4 bits would save at most"


def _words(expect: str | None) -> list[tuple[str, str]]:
    pairs = []
    for word in (expect or "").split(","):
        if not word.strip():
            continue
        component, equals, family = word.partition("=")
        component = component.strip().lower().replace("-", "_").replace(" ", "_")
        if not equals or not family.strip():
            raise UsageError("--expect", f"{word.strip()!r} is not COMPONENT=PRECISION", "As in routed_experts=fp4.")
        if component not in COMPONENTS:
            raise UsageError("--expect", f"{component!r} is no component", f"There are: {', '.join(COMPONENTS)}")
        pairs.append((component, family.strip().lower()))
    return pairs


def _expectation(word: tuple[str, str], report: Report) -> Expectation:
    component, family = word
    cells = [c for c in report.cells if c.component == component and c.precision is not None]
    main = _main(cells)
    if main is None:
        return Expectation(
            component, family, None, "unknown" if report.incomplete or not report.cells else "does_not_hold"
        )
    if main.parameters is None:
        return Expectation(component, family, "unknown", "unknown")
    holds = belongs(main.precision or "", family)
    return Expectation(component, family, main.precision, "holds" if holds else "does_not_hold")


def _main(cells: Sequence[Cell]) -> Cell | None:
    """The cell that rules a component: unknown payloads where there are any, else the most parameters."""
    return max(cells, key=lambda c: (c.parameters is None, c.parameters or 0), default=None)
