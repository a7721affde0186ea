"""A claim meets a repo: ok, wrong by how much, drifted since the locked commit, unverifiable, or malformed."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Final

from inspector.claim.claim_build import figure, said_of
from inspector.claim.claim_model import Amount, Claim, Measure, Measured, Setting
from inspector.claim.claim_parts import unknown
from inspector.claim.claim_quantities import quantity
from inspector.claim.claim_rules import Expression
from inspector.claim.claim_verdict import Judged, Outcome
from inspector.errors import InspectorError, SourceError, UsageError
from inspector.quant import belongs
from inspector.records import replace

UNPINNED: Final = "unpinned"
"""The note of a claim that is right today and names no commit."""

Explain = Callable[[Claim, Measured, Fraction], str]
"""The reason of a wrong number where one is proved, else empty."""


def judge(
    claim: Claim, found: Measured | InspectorError, explain: Explain, then: Measured | InspectorError | None = None
) -> Judged:
    """The verdict of one claim. `then` is the repo at the locked commit: right there and wrong now is drifted."""
    if claim.fault:
        return Judged(claim, "malformed", figure(claim.claimed), reason=claim.fault)
    if claim.beyond:
        return Judged(claim, "unverifiable", figure(claim.claimed), reason=claim.beyond)
    if isinstance(found, InspectorError):
        # A name that is none is the row's own fault; a set that the repo lacks is a figure nobody can check.
        own = isinstance(found, UsageError)
        outcome: Outcome = "malformed" if own and claim.subject.variant is None else "unverifiable"
        words = said_of(found) if outcome == "malformed" else str(found)
        if own and outcome == "unverifiable":
            words = f"the repo has no set of weights {claim.subject.variant!r}. {found.advice}".rstrip()
        return Judged(claim, outcome, figure(claim.claimed), reason=words)
    judged = _held(claim, found, explain)
    if judged.outcome == "wrong" and then is not None and not isinstance(then, InspectorError):
        before = _held(claim, then, explain)
        if before.outcome == "ok":
            words = f"it was right at the locked commit {then.report.revision or ''}".rstrip()
            return replace(judged, outcome="drifted", reason=words)
    return judged


def measure(claim: Claim, repo: Measured) -> Measure:
    """The measured figure. Raises `SourceError` where the repo does not give it, `UsageError` for the claim's words."""
    if not isinstance(claim.rule, Expression):
        return quantity(claim.quantity).read(repo, claim.setting)
    return claim.rule.evaluate(lambda name: number(name, repo, claim.setting), lambda t: cached(t, repo, claim.setting))


def number(name: str, repo: Measured, setting: Setting) -> Fraction:
    """A name's figure in a rule. Raises as `measure`."""
    if name == "context":
        if setting.context is None:
            raise UsageError("", "the rule needs a context", "Give it in the mapping or a column.")
        return Fraction(setting.context)
    value = quantity(name).read(repo, setting)
    if not isinstance(value, Fraction):
        raise unknown(f"{name} is no number")
    return value


def cached(tokens: int, repo: Measured, setting: Setting) -> Fraction:
    """One sequence's cache at a length. Raises as `measure`."""
    value = quantity("cache_bytes").read(repo, replace(setting, context=tokens))
    if not isinstance(value, Fraction):
        raise unknown("the cache is unknown")
    return value


def _held(claim: Claim, repo: Measured, explain: Explain) -> Judged:
    revision = repo.report.revision
    try:
        measured = measure(claim, repo)
    except SourceError as error:
        return Judged(claim, "unverifiable", figure(claim.claimed), reason=said_of(error), revision=revision)
    except UsageError as error:
        return Judged(claim, "malformed", figure(claim.claimed), reason=said_of(error), revision=revision)
    claimed = figure(claim.claimed)
    notes = () if _pinned(claim, revision) else (UNPINNED,)
    if isinstance(measured, Fraction) and isinstance(claim.claimed, Amount):
        return _numbers(claim, claim.claimed, repo, measured, notes, explain)
    right = (
        belongs(measured, claimed) if isinstance(measured, str) and isinstance(claimed, str) else measured == claimed
    )
    return Judged(claim, "ok" if right else "wrong", claimed, measured, revision=revision, notes=notes if right else ())


def _numbers(
    claim: Claim, claimed: Amount, repo: Measured, measured: Fraction, notes: tuple[str, ...], explain: Explain
) -> Judged:
    difference = claimed.value - measured
    allowed = claim.tolerance.allows(measured, claimed.step)
    right = abs(difference) <= allowed
    return Judged(
        claim=claim,
        outcome="ok" if right else "wrong",
        claimed=claimed.value,
        measured=measured,
        difference=difference,
        relative=difference / abs(measured) if measured else None,
        tolerance=allowed / abs(measured) if measured else None,
        reason="" if right else explain(claim, repo, measured),
        revision=repo.report.revision,
        notes=notes if right else (),
    )


def _pinned(claim: Claim, revision: str | None) -> bool:
    """Whether the row names the commit, by its table or by `@`; a branch or tag may move. Local files have none."""
    asked = (claim.subject.revision or claim.subject.repo.partition("@")[2]).lower()
    return revision is None or (len(asked) >= 7 and revision.lower().startswith(asked))
