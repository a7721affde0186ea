"""The sentences of a report that every output for people shares, and figures in words: unknown is never 0 or blank.

Nothing here is escaped: a renderer passes every string through its own rule of `escape`.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

from inspector.model import Report
from inspector.show.fit_tables import slope
from inspector.show.fit_tables import verdict as fit_verdict
from inspector.units import both, count, gb

UNKNOWN: Final = "unknown"
NONE: Final = "none"


class Line(NamedTuple):
    """One line of the headline: phrases that belong together, and how loud they are."""

    kind: Literal["title", "alarm", "answer", "detail"]
    phrases: tuple[str, ...]


def name(report: Report) -> str:
    """The repo and the commit's first 12 characters, or where a local checkpoint lies."""
    return f"{report.repo} @ {report.revision[:12]}" if report.revision else f"{report.repo} (no commit)"


def headline(report: Report) -> tuple[Line, ...]:
    """The answer in a few lines: what, how large, already quantised?"""
    lines = [Line("title", (name(report),))]
    if report.incomplete and report.format != "none":
        lines.append(Line("alarm", (f"INCOMPLETE: {alarm(report)} (see notes)",)))
    if report.files:
        size = both(report.file_bytes) if report.file_bytes is not None else "unknown bytes"
        weights = f"{bits(report.bits_per_weight)} bits per weight"
        parameters = parameters_of(report)
        lines.append(Line("answer", (f"{size} in {many(report.files, 'file')}", parameters, weights)))
        lines.append(Line("answer", (verdict(report),)))
        lines += [Line("answer", (fit_verdict(f),)) for f in report.fits]
    else:
        lines.append(Line("answer", ("nothing here that can be loaded as a checkpoint",)))
    details = [
        report.format,
        _tensors(report) if report.files else "",
        f"{exact(report.tensor_bytes)} tensor bytes" if report.files else "",
        f"variant {report.variant}" if report.variant else "",
        report.kind if report.kind not in ("model", "") else "",
        f"base model {report.base_model}" if report.base_model else "",
        f"cache {slope(report)} bytes per token ({report.cache.kv_dtype})" if report.cache else "",
    ]
    lines.append(Line("detail", tuple(d for d in details if d)))
    return tuple(lines)


def alarm(report: Report) -> str:
    """What is missing of an incomplete report, and what its figures then are."""
    codes = {n.code for n in report.notes}
    if report.unread:
        return "not every header could be read, the figures are of those that were"
    if "truncated" in codes:
        return "a file is cut off, the figures are those of its header"
    return "a config or index could not be read, the figures are those of the headers"


def _tensors(report: Report) -> str:
    return "unknown tensors" if report.tensors is None else many(report.tensors, "tensor")


def verdict(report: Report) -> str:
    """Whether the checkpoint ships quantised, in words: the summary, with its question where that is unknown."""
    found = report.prequantised
    return f"already quantised? {found.summary}" if found.verdict == "unknown" else found.summary


def cost(report: Report) -> tuple[str, ...]:
    """What the answer cost, as phrases."""
    paid = report.cost
    phrases = [
        f"commit {report.revision}" if report.revision else "no commit (local files)",
        many(paid.requests, "request"),
        f"{gb(paid.bytes_fetched)} fetched",
        f"{many(paid.weight_bytes_read, 'weight byte')} read",
        f"{paid.seconds:.2f} s",
    ]
    if paid.cached_files:
        phrases.insert(4, f"{many(paid.cached_files, 'file')} from cache")
    return tuple(phrases)


def many(number: int, noun: str) -> str:
    """A number with its noun: '48 files', '1 file'."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def counted(number: int | None) -> str:
    """A count in K, M, B or T, or the word unknown."""
    return UNKNOWN if number is None else count(number)


def parameters_of(report: Report) -> str:
    """How many parameters there are, with their noun: '763.21 B parameters', '1 parameter'."""
    return f"{counted(report.parameters)} parameter" + ("" if report.parameters == 1 else "s")


def bits(average: float | None) -> str:
    """Bits per weight, or the word unknown."""
    return UNKNOWN if average is None else f"{average:.2f}"


def exact(size: int | None) -> str:
    """Every digit of a figure, or the word unknown."""
    return UNKNOWN if size is None else f"{size:,}"


def sized(size: int | None) -> str:
    """Bytes in GB and GiB, or the word unknown."""
    return UNKNOWN if size is None else both(size)
