"""A verdict in words: figures in both units, the difference as a share, one line per row."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from inspector.claim.claim_model import Kind, Measure
from inspector.claim.claim_verdict import OUTCOMES, Judged, Verdicts
from inspector.units import both, count

EXACT: Final = 100_000
"""Counts below this are written out."""


def value(kind: Kind, measure: Measure | None) -> str:
    """A figure in its unit: '510.30 GB (475.25 GiB)', '763.21 B (763,205,315,794)', 'yes'."""
    if measure is None:
        return ""
    if isinstance(measure, bool):
        return "yes" if measure else "no"
    if isinstance(measure, str):
        return measure
    if kind == "bytes":
        return both(int(measure)) if measure.denominator == 1 or measure > EXACT else f"{float(measure):g} B"
    if kind == "count" and measure.denominator == 1:
        return f"{int(measure):,}" if measure < EXACT else f"{count(int(measure))} ({int(measure):,})"
    return f"{float(measure):,.6g}"


def share(part: Fraction | None) -> str:
    """A relative difference: '+7.3 %', '-36.5 %', '+0.002 %'."""
    if part is None:
        return ""
    if not part:
        return "0 %"
    text = f"{float(100 * part):+.3g}"
    return f"{float(100 * part):+,.0f} %" if "e" in text else f"{text} %"


def quantity(one: Judged) -> str:
    """What a claim is about, with the setting that it depends on."""
    setting = one.claim.setting
    parts = [f"{setting.context:,} tokens" if setting.context else "", setting.kv_dtype or "", setting.cluster or ""]
    said = ", ".join(p for p in parts if p)
    return f"{one.claim.quantity} ({said})" if said else one.claim.quantity


def repo(one: Judged) -> str:
    """The repo as the table names it, with the set of weights."""
    return (
        f"{one.claim.subject.repo} [{one.claim.subject.variant}]"
        if one.claim.subject.variant
        else one.claim.subject.repo
    )


def sentence(one: Judged) -> str:
    """Claimed, measured and difference in one sentence, without the reason."""
    kind = one.claim.kind
    if one.outcome in ("malformed", "unverifiable"):
        return f"claimed {one.claim.said.strip()!r}" if one.claim.said.strip() else "nothing is claimed"
    if one.difference is None:
        return f"claimed {value(kind, one.claimed)}, measured {value(kind, one.measured)}"
    off = f", off by {share(one.relative)}" if one.relative is not None else ""
    tolerance = f" (tolerance {share(one.tolerance).lstrip('+')})" if one.tolerance is not None else ""
    return f"claimed {value(kind, one.claimed)}, measured {value(kind, one.measured)}{off}{tolerance}"


def tally(verdicts: Verdicts) -> str:
    """'21 claims: 11 ok, 10 wrong'."""
    parts = [f"{verdicts.summary[o]} {o}" for o in OUTCOMES if verdicts.summary[o]]
    number = len(verdicts.judged)
    return f"{number:,} {'claim' if number == 1 else 'claims'}: {', '.join(parts) or 'none'}"


def remarks(verdicts: Verdicts) -> list[str]:
    """What a reader must know about the whole: unpinned rows, an interruption."""
    unpinned = sum("unpinned" in one.notes for one in verdicts.judged)
    lines = []
    if unpinned:
        what = "fails under --strict" if verdicts.strict else "true today; a revision column pins it"
        lines.append(f"{unpinned:,} ok without a revision: unpinned ({what})")
    if verdicts.interrupted:
        lines.append("interrupted: what was not read by then is unverifiable")
    return lines
