"""Verdicts for a terminal: a line per row, problems with their reason below, the tally last."""

from __future__ import annotations

from typing import Final

from inspector.claim.claim_verdict import Judged, Verdicts
from inspector.escape import terminal
from inspector.show.columns import wrap
from inspector.show.verdict_words import quantity, remarks, repo, sentence, tally

_STYLES: Final = {"ok": "32", "wrong": "1;31", "drifted": "1;31", "unverifiable": "33", "malformed": "1;31"}
_LONGEST: Final = 600


def render(verdicts: Verdicts, *, width: int = 80, colour: bool = False) -> str:
    """All verdicts in at most `width` columns."""
    lines: list[str] = []
    for one in verdicts.judged:
        lines += _lines(one, max(width, 40), colour)
    lines += [tally(verdicts), *remarks(verdicts)]
    cost = verdicts.cost
    lines.append(f"cost: {cost.repos:,} repos, {cost.requests:,} requests, {cost.seconds:g} s")
    return "\n".join(lines) + "\n"


def _lines(one: Judged, width: int, colour: bool) -> list[str]:
    notes = f" [{', '.join(one.notes)}]" if one.notes else ""
    head = f"{one.claim.place}: {one.outcome}: {repo(one)} {quantity(one)}: {sentence(one)}{notes}"
    lines = wrap(terminal(head, _LONGEST), width, "    ")
    if colour:
        lines = [
            line.replace(f" {one.outcome}:", f" \x1b[{_STYLES[one.outcome]}m{one.outcome}\x1b[0m:", 1) for line in lines
        ]
    if one.reason:
        lines += ["    " + line for line in wrap(terminal(one.reason, _LONGEST), width - 4, "  ")]
    return lines
