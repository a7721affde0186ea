"""One cell of a table becomes one claim: its quantity, number, unit, tolerance and setting, or why it is malformed."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Final

from inspector import address
from inspector.claim.claim_amounts import absent, amount, tolerance, unit, yesno
from inspector.claim.claim_model import (
    Amount,
    Cell,
    Claim,
    Kind,
    Measure,
    Place,
    Rule,
    Setting,
    Subject,
    Tolerance,
    Unit,
)
from inspector.claim.claim_quantities import quantity
from inspector.claim.claim_rules import Expression
from inspector.claim.claim_terms import MAX_TOKENS
from inspector.errors import InspectorError, UsageError
from inspector.model.fit_model import PLACEMENTS
from inspector.records import dataclass, replace

_YES_NO: Final = {True: "yes", False: "no"}


@dataclass(frozen=True, slots=True)
class Words:
    """What stands around a claimed figure, as written; empty where nothing does."""

    quantity: str = ""
    rule: Expression | None = None
    unit: str = ""
    tolerance: str = ""
    context: str = ""
    kv_dtype: str = ""
    cluster: str = ""
    placement: str = ""


def claim(place: Place, subject: Subject, words: Words, said: Cell, derived: Amount | None = None) -> Claim:
    """The claim of a cell. Whatever is wrong with it is its `fault`; nothing is raised.

    `derived` is a figure worked out of several cells; `said` is then only where it is told.
    """
    bare = Claim(place, subject, words.quantity or (words.rule.text if words.rule else ""), said.text)
    try:
        check_repo(subject.repo)
        kind, needs, name, scale = _what(words)
        setting = _setting(words)
        for need in needs:
            if getattr(setting, need) is None:
                raise UsageError("", f"{name} needs a {need}", f"Give it in the column `{need}`.")
        claimed = derived if derived is not None else _claimed(said.text, kind, words.unit, scale)
        rule: Rule | None = words.rule
        allowed = tolerance(words.tolerance, kind) if words.tolerance.strip() else Tolerance()
        cell = said if derived is None and isinstance(claimed, Amount) else None
        return replace(
            bare,
            quantity=name,
            kind=kind,
            claimed=claimed,
            rule=rule,
            tolerance=allowed,
            setting=setting,
            cell=cell,
        )
    except InspectorError as error:
        return replace(bare, fault=said_of(error))


def said_of(error: InspectorError) -> str:
    """An error's words, without its place unless that is a rule or a flag."""
    place = f"{error.place}: " if error.place and error.place != "REPO" else ""
    return f"{place}{error.message}. {error.advice}" if error.advice else place + error.message


def figure(claimed: Amount | bool | str | None) -> Measure | None:
    """What is claimed as a value: bytes, things, plain numbers, yes or no, a name."""
    return claimed.value if isinstance(claimed, Amount) else claimed


def check_repo(text: str) -> None:
    """Raise `UsageError` for text that is no repo: empty, with spaces, or a path that leaves its folder."""
    if absent(text):
        raise UsageError("", "names no repo", "Write org/name.")
    if text.startswith("~") or ".." in text.replace("\\", "/").split("/"):
        raise UsageError("", f"{text[:80]!r} is a path that leaves its folder, no repo's name", "Write org/name.")
    address.parse(text)


def _what(words: Words) -> tuple[Kind, tuple[str, ...], str, Unit | None]:
    if words.rule is not None:
        return words.rule.kind, (), words.rule.text, words.rule.scale
    found = quantity(words.quantity)
    return found.kind, found.needs, found.name, None


def _claimed(text: str, kind: Kind, unit_text: str, scale: Unit | None) -> Amount | bool | str:
    if kind == "yesno":
        return yesno(text)
    if kind == "word":
        if absent(text):
            raise UsageError("", f"{text!r} says nothing", "Write yes, no or a precision.")
        word = text.strip().lower()
        return {"true": "yes", "false": "no"}.get(word, word)
    default = scale
    if unit_text.strip():
        default = unit(unit_text, kind)
        if default is None:
            raise UsageError("", f"{unit_text.strip()[:40]!r} is no unit of this quantity", "Write GB, GiB, B, %.")
    found = amount(text, kind, default)
    if found.number < 0 and kind != "number":
        raise UsageError("", f"{text.strip()[:40]!r} is below 0")
    return found


def _setting(words: Words) -> Setting:
    context = None
    if words.context.strip():
        context = _tokens(words.context)
    placement = words.placement.strip().lower() or None
    if placement is not None and placement not in PLACEMENTS:
        raise UsageError("", f"{placement[:40]!r} is no placement", f"There are: {', '.join(PLACEMENTS)}.")
    return Setting(context, words.kv_dtype.strip() or None, words.cluster.strip() or None, placement)


def _tokens(text: str) -> int:
    if text.strip()[-1:].lower() == "k":
        message = f"{text.strip()[:20]!r} may be thousands of 1,000 or of 1,024 tokens"
        raise UsageError("", message, "Write the number out.")
    value = amount(text, "count").value
    if value.denominator != 1 or not 1 <= value <= MAX_TOKENS:
        raise UsageError("", f"a context of {text.strip()[:30]!r} is no whole number of tokens", "Write 8192.")
    return int(value)


def cells_figure(expression: Expression, cells: Mapping[str, Cell], kind: Kind, unit_text: str) -> Amount:
    """A figure worked out of several cells, in one unit: the step is that of the coarsest. Raises `UsageError`."""
    default = unit(unit_text, kind) if unit_text else None
    parts = {name: amount(cells[name].text, kind, default) for name in expression.names if name in cells}
    missing = next((n for n in expression.names if n not in parts), None)
    if missing is not None:
        raise UsageError("", f"there is no cell {missing[:60]!r}", "Correct `value` in the mapping.")
    value = expression.evaluate(lambda n: parts[n].value, _no_cache)
    coarsest = max(parts.values(), key=lambda a: a.step, default=None)
    if coarsest is None:
        raise UsageError("", "`value` names no cell", "Name one.")
    factor = coarsest.unit.factor if coarsest.unit else 1
    return Amount(value / factor, coarsest.unit, coarsest.decimals)


def _no_cache(tokens: int) -> Fraction:
    raise UsageError("", "`value` is worked out of cells, where there is no cache", "Put cache(...) into `rule`.")
