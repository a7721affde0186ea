"""The terms of a rule: what kinds may meet, and the exact arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from inspector.claim.claim_model import Kind, Unit
from inspector.errors import UsageError
from inspector.records import dataclass

MAX_TOKENS: Final = 1 << 40
PLACE: Final = "rule"

Figure = Callable[[str], Fraction]
"""A name's figure. Raises `SourceError` where it is unknown."""


@dataclass(frozen=True, slots=True)
class Term:
    """A part of a rule: an operation over terms, a number, or a name. `scale` is what bare numbers beside it mean."""

    op: str
    kind: Kind
    scale: Unit | None = None
    of: tuple[Term, ...] = ()
    number: Fraction = Fraction(0)
    name: str = ""


def joined(op: str, a: Term, b: Term) -> Term:
    """A sum, difference, maximum or minimum: both sides of one kind; a bare number takes the other side's scale."""
    if a.kind != b.kind:
        plain, other = (a, b) if a.kind == "number" else (b, a)
        if plain.kind != "number" or (other.kind == "bytes" and other.scale is None):
            message = f"{op} of {_WORDS[a.kind]} and {_WORDS[b.kind]}"
            raise UsageError(PLACE, message, "Give the number a unit, as in 8 GB, or the name one, as in _gb.")
        scaled = Term("scale", other.kind, other.scale, (plain,), other.scale.factor if other.scale else Fraction(1))
        a, b = (scaled, b) if plain is a else (a, scaled)
    if a.scale is not None and b.scale is not None and a.scale.factor != b.scale.factor:
        raise UsageError(PLACE, f"{op} of {a.scale.name} and {b.scale.name}", "Use one suffix in one rule.")
    return Term(op, a.kind, a.scale or b.scale, (a, b))


def times(a: Term, b: Term) -> Term:
    """A product: bytes times a number are bytes. Raises `UsageError` for bytes times bytes."""
    if a.kind == b.kind == "bytes":
        raise UsageError(PLACE, "bytes times bytes is nothing that ships", "Multiply by a bare number.")
    top = max(a, b, key=lambda t: ("number", "count", "bytes").index(t.kind))
    return Term("*", top.kind, top.scale, (a, b))


def over(a: Term, b: Term) -> Term:
    """A quotient: bytes over bytes are a number. Raises `UsageError` for a number over bytes."""
    if b.kind == "bytes" and a.kind != "bytes":
        raise UsageError(PLACE, f"{_WORDS[a.kind]} over bytes is nothing that ships", "Divide bytes by bytes.")
    if a.kind == b.kind:
        return Term("/", "number", None, (a, b))
    return Term("/", a.kind, a.scale, (a, b))


_WORDS: Final = {
    "bytes": "bytes",
    "count": "a count",
    "number": "a bare number",
    "yesno": "yes or no",
    "word": "a name",
}


def value(term: Term, figure: Figure, cache: Callable[[int], Fraction]) -> Fraction:
    """A term worked out. Raises what the callables do, and `UsageError` for a division by zero."""
    if term.op == "number":
        return term.number
    if term.op == "name":
        return figure(term.name)
    values = [value(t, figure, cache) for t in term.of]
    first = values[0]
    if term.op == "cache":
        if first.denominator != 1 or not 0 <= first <= MAX_TOKENS:
            raise UsageError(PLACE, f"cache of {float(first):g} tokens", "Ask for a whole number of tokens.")
        return cache(int(first))
    if term.op in ("ceil", "round"):
        step = term.scale.factor if term.scale else Fraction(1)
        return (math.ceil(first / step) if term.op == "ceil" else math.floor(first / step + Fraction(1, 2))) * step
    if term.op == "scale":
        return first * term.number
    if term.op == "neg":
        return -first
    second = values[1]
    if term.op == "/" and second == 0:
        raise UsageError(PLACE, "divides by zero", "Write another divisor.")
    return _OPERATIONS[term.op](first, second)


_OPERATIONS: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "max": lambda a, b: max(a, b),
    "min": lambda a, b: min(a, b),
}
