"""Numbers as people write them in tables: '510 GB', '~543.8GB', '121.54Gi', '763.2B', '1,369,062 kB', '54.6 %'.

GB is 10^9 bytes and GiB 2^30. `B` is bytes for byte quantities and 10^9 for counts; K, M, B, T are counts.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from inspector.claim.claim_model import Amount, Kind, Tolerance, Unit
from inspector.errors import UsageError

_DECIMAL: Final = "kmgtp"
_GROUP: Final = "[,'_\u2009\u202f\u00a0 ]"
_NUMBER: Final = re.compile(
    rf"[~≈]?\s*([+-]?(?:\d{{1,3}}(?P<group>{_GROUP})\d{{3}}(?:(?P=group)\d{{3}})*(?!\d)|\d{{1,40}})(?:\.\d{{1,40}})?"
    r"|[+-]?\.\d{1,40})(?:[eE]([+-]?\d{1,2}))?\s*",
    re.ASCII,
)
_GROUPS: Final = re.compile(_GROUP)
_BITS_OR_BYTES: Final = re.compile(r"[KkMGTP]?i?b")
_ABSENT: Final = frozenset(
    {"", "-", "–", "—", "n/a", "na", "none", "null", "nan", "?", "tbd", "unknown", "~", "…", "..."}
)
_YES: Final = frozenset({"yes", "true", "y", "1", "✓", "✔", "✅", "fits", "tight"})
_NO: Final = frozenset({"no", "false", "n", "0", "✗", "✘", "❌", "does_not_fit", "does not fit"})


def _units() -> Mapping[tuple[str, Kind], Unit]:
    found: dict[tuple[str, Kind], Unit] = {}

    def add(kind: Kind, factor: Fraction | int, *names: str) -> None:
        for name in names:
            found[name.lower(), kind] = Unit(names[0], kind, Fraction(factor))

    add("bytes", 1, "B", "byte", "bytes")
    add("bytes", Fraction(1, 8), "bits", "bit")
    for power, letter in enumerate(_DECIMAL, 1):
        upper = letter.upper()
        add("bytes", 1000**power, f"{'k' if letter == 'k' else upper}B")
        add("bytes", 1024**power, f"{upper}iB", f"{upper}i")
    for power, (letter, word) in enumerate(
        (("K", "thousand"), ("M", "million"), ("B", "billion"), ("T", "trillion")), 1
    ):
        add("count", 1000**power, letter, word)
    add("count", 10**9, "B", "Bn", "G", "billion")
    add("count", 1, "", "params", "parameters", "files", "tensors", "tokens", "token")
    add("number", 1, "", "bits", "bit", "bpw", "b/w", "bits/weight")
    add("number", Fraction(1, 100), "%", "percent")
    return MappingProxyType(found)


_UNITS: Final = _units()


def unit(text: str, kind: Kind) -> Unit | None:
    """The unit that a text names for a kind of quantity, None where it names none. `510 GB` is not `510 gb/s`."""
    name = re.sub(r"(?i)^(kib|mib|gib|tib|pib|kb|mb|gb|tb|pb)s$", r"\1", text.strip())
    if kind == "count":
        # '763.2B params' and '320 B parameters' say the same as B alone.
        name = re.sub(r"(?i)\s*(?:params?|parameters?|weights|tokens?)$", "", name) or "params"
    return _UNITS.get((name.lower(), kind))


def units(kind: Kind) -> tuple[str, ...]:
    """The names of the units of a kind, each once."""
    return tuple(dict.fromkeys(u.name for (_, k), u in _UNITS.items() if k == kind and u.name))


def absent(text: str) -> bool:
    """Whether a cell says that there is no figure: empty, 'n/a', a dash."""
    return text.strip().lower() in _ABSENT


def amount(text: str, kind: Kind, default: Unit | None = None) -> Amount:
    """The number in a text with its unit, or with `default` where it has none.

    Raises `UsageError` (empty place) for text that is no number, an unknown unit, or bytes without a unit.
    """
    stripped = text.strip()
    if absent(text):
        raise UsageError("", f"{_shown(text)} is no figure", "Write a number, or leave the row out.")
    if stripped.startswith("="):
        raise UsageError("", f"{_shown(text)} is a formula, not a number", "Write its result.")
    lead = len(text) - len(text.lstrip())
    found = _NUMBER.match(text, lead)
    if found is None:
        raise UsageError("", f"{_shown(text)} is no number", "Write it like 510.3 GB.")
    written, exponent, rest = found[1], found[3], text[found.end() :].strip()
    if rest[:1] == ",":
        raise UsageError("", f"{_shown(text)} has a comma where no thousands begin", "Write 510.3, not 510,3.")
    digits = _GROUPS.sub("", written)
    number = Fraction(digits) * Fraction(10) ** int(exponent or 0)
    decimals = len(digits.partition(".")[2]) - int(exponent or 0)
    if kind == "bytes" and _BITS_OR_BYTES.fullmatch(rest):
        raise UsageError("", f"{_shown(rest)} may be bits or bytes", f"Write {rest[:-1]}B for bytes.")
    named = unit(rest, kind) if rest else default
    if named is None and rest:
        raise UsageError("", f"{_shown(rest)} is no unit of {_KINDS[kind]}", f"There are: {', '.join(units(kind))}.")
    if named is None and kind == "bytes":
        raise UsageError("", f"{_shown(text)} has no unit", "Write B, GB or GiB behind it or in the column `unit`.")
    if default is not None and rest and named is not None and named.factor != default.factor:
        message = f"{_shown(text)} has the unit {named.name}, its column {default.name}"
        raise UsageError("", message, "Give one of the two.")
    return Amount(number, named, max(decimals, 0), found.span(1), found["group"] or "")


def yesno(text: str) -> bool:
    """Yes or no. Raises `UsageError` (empty place)."""
    word = text.strip().lower()
    if word in _YES or word in _NO:
        return word in _YES
    raise UsageError("", f"{_shown(text)} is neither yes nor no", "Write yes or no.")


def tolerance(text: str, kind: Kind) -> Tolerance:
    """'2%', '0' (exact), '0.5 GB', or for counts '2'. Raises `UsageError` (empty place)."""
    found = _NUMBER.fullmatch(text.strip().rstrip("%").rstrip().removeprefix("±").strip())
    if text.strip().endswith("%") and found is not None:
        share = amount(text.strip().removeprefix("±"), "number").value
        if not 0 <= share <= 10:
            raise UsageError("", f"a tolerance of {_shown(text)} is outside 0 to 1,000 %")
        return Tolerance(relative=share)
    if found is not None and Fraction(_GROUPS.sub("", found[1])) == 0:
        return Tolerance(absolute=Fraction(0))
    if found is not None and kind != "count":
        raise UsageError("", f"a tolerance of {_shown(text)} says not of what", "Write 1%, or 0 for exact.")
    value = amount(text.strip().removeprefix("±"), kind).value
    if value < 0:
        raise UsageError("", f"a tolerance of {_shown(text)} is below 0")
    return Tolerance(absolute=value)


def written(value: Fraction, like: Amount, decimals: int) -> str:
    """A value in the unit of `like` with so many decimals, grouped as that is: '1,037.6'."""
    number = round(value / (like.unit.factor if like.unit else 1) * 10**decimals)
    whole, part = divmod(abs(number), 10**decimals)
    text = f"{whole:,}".replace(",", like.grouped) if like.grouped else str(whole)
    return ("-" if number < 0 else "") + text + (f".{part:0{decimals}d}" if decimals else "")


_KINDS: Final[Mapping[Kind, str]] = MappingProxyType(
    {"bytes": "bytes", "count": "counts", "number": "plain numbers", "yesno": "yes or no", "word": "names"}
)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
