"""A tiny language for rules: `tensor_bytes_gb * 1.2`, `max(tensor_bytes, 8 GiB) + cache(8192)`. Never `eval`.

Numbers, numbers with a unit of bytes or %, names, + - * / and parentheses, `cache(tokens)`, `max`, `min`, `ceil`,
`round`. Kinds are checked when a rule is read: bytes and bare numbers do not add, except that a name such as
`tensor_bytes_gb` makes bare numbers beside it GB, and `ceil` of it whole GB.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple

from inspector.claim_amounts import unit
from inspector.claim_model import Kind, Unit
from inspector.errors import UsageError

MAX_LENGTH: Final = 500
MAX_DEPTH: Final = 32
MAX_TOKENS: Final = 1 << 40
_DIGITS: Final = 40
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>\d+(?:_\d{3})*(?:\.\d+)?|\.\d+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_@]*(?:\.[A-Za-z0-9_]+)*)"
    r"|\"(?P<quoted>[^\"\n]{1,200})\"|(?P<sign>[-+*/(),%]))",
    re.ASCII,
)
_FUNCTIONS: Final = {"cache": (1, 1), "max": (1, 16), "min": (1, 16), "ceil": (1, 1), "round": (1, 1)}
_PLACE: Final = "rule"

Figure = Callable[[str], Fraction]
"""A name's figure. Raises `SourceError` where it is unknown."""


class Named(NamedTuple):
    """What a name stands for: a quantity, what kind it is, and the unit that its suffix counts it in."""

    name: str
    kind: Kind
    scale: Unit | None = None


@dataclass(frozen=True, slots=True)
class _Term:
    """A part of a rule: an operation over terms, a number, or a name. `scale` is what bare numbers beside it mean."""

    op: str
    kind: Kind
    scale: Unit | None = None
    of: tuple[_Term, ...] = ()
    number: Fraction = Fraction(0)
    name: str = ""


@dataclass(frozen=True, slots=True)
class Expression:
    """A rule that was read. `kind` and `scale` are those of its result, `names` the quantities in it."""

    text: str
    term: _Term
    names: tuple[str, ...]

    @property
    def kind(self) -> Kind:
        """What the result is measured in."""
        return self.term.kind

    @property
    def scale(self) -> Unit | None:
        """The unit that the rule counts in, None for bytes, things or plain numbers."""
        return self.term.scale

    def evaluate(self, figure: Figure, cache: Callable[[int], Fraction]) -> Fraction:
        """The result in bytes, things or plain numbers. Raises what the callables do, and `UsageError`."""
        return _value(self.term, figure, cache)


def parse(text: str, resolve: Callable[[str], Named]) -> Expression:
    """Read a rule; `resolve` says what a name is and raises `UsageError` for one that is nothing."""
    if len(text) > MAX_LENGTH:
        raise UsageError(_PLACE, f"is {len(text):,} characters long, more than {MAX_LENGTH}", "Write a shorter rule.")
    reader = _Reader(text, resolve)
    term = reader.sum(0)
    reader.end()
    return Expression(text.strip(), term, tuple(dict.fromkeys(reader.names)))


