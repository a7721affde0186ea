"""Is it already quantised, in words; and where the config says otherwise than the bytes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from inspector.declared import Declaration
from inspector.model import Cell, Evidence, Note, Prequantised, Verdict

_BITS_PER_BYTE: Final = 8
_APART: Final = frozenset({"draft", "vision", "audio", "embedding", "head"})
"""Components that do not speak for the model in the one-line summary, unless they are all there is."""
_WORTH_NAMING: Final = 0.10
_MOST_EVIDENCE: Final = 12


def judge(
    cells: Sequence[Cell],
    evidence: Sequence[Evidence],
    declarations: Sequence[Declaration],
    *,
    unread: int | None = 0,
) -> Prequantised:
    """The verdict by parameters: yes (more than half below 16 bits), partly, no; unknown where it could change.

    `unread` are bytes of the checkpoint whose headers are not known (None: nobody knows how many). They, and payloads
    of unknown precision, may hold up to one weight per bit; the verdict stands only if that cannot turn it.
    """
    quantised = sum(c.parameters or 0 for c in cells if c.bits is not None and c.bits < 16)
    rest = sum(c.parameters or 0 for c in cells if c.bits is not None and c.bits >= 16)
    unclear = _BITS_PER_BYTE * (sum(c.weight_bytes for c in cells if c.parameters is None) + (unread or 0))
    verdict: Verdict
    if unread is None:
        verdict = "unknown"
    elif quantised > rest + unclear:
        verdict = "yes"
    elif quantised and quantised + unclear <= rest:
        verdict = "partly"
    elif unclear or not cells:
        verdict = "unknown"
    else:
        verdict = "no"
    found = list(evidence)
    found[:0] = [
        Evidence(d.where, f"quant_method {d.method!r}") for d in declarations if d.method is not None and d.where
    ]
    if not found and verdict == "no":
        found = [
            Evidence(
                "all headers", f"every weight is stored as {_list(_labels(cells))}, no scales, no quantisation config"
            )
        ]
    return Prequantised(
        verdict, _method(verdict, declarations), _summary(verdict, cells, unread), tuple(found[:_MOST_EVIDENCE])
    )


def contradictions(cells: Sequence[Cell], declarations: Sequence[Declaration]) -> list[Note]:
    """Notes where a config and the headers disagree; the headers win."""
    notes: list[Note] = []
    quantised = any(c.bits is not None and c.bits < 16 for c in cells)
    unclear = any(c.parameters is None for c in cells)
    for declaration in declarations:
        if declaration.method is not None and not quantised and not unclear:
            words = f"declares {declaration.method!r}, but every weight is stored as {_list(_labels(cells))}"
            notes.append(Note("config_contradicts_headers", f"{words}; the headers win", declaration.where))
        notes.extend(_experts(cells, declaration))
    if quantised and not any(d.method or d.body for d in declarations):
        words = f"no quantisation is declared, but tensors are stored as {_list(_labels(cells))}"
        notes.append(Note("undeclared_quantisation", words, declarations[0].where if declarations else ""))
    return notes


def _experts(cells: Sequence[Cell], declaration: Declaration) -> list[Note]:
    """`expert_dtype` held against the routed experts (vLLM takes a missing one as fp4, transformers as fp8)."""
    stored = [c for c in cells if c.component == "routed_experts" and c.precision and c.parameters]
    if not stored or declaration.method != "fp8":
        return []
    most = max(stored, key=lambda c: c.parameters or 0)
    precision = most.precision or ""
    if declaration.expert_dtype is None:
        if precision.startswith("fp8"):
            return []
        words = f"expert_dtype is not declared, the routed experts are stored as {precision}; readers assume either"
        return [Note("expert_dtype_missing", words, declaration.where)]
    value, where = declaration.expert_dtype
    if precision.startswith(value):
        return []
    words = f"expert_dtype says {value!r}, the routed experts are stored as {precision}; the headers win"
    return [Note("config_contradicts_headers", words, where)]


def _method(verdict: Verdict, declarations: Sequence[Declaration]) -> str | None:
    if verdict == "no":
        return None
    return next((d.method for d in declarations if d.method is not None), None)


def _summary(verdict: Verdict, cells: Sequence[Cell], unread: int | None) -> str:
    if verdict == "unknown" and unread != 0:
        return "unknown: not all headers could be read"
    if verdict == "unknown":
        return "unknown: payloads of unknown precision" if cells else "unknown: no tensors"
    if verdict == "no":
        return f"not quantised: {_list(_labels(cells))}"
    experts = _labels(c for c in cells if c.component == "routed_experts")
    main = [c for c in cells if c.component not in _APART] or list(cells)
    dense = _labels(c for c in main if c.component != "routed_experts")
    if experts and dense:
        same = dense == experts
        words = (
            f"{_list(dense)}, routed experts too" if same else f"{_list(dense)} dense, {_list(experts)} routed experts"
        )
    else:
        words = _list(experts or dense or _labels(cells))
    return f"{'already' if verdict == 'yes' else 'partly'} quantised: {words}"


def _labels(cells: Iterable[Cell]) -> list[str]:
    """Precisions that hold a tenth of these parameters, largest share first."""
    counts: dict[str, int] = {}
    for cell in cells:
        if cell.precision is not None and cell.parameters:
            counts[cell.precision] = counts.get(cell.precision, 0) + cell.parameters
    total = sum(counts.values())
    named = [(n, p) for n, p in counts.items() if p >= _WORTH_NAMING * total]
    return [_label(n) for n, _ in sorted(named, key=lambda item: -item[1])]


def _label(precision: str) -> str:
    """`fp8_e4m3` -> `FP8`, `int4` -> `INT4`; other names as they are, in capitals."""
    head = precision.partition("_")[0]
    return (head if head.startswith(("fp", "int", "uint", "bf", "f")) else precision).upper()


def _list(labels: Sequence[str]) -> str:
    return " + ".join(labels) if labels else "nothing"
