"""A tiny language for rules: `tensor_bytes_gb * 1.2`, `max(tensor_bytes, 8 GiB) + cache(8192)`. Never `eval`.

Numbers, numbers with a unit of bytes or %, names, + - * / and parentheses, `cache(tokens)`, `max`, `min`, `ceil`,
`round`. Kinds are checked when a rule is read: bytes and bare numbers do not add, except that a name such as
`tensor_bytes_gb` makes bare numbers beside it GB, and `ceil` of it whole GB.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

from inspector.claim.claim_amounts import unit
from inspector.claim.claim_model import Kind, Unit
from inspector.claim.claim_terms import PLACE, Figure, Term, joined, over, times, value
from inspector.errors import UsageError
from inspector.records import dataclass

MAX_LENGTH: Final = 500
MAX_DEPTH: Final = 32
_DIGITS: Final = 40
_TOKEN: Final = re.compile(
    r"\s*(?:(?P<number>\d+(?:_\d{3})*(?:\.\d+)?|\.\d+)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_@]*(?:\.[A-Za-z0-9_]+)*)"
    r"|\"(?P<quoted>[^\"\n]{1,200})\"|(?P<sign>[-+*/(),%]))",
    re.ASCII,
)
_FUNCTIONS: Final = {"cache": (1, 1), "max": (1, 16), "min": (1, 16), "ceil": (1, 1), "round": (1, 1)}


class Named(NamedTuple):
    """What a name stands for: a quantity, what kind it is, and the unit that its suffix counts it in."""

    name: str
    kind: Kind
    scale: Unit | None = None


@dataclass(frozen=True, slots=True)
class Expression:
    """A rule that was read. `kind` and `scale` are those of its result, `names` the quantities in it."""

    text: str
    term: Term
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
        return value(self.term, figure, cache)


def parse(text: str, resolve: Callable[[str], Named]) -> Expression:
    """Read a rule; `resolve` says what a name is and raises `UsageError` for one that is nothing."""
    if len(text) > MAX_LENGTH:
        raise UsageError(PLACE, f"is {len(text):,} characters long, more than {MAX_LENGTH}", "Write a shorter rule.")
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

    def sum(self, depth: int) -> Term:
        if depth > MAX_DEPTH:
            raise UsageError(PLACE, f"nests deeper than {MAX_DEPTH} levels", "Write a simpler rule.")
        term = self._product(depth)
        while (sign := self._sign("+", "-")) is not None:
            term = joined(sign, term, self._product(depth))
        return term

    def end(self) -> None:
        if self._text[self._at :].strip():
            raise self._wrong("is not expected here")

    def _product(self, depth: int) -> Term:
        term = self._factor(depth)
        while (sign := self._sign("*", "/")) is not None:
            other = self._factor(depth)
            term = times(term, other) if sign == "*" else over(term, other)
        return term

    def _factor(self, depth: int) -> Term:
        negative = False
        while (sign := self._sign("+", "-")) is not None:
            negative ^= sign == "-"
        term = self._atom(depth)
        return Term("neg", term.kind, term.scale, (term,)) if negative else term

    def _atom(self, depth: int) -> Term:
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
            return Term("name", what.kind, what.scale, name=what.name)
        if found["sign"] == "(":
            term = self.sum(depth + 1)
            self._close()
            return term
        self._at = start
        raise self._wrong("is not expected here")

    def _number(self, text: str) -> Term:
        if len(text) > _DIGITS:
            raise UsageError(PLACE, f"has a number of {len(text)} digits, more than {_DIGITS}")
        number = Fraction(text.replace("_", ""))
        found = _TOKEN.match(self._text, self._at)
        word = (found["name"] or found["sign"] or "") if found else ""
        named = unit(word, "bytes") if found and found["name"] else None
        if found and named is not None and not self._text[found.end() :].lstrip().startswith("("):
            self._at = found.end()
            return Term("number", "bytes", number=number * named.factor)
        if found and word == "%":
            self._at = found.end()
            return Term("number", "number", number=number / 100)
        return Term("number", "number", number=number)

    def _call(self, name: str, depth: int) -> Term:
        if name not in _FUNCTIONS:
            known = ", ".join(_FUNCTIONS)
            raise UsageError(PLACE, f"{name[:60]!r} is no function", f"There are: {known}.")
        arguments = [self.sum(depth + 1)]
        while self._sign(",") is not None:
            arguments.append(self.sum(depth + 1))
        self._close()
        least, most = _FUNCTIONS[name]
        if not least <= len(arguments) <= most:
            raise UsageError(
                PLACE, f"{name} takes {least if least == most else f'1 to {most}'} value, not {len(arguments)}"
            )
        if name == "cache":
            if arguments[0].kind == "bytes":
                raise UsageError(PLACE, "cache takes tokens, not bytes", "Write it like cache(8192).")
            return Term("cache", "bytes", None, tuple(arguments))
        if name in ("ceil", "round"):
            return Term(name, arguments[0].kind, arguments[0].scale, tuple(arguments))
        term = arguments[0]
        for other in arguments[1:]:
            term = joined(name, term, other)
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
        return UsageError(PLACE, f"{self._text.strip()[:80]!r}: {shown} {what}", "Write it like tensor_bytes * 1.2.")
