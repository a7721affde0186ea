"""A claim's verdict, and all verdicts of a run with the exit status that they amount to."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final, Literal

from inspector.claim.claim_model import Claim, Measure
from inspector.records import dataclass, field

Outcome = Literal["ok", "wrong", "drifted", "unverifiable", "malformed"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("ok", "wrong", "drifted", "unverifiable", "malformed")


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim's verdict. `claimed`, `measured`, `difference` are bytes, things or plain numbers, yes/no, or names.

    `relative` and `tolerance` are shares of the measured figure. `reason` explains a wrong one where arithmetic
    proves it, and says why there is no answer; `notes` are words like `unpinned`.
    """

    claim: Claim
    outcome: Outcome
    claimed: Measure | None = None
    measured: Measure | None = None
    difference: Fraction | None = None
    relative: Fraction | None = None
    tolerance: Fraction | None = None
    reason: str = ""
    revision: str | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Expense:
    """What a run cost: repos read, HTTP requests, body bytes and seconds."""

    repos: int = 0
    requests: int = 0
    bytes_fetched: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Verdicts:
    """All verdicts of a run, in the table's order. `strict` makes unpinned ones fail; `interrupted` by Ctrl-C."""

    judged: tuple[Judged, ...]
    strict: bool = False
    allow_unverifiable: bool = False
    interrupted: bool = False
    cost: Expense = field(default_factory=Expense)

    @property
    def summary(self) -> Mapping[str, int]:
        """How many of each outcome."""
        counts: dict[str, int] = dict.fromkeys(OUTCOMES, 0)
        for one in self.judged:
            counts[one.outcome] += 1
        return MappingProxyType(counts)

    def fails(self, one: Judged) -> bool:
        """Whether a verdict makes the run fail: wrong, drifted, malformed, and unpinned where strict."""
        return one.outcome in ("wrong", "drifted", "malformed") or (self.strict and "unpinned" in one.notes)

    @property
    def status(self) -> int:
        """1 where something fails, 3 where something is unverifiable and that is not allowed, else 0."""
        if any(self.fails(one) for one in self.judged):
            return 1
        unknown = any(one.outcome == "unverifiable" for one in self.judged)
        return 3 if unknown and not self.allow_unverifiable else 0