class _Reader:
    """One pass over a rule's tokens."""

    def __init__(self, text: str, resolve: Callable[[str], Named]) -> None:
        self._text, self._resolve = text, resolve
        self._at = 0
        self.names: list[str] = []

    def sum(self, depth: int) -> _Term:
        if depth > MAX_DEPTH:
            raise UsageError(_PLACE, f"nests deeper than {MAX_DEPTH} levels", "Write a simpler rule.")
        term = self._product(depth)
        while (sign := self._sign("+", "-")) is not None:
            term = _joined(sign, term, self._product(depth))
        return term

    def end(self) -> None:
        if self._text[self._at :].strip():
            raise self._wrong("is not expected here")

    def _product(self, depth: int) -> _Term:
        term = self._factor(depth)
        while (sign := self._sign("*", "/")) is not None:
            other = self._factor(depth)
            term = _times(term, other) if sign == "*" else _over(term, other)
        return term

    def _factor(self, depth: int) -> _Term:
        negative = False
        while (sign := self._sign("+", "-")) is not None:
            negative ^= sign == "-"
        term = self._atom(depth)
        return _Term("neg", term.kind, term.scale, (term,)) if negative else term

    def _atom(self, depth: int) -> _Term:
        found = _TOKEN.match(self._text, self._at)
        if found is None:
            raise self._wrong("is not expected here")
        start, self._at = self._at, found.end()
        if found["number"] is not None:
            return self._number(found["number"])
        if found["quoted"] is not None or found["name"] is not None:
            name = found["quoted"] if found["quoted"] is not None else found["name"]
            if found["quoted"] is None and self._sign("(") is not None:
                return self._call(name, depth)
            what = self._resolve(name)
            self.names.append(what.name)
            return _Term("name", what.kind, what.scale, name=what.name)
        if found["sign"] == "(":
            term = self.sum(depth + 1)
            self._close()
            return term
        self._at = start
        raise self._wrong("is not expected here")

    def _number(self, text: str) -> _Term:
        if len(text) > _DIGITS:
            raise UsageError(_PLACE, f"has a number of {len(text)} digits, more than {_DIGITS}")
        number = Fraction(text.replace("_", ""))
        found = _TOKEN.match(self._text, self._at)
        word = (found["name"] or found["sign"] or "") if found else ""
        named = unit(word, "bytes") if found and found["name"] else None
        if found and named is not None and not self._text[found.end() :].lstrip().startswith("("):
            self._at = found.end()
            return _Term("number", "bytes", number=number * named.factor)
        if found and word == "%":
            self._at = found.end()
            return _Term("number", "number", number=number / 100)
        return _Term("number", "number", number=number)

    def _call(self, name: str, depth: int) -> _Term:
        if name not in _FUNCTIONS:
            known = ", ".join(_FUNCTIONS)
            raise UsageError(_PLACE, f"{name[:60]!r} is no function", f"There are: {known}.")
        arguments = [self.sum(depth + 1)]
        while self._sign(",") is not None:
            arguments.append(self.sum(depth + 1))
        self._close()
        least, most = _FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            raise UsageError(
                _PLACE, f"{name} takes {least if least == most else f'1 to {most}'} value, not {len(arguments)}"
            )
        if name == "cache":
            if arguments[0].kind == "bytes":
                raise UsageError(_PLACE, "cache takes tokens, not bytes", "Write it like cache(8192).")
            return _Term("cache", "bytes", None, tuple(arguments))
        if name in ("ceil", "round"):
            return _Term(name, arguments[0].kind, arguments[0].scale, tuple(arguments))
        term = arguments[0]
        for other in arguments[1:]:
            term = _joined(name, term, other)
        return term

    def _sign(self, *signs: str) -> str | None:
        found = _TOKEN.match(self._text, self._at)
        if found is None or found["sign"] not in signs:
            return None
        self._at = found.end()
        return str(found["sign"])

    def _close(self) -> None:
        if self._sign(")") is None:
            raise self._wrong("stands where ) is missing")

    def _wrong(self, what: str) -> UsageError:
        rest = self._text[self._at :].strip()
        shown = repr(rest[:20]) if rest else "the end"
        return UsageError(_PLACE, f"{self._text.strip()[:80]!r}: {shown} {what}", "Write it like tensor_bytes * 1.2.")


def _joined(op: str, a: _Term, b: _Term) -> _Term:
    """A sum, difference, maximum or minimum: both sides of one kind; a bare number takes the other side's scale."""
    if a.kind != b.kind:
        plain, other = (a, b) if a.kind == "number" else (b, a)
        if plain.kind != "number" or (other.kind == "bytes" and other.scale is None):
            message = f"{op} of {_WORDS[a.kind]} and {_WORDS[b.kind]}"
            raise UsageError(_PLACE, message, "Give the number a unit, as in 8 GB, or the name one, as in _gb.")
        scaled = _Term("scale", other.kind, other.scale, (plain,), other.scale.factor if other.scale else Fraction(1))
        a, b = (scaled, b) if plain is a else (a, scaled)
    if a.scale is not None and b.scale is not None and a.scale.factor != b.scale.factor:
        raise UsageError(_PLACE, f"{op} of {a.scale.name} and {b.scale.name}", "Use one suffix in one rule.")
    return _Term(op, a.kind, a.scale or b.scale, (a, b))


def _times(a: _Term, b: _Term) -> _Term:
    if a.kind == b.kind == "bytes":
        raise UsageError(_PLACE, "bytes times bytes is nothing that ships", "Multiply by a bare number.")
    top = max(a, b, key=lambda t: ("number", "count", "bytes").index(t.kind))
    return _Term("*", top.kind, top.scale, (a, b))


def _over(a: _Term, b: _Term) -> _Term:
    if b.kind == "bytes" and a.kind != "bytes":
        raise UsageError(_PLACE, f"{_WORDS[a.kind]} over bytes is nothing that ships", "Divide bytes by bytes.")
    if a.kind == b.kind:
        return _Term("/", "number", None, (a, b))
    return _Term("/", a.kind, a.scale, (a, b))


_WORDS: Final = {
    "bytes": "bytes",
    "count": "a count",
    "number": "a bare number",
    "yesno": "yes or no",
    "word": "a name",
}


def _value(term: _Term, figure: Figure, cache: Callable[[int], Fraction]) -> Fraction:
    if term.op == "number":
        return term.number
    if term.op == "name":
        return figure(term.name)
    values = [_value(t, figure, cache) for t in term.of]
    first = values[0]
    if term.op == "cache":
        if first.denominator != 1 or not 0 <= first <= MAX_TOKENS:
            raise UsageError(_PLACE, f"cache of {float(first):g} tokens", "Ask for a whole number of tokens.")
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
        raise UsageError(_PLACE, "divides by zero", "Write another divisor.")
    return _OPERATIONS[term.op](first, second)


_OPERATIONS: Final[dict[str, Callable[[Fraction, Fraction], Fraction]]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "max": lambda a, b: max(a, b),
    "min": lambda a, b: min(a, b),
}
