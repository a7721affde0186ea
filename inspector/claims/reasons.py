"""Why a wrong figure is wrong: each known mistake is worked out for this repo, and named only where it gives the claim.

A mistake is proved where the claim would be right if the mistake's figure were the truth, to 1 % at most, and where
it is at least four times nearer to the claim than the truth is. Of several the simplest is named, then the nearest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import combinations
from typing import Final

from inspector.claim.claim_amounts import unit
from inspector.claim.claim_caches import other_caches
from inspector.claim.claim_model import Amount, Claim, Measured
from inspector.errors import InspectorError
from inspector.model import Cell, Report
from inspector.records import dataclass
from inspector.storing.dtypes import BITS

Evaluate = Callable[[str, Fraction], Fraction]
"""The claim's figure were one quantity another. Raises `InspectorError` where that cannot be said."""

EvaluateCache = Callable[[Callable[[int], Fraction]], Fraction]
"""The claim's figure were the cache of so many tokens another."""

_APART: Final = ("draft", "memory", "vision", "audio")
"""Components that estimates leave out when they count the backbone alone."""
_CLOSE: Final = Fraction(1, 100)
_PER_WEIGHT: Final = (
    (Fraction(1, 2), "half a byte per parameter"),
    (Fraction(1), "one byte per parameter"),
    (Fraction(2), "two bytes per parameter"),
    (Fraction(4), "four bytes per parameter"),
)


@dataclass(frozen=True, slots=True)
class _Mistake:
    """A figure that a mistake gives, in words; `steps` is how many mistakes it takes."""

    words: str
    figure: Fraction
    steps: int = 1


def explain(claim: Claim, repo: Measured, measured: Fraction, evaluate: Evaluate, evaluate_cache: EvaluateCache) -> str:
    """The mistake that gives the claimed figure, or nothing where none does."""
    claimed = claim.claimed
    if not isinstance(claimed, Amount):
        return ""
    proved = []
    for mistake in _mistakes(claim, claimed, repo, measured, evaluate, evaluate_cache):
        off = abs(mistake.figure - claimed.value)
        if off <= _allowed(claim, claimed, mistake.figure) and 4 * off <= abs(claimed.value - measured):
            proved.append((mistake.steps, off, mistake.words))
    return min(proved)[2] if proved else ""


def _allowed(claim: Claim, claimed: Amount, figure: Fraction) -> Fraction:
    """How far the claim may be from a mistake's figure: as if that were the truth, and never more than 1 %."""
    return min(max(claim.tolerance.allows(figure, claimed.step), claimed.step / 2), abs(figure) * _CLOSE)


def _mistakes(
    claim: Claim,
    claimed: Amount,
    repo: Measured,
    measured: Fraction,
    evaluate: Evaluate,
    evaluate_cache: EvaluateCache,
) -> Iterator[_Mistake]:
    # A slip of the unit turns round: the truth in the other unit is the number that is claimed.
    yield from _slips(claimed, measured)
    report = repo.report
    sources: dict[str, Callable[[Report], Iterator[_Mistake]]] = {
        "parameters": _parameters,
        "tensor_bytes": _bytes,
        "file_bytes": _bytes,
        "weight_bytes": _bytes,
        "bits_per_weight": _bits,
    }
    for name in claim.rule.names if claim.rule is not None else (claim.quantity,):
        for mistake in sources[name](report) if name in sources else ():
            try:
                yield _Mistake(mistake.words, evaluate(name, mistake.figure), mistake.steps)
            except InspectorError:
                continue
    rule = claim.rule.text if claim.rule is not None else claim.quantity
    for words, cache in other_caches(repo) if "cache" in rule else ():
        try:
            yield _Mistake(words, evaluate_cache(cache))
        except InspectorError:
            continue


def _slips(claimed: Amount, measured: Fraction) -> Iterator[_Mistake]:
    if claimed.unit is None or claimed.unit.kind != "bytes":
        return
    name = claimed.unit.name
    other = unit(name.replace("iB", "B") if "iB" in name else name.replace("B", "iB"), "bytes")
    if other is None or other.factor in (claimed.unit.factor, 1):
        return
    words = f"{other.name} taken for {name}: {float(measured / other.factor):.2f} {other.name} is right"
    yield _Mistake(words, measured / other.factor * claimed.unit.factor)


