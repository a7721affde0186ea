"""Verdicts as GitHub workflow commands: an error, warning or notice at the file and line of each row.

Source: docs.github.com, workflow commands. Data escapes %, CR and LF; properties also : and ,.
"""

from __future__ import annotations

from inspector.claim.claim_verdict import Judged, Verdicts
from inspector.escape import terminal
from inspector.show.verdict_words import quantity, remarks, repo, sentence, tally


def render(verdicts: Verdicts, *, width: int = 80, colour: bool = False) -> str:
    """One line per row that is not ok, and one notice with the tally; nothing of a table can begin a command."""
    lines = [_annotation(one, verdicts) for one in verdicts.judged if one.outcome != "ok" or verdicts.fails(one)]
    summary = "; ".join([tally(verdicts), *remarks(verdicts)])
    return "\n".join([*lines, f"::notice title=inspect check::{_data(summary)}"]) + "\n"


def _annotation(one: Judged, verdicts: Verdicts) -> str:
    level = "error" if verdicts.fails(one) else "notice" if verdicts.allow_unverifiable else "warning"
    place = one.claim.place
    fields = {"file": place.file, "line": place.line, "col": place.column, "title": f"{one.outcome}: {quantity(one)}"}
    properties = ",".join(f"{k}={_property(str(v))}" for k, v in fields.items() if v is not None)
    words = f"{repo(one)}: {sentence(one)}"
    notes = ", ".join(one.notes)
    return f"::{level} {properties}::{_data('. '.join(w for w in (words, one.reason, notes) if w))}"


def _data(text: str) -> str:
    return terminal(text, 2000).replace("%", "%25")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
