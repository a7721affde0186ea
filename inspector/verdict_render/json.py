"""Verdicts as JSON, schema version 1: bytes and counts as integers where they are whole, null for unknown."""

from __future__ import annotations

import json
from fractions import Fraction

from inspector.claim.claim_model import Measure
from inspector.claim.claim_verdict import Judged, Verdicts
from inspector.model import Json

SCHEMA_VERSION = 1


def render(verdicts: Verdicts, *, width: int = 80, colour: bool = False) -> str:
    """One document, ASCII; only `cost` differs between a run online and one from a lock."""
    document = {
        "schema_version": SCHEMA_VERSION,
        "verdicts": [_verdict(one) for one in verdicts.judged],
        "summary": dict(verdicts.summary),
        "interrupted": verdicts.interrupted,
        "cost": {
            "repos": verdicts.cost.repos,
            "requests": verdicts.cost.requests,
            "bytes_fetched": verdicts.cost.bytes_fetched,
            "seconds": verdicts.cost.seconds,
        },
    }
    return json.dumps(document, indent=2, allow_nan=False).replace("\x7f", "\\u007f") + "\n"


def _verdict(one: Judged) -> Json:
    claim = one.claim
    return {
        "place": str(claim.place),
        "file": claim.place.file,
        "line": claim.place.line,
        "column": claim.place.column,
        "key": claim.place.key,
        "repo": claim.subject.repo,
        "revision": one.revision,
        "variant": claim.subject.variant,
        "quantity": claim.quantity,
        "kind": claim.kind,
        "context": claim.setting.context,
        "kv_dtype": claim.setting.kv_dtype,
        "cluster": claim.setting.cluster,
        "said": claim.said,
        "claimed": _number(one.claimed),
        "measured": _number(one.measured),
        "difference": _number(one.difference),
        "relative": _number(one.relative, share=True),
        "tolerance": _number(one.tolerance, share=True),
        "verdict": one.outcome,
        "reason": one.reason or None,
        "notes": list(one.notes),
    }


def _number(value: Measure | None, *, share: bool = False) -> Json:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, Fraction):
        return value
    if share:
        return round(float(value), 9)
    return int(value) if value.denominator == 1 else float(value)