def _parameters(report: Report) -> Iterator[_Mistake]:
    if report.parameters is None or report.tensor_bytes is None:
        return
    count = Fraction(report.parameters)
    packed, spare = _elements(report.cells)
    if packed is not None and packed != count:
        yield _Mistake("packed elements counted once: each holds several parameters", packed)
    everything = _all_elements(report)
    if everything is not None and packed is not None and packed != count:
        yield _Mistake("packed elements counted once, and scales as parameters", everything)
    for size in (1, 2, 4):
        if spare:
            yield _Mistake("scales counted as parameters", count + Fraction(spare, size))
    for left, words in _without(report):
        yield _Mistake(f"{words} left out", count - sum(c.parameters or 0 for c in left))
    yield _Mistake("tensor bytes halved, as if every weight had 16 bits", Fraction(report.tensor_bytes, 2))
    if report.hub_total:
        yield _Mistake("the Hub's own count trusted", Fraction(report.hub_total))


def _elements(cells: tuple[Cell, ...]) -> tuple[Fraction | None, int]:
    """Stored elements of all payloads, None where a dtype is unknown; and the bytes of scales."""
    total = Fraction(0)
    for cell in cells:
        sizes = {BITS.get(d) for d in cell.storage_dtypes}
        size = sizes.pop() if len(sizes) == 1 else None
        if cell.weight_bytes and not size:
            return None, 0
        if size:
            total += Fraction(8 * cell.weight_bytes, size)
    return total, sum(c.overhead_bytes for c in cells)


def _all_elements(report: Report) -> Fraction | None:
    total = Fraction(0)
    for dtype in report.dtypes:
        size = BITS.get(dtype.dtype)
        if not size:
            return None
        total += Fraction(8 * dtype.bytes, size)
    return total


def _without(report: Report) -> Iterator[tuple[list[Cell], str]]:
    """Each choice of components that stand apart from the backbone, with its cells."""
    there = [name for name in _APART if any(c.component == name for c in report.cells)]
    for size in range(1, len(there) + 1):
        for names in combinations(there, size):
            words = f"backbone only: {' and '.join(names)}"
            yield [c for c in report.cells if c.component in names], words


def _bytes(report: Report) -> Iterator[_Mistake]:
    if report.tensor_bytes is None:
        return
    whole = report.tensor_bytes
    folders: dict[str, int] = {}
    for file in report.excluded:
        folder = file.path.partition("/")[0] if "/" in file.path else ""
        folders[folder] = folders.get(folder, 0) + (file.bytes or 0)
    for folder, size in folders.items():
        place = f"{folder}/" if folder else "the other weight files at the root"
        yield _Mistake(f"both copies counted: {place} holds the weights again", Fraction(whole + size))
    if len(folders) > 1:
        yield _Mistake("every copy in the repo counted", Fraction(whole + sum(folders.values())))
    if report.index_total_size is not None and report.index_total_size != whole:
        yield _Mistake("the index's total_size trusted, which is not what ships", Fraction(report.index_total_size))
    if report.repo_bytes is not None:
        yield _Mistake("the whole repo counted", Fraction(report.repo_bytes))
    scales = sum(c.overhead_bytes for c in report.cells)
    if scales:
        yield _Mistake("scales left out", Fraction(whole - scales))
    for left, words in _without(report):
        yield _Mistake(f"{words} left out", Fraction(whole - sum(c.bytes for c in left)))
    if report.parameters is None:
        return
    for rate, words in _PER_WEIGHT:
        yield _Mistake(f"{words} assumed, whatever ships", report.parameters * rate)
        for left, without in _without(report):
            count = report.parameters - sum(c.parameters or 0 for c in left)
            yield _Mistake(f"{words} assumed, and {without} left out", count * rate, 2)


def _bits(report: Report) -> Iterator[_Mistake]:
    if not report.parameters:
        return
    main = max((c for c in report.cells if c.bits), key=lambda c: c.parameters or 0, default=None)
    if main is not None and main.bits is not None:
        words = f"the nominal bits of {main.precision} ({main.component.replace('_', ' ')}) taken for the whole"
        yield _Mistake(f"{words}: scales and wider parts left out", Fraction(main.bits))
    yield _Mistake("scales left out", Fraction(8 * sum(c.weight_bytes for c in report.cells), report.parameters))
