"""Verdicts as GitHub Markdown: the tally, then a table of what is not ok, as a job summary shows it."""

from __future__ import annotations

from inspector.claim.claim_verdict import Judged, Verdicts
from inspector.escape import markdown
from inspector.show.verdict_words import quantity, remarks, repo, share, tally, value

_HEAD = ("place", "verdict", "repo", "quantity", "claimed", "measured", "off by", "reason")


def render(verdicts: Verdicts, *, width: int = 80, colour: bool = False) -> str:
    """All verdicts; those that are ok are folded away."""
    blocks = [f"## {markdown(tally(verdicts))}", *(markdown(line) for line in remarks(verdicts))]
    bad = [one for one in verdicts.judged if one.outcome != "ok"]
    good = [one for one in verdicts.judged if one.outcome == "ok"]
    if bad:
        blocks.append(_table(bad))
    if good:
        blocks.append(f"<details><summary>{len(good):,} ok</summary>\n\n{_table(good)}\n\n</details>")
    return "\n\n".join(blocks) + "\n"


def _table(some: list[Judged]) -> str:
    lines = [_row(_HEAD), "|" + "---|" * len(_HEAD), *(_row(_cells(one)) for one in some)]
    return "\n".join(lines)


def _cells(one: Judged) -> tuple[str, ...]:
    kind = one.claim.kind
    claimed = value(kind, one.claimed) or one.claim.said.strip()[:80]
    reason = one.reason[:300] or ", ".join(one.notes)
    measured = value(kind, one.measured)
    return str(one.claim.place), one.outcome, repo(one), quantity(one), claimed, measured, share(one.relative), reason


def _row(cells: tuple[str, ...]) -> str:
    return "| " + " | ".join(map(markdown, cells)) + " |"
