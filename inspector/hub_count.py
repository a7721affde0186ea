"""The Hub's own count of parameters beside ours, and the rule that explains a difference.

The Hub counts elements by dtype and unpacks some formats (huggingface.js
`packages/hub/src/lib/parse-safetensors-metadata.ts`, as of August 2026): it has counted packed bytes once, scales as
parameters and lookup tables as parameters, depending on the release and on the day. A rule is named only where it
gives the Hub's number exactly.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Final

from inspector.grouping import Kind
from inspector.model import Note
from inspector.records import dataclass


@dataclass(frozen=True, slots=True)
class Tally:
    """Elements of a checkpoint by what they are: `logical` weights unpacked, `packed` the same as stored.

    `companions` are elements of scales, zero points and the like; `exponents` those of E8M0 scales; `tables` those
    of lookup tables and buffers.
    """

    logical: int | None
    packed: int
    companions: int
    exponents: int
    tables: int


_RULES: Final = (
    ("companions", "scales and zero points are counted as parameters"),
    ("exponents", "E8M0 scales are counted as parameters"),
    ("tables", "lookup tables and buffers are counted as parameters"),
)


def tally(kinds: Iterable[Kind]) -> Tally:
    """The elements of all groups. `logical` is None where a payload is of unknown precision."""
    logical: int | None = 0
    packed = companions = exponents = tables = 0
    for kind in kinds:
        for claim, payload, overhead in kind.claims():
            packed += kind.count * sum(kind.tensors[r].elements for r in payload)
            logical = None if claim is None or logical is None else logical + kind.count * claim.parameters
            for role in overhead:
                elements = kind.count * kind.tensors[role].elements
                if kind.tensors[role].dtype == "F8_E8M0":
                    exponents += elements
                elif claim is not None and claim.precision is None and not payload:
                    tables += elements
                else:
                    companions += elements
    return Tally(logical, packed, companions, exponents, tables)


def explain(total: int, counts: Tally) -> str | None:
    """The rules by which the Hub's `total` comes out of these counts; '' where it equals ours, None for no rule."""
    if total == counts.logical:
        return ""
    bases = [(counts.logical, ""), (counts.packed, "packed values are counted once each, as stored")]
    for size in range(len(_RULES) + 1):
        for extra in combinations(_RULES, size):
            added = sum(getattr(counts, name) for name, _ in extra)
            for base, words in bases:
                if base is not None and base + added == total and all(getattr(counts, n) for n, _ in extra):
                    return "; ".join([w for w in (words, *(w for _, w in extra)) if w])
    return None


def compare(total: int | None, counts: Tally) -> list[Note]:
    """A note where the Hub's `safetensors.total` is not our count, with the rule that makes the difference."""
    if total is None:
        return []
    rule = explain(total, counts)
    if rule == "":
        return []
    ours = "unknown" if counts.logical is None else f"{counts.logical:,}"
    said = f"the Hub's safetensors.total says {total:,} parameters, the headers hold {ours}"
    return [Note("hub_count", f"{said}: {rule or 'no known rule explains the difference'}", "safetensors.total")]
