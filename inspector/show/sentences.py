"""The answer to a report in one sentence, and the command that asks the same again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from inspector.model import Report
from inspector.model.cache_model import Cache
from inspector.model.fit_model import Fit
from inspector.show.phrases import bits, many, parameters_of, verdict
from inspector.units import both


def answer(report: Report, fits: Sequence[Fit]) -> str:
    """What ships, whether it is quantised, and whether it fits each cluster, as one sentence."""
    if not report.files:
        return "Nothing here can be loaded as a checkpoint."
    size = both(report.file_bytes) if report.file_bytes is not None else "Unknown bytes"
    parts = [
        f"{size} in {many(report.files, 'file')}",
        f"{parameters_of(report)} at {bits(report.bits_per_weight)} bits per weight",
        verdict(report),
        *[f"{lead(fit)}" for fit in fits],
    ]
    return "; ".join(parts).rstrip(".") + "."


def lead(fit: Fit) -> str:
    """A fit's verdict with the figure that decides it."""
    where = f"on {fit.cluster}"
    if fit.blocked:
        return f"{where} this placement cannot be: {fit.blocked}"
    short = max([-d.free for d in fit.devices if d.free is not None and d.free < 0], default=0)
    units = ""
    if fit.min_units is not None and fit.verdict == "does_not_fit":
        units = f", {fit.min_units:,} such units would hold it"
    if fit.verdict == "does_not_fit":
        lack = f": {both(short)} too much on the fullest device" if short else ""
        return f"{where} it does not fit{lack}{units}"
    if fit.verdict == "unknown":
        return f"whether it fits {where} is unknown"
    most = room(fit.max_context)
    if fit.verdict == "tight":
        return f"{where} it is tight: only without the server's reserve, up to {room(fit.budget('tight').max_context)}"
    return f"{where} it fits, with context up to {most}"


def room(tokens: int | None) -> str:
    """A context in tokens, or the word unknown."""
    return "an unknown context" if tokens is None else many(tokens, "token")


def command(report: Report, fits: Sequence[Fit]) -> str:
    """A line for a shell that inspects the same commit, variant and clusters again, as far as a report tells.

    What was offloaded, left out or reserved is in no report: whoever knows what was asked makes the line of that.
    """
    words = ["inspect", f"{report.repo}@{report.revision}" if report.revision else report.repo]
    if report.variant:
        words += ["--variant", report.variant]
    for fit in fits:
        words += ["--cluster", fit.cluster]
    if fits:
        words += ["--context", str(fits[0].context)]
        for flag, named in (("--engine", {f.engine for f in fits}), ("--placement", {f.placement for f in fits})):
            # Clusters that differ in it were not told which: each took its own.
            words += [flag, *named] if len(named) == 1 else []
        if fits[0].sequences > 1:
            words += ["--sequences", str(fits[0].sequences)]
        if fits[0].kv_dtype:
            words += ["--kv-dtype", fits[0].kv_dtype]
    return shlex.join(words)


def contexts(fits: Sequence[Fit], cache: Cache | None) -> tuple[int, ...]:
    """The lengths worth a row: 8K, 128K, what was asked, each maximum, within the model's own limit."""
    wanted = {8192, 131_072, *[f.context for f in fits], *[f.max_context for f in fits if f.max_context]}
    limit = cache.max_positions if cache is not None else None
    if limit is not None:
        wanted = {n for n in wanted if n <= limit} | {limit}
    return tuple(sorted(wanted))
