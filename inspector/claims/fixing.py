"""Rewrite wrong numbers where they stand: only the digits change, so comments, quotes and columns stay as they are."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

from inspector.claim.claim_amounts import written
from inspector.claim.claim_model import Amount, Cell, Document
from inspector.claim.claim_verdict import Judged
from inspector.records import dataclass

_MORE_DIGITS: Final = 12
_DELIMITED: Final = (".csv", ".tsv", ".tab")


@dataclass(frozen=True, slots=True)
class Fixed:
    """The document's new text, the verdicts whose cells were rewritten, and the others with why not."""

    text: str
    done: tuple[Judged, ...]
    left: tuple[tuple[Judged, str], ...]


def fix(document: Document, verdicts: Iterable[Judged]) -> Fixed:
    """Put the measured figure into every wrong number's cell, in its unit, with digits enough for its tolerance."""
    changes: dict[tuple[int, int], str] = {}
    done, left = [], []
    for judged in verdicts:
        if judged.outcome not in ("wrong", "drifted"):
            continue
        change = _change(document, judged)
        if isinstance(change, str):
            left.append((judged, change))
            continue
        span, text = change
        if changes.setdefault(span, text) != text:
            left.append((judged, "another claim about the same cell needs another number"))
        else:
            done.append(judged)
    out, at = [], 0
    for (start, end), text in sorted(changes.items()):
        out += [document.text[at:start], text]
        at = end
    return Fixed("".join([*out, document.text[at:]]), tuple(done), tuple(left))


def diff(document: Document, fixed: Fixed) -> str:
    """A unified diff of the change, empty where there is none."""
    old, new = document.text.splitlines(keepends=True), fixed.text.splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, document.file, document.file))


def _change(document: Document, judged: Judged) -> tuple[tuple[int, int], str] | str:
    """The span of the number with its new text, or why there is none."""
    claimed, cell = judged.claim.claimed, judged.claim.cell
    if not isinstance(claimed, Amount) or not isinstance(judged.measured, Fraction):
        return "it is no number"
    if cell is None or claimed.span is None:
        return "it is worked out of several cells"
    span = _number_span(document.text, cell, claimed)
    if span is None:
        return "where its digits stand is not known in this format"
    like = claimed
    if document.file.lower().endswith(_DELIMITED) and cell.span and document.text[cell.span[0] - 1] != '"':
        # A comma that is not quoted would begin another field.
        like = Amount(claimed.number, claimed.unit, claimed.decimals)
    text = _digits(judged, claimed, like, judged.measured)
    return "no number of digits comes within its tolerance" if text is None else (span, text)


def _number_span(text: str, cell: Cell, claimed: Amount) -> tuple[int, int] | None:
    if cell.span is None or claimed.span is None:
        return None
    start, raw = cell.span[0], text[cell.span[0] : cell.span[1]]
    if raw == cell.text:
        return start + claimed.span[0], start + claimed.span[1]
    # Markup or escapes around it: the digits must then be there exactly once.
    digits = cell.text[slice(*claimed.span)]
    if raw.count(digits) != 1:
        return None
    at = start + raw.index(digits)
    return at, at + len(digits)


def _digits(judged: Judged, claimed: Amount, like: Amount, measured: Fraction) -> str | None:
    factor = claimed.unit.factor if claimed.unit else Fraction(1)
    for decimals in range(claimed.decimals, claimed.decimals + _MORE_DIGITS):
        step = factor / 10**decimals
        value = Fraction(round(measured / step)) * step
        if abs(value - measured) <= judged.claim.tolerance.allows(measured, step):
            return written(measured, like, decimals)
    return None
