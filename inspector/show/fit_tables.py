"""Cache and fit of a report as phrases and tables, for text and Markdown.

Nothing here is escaped: a renderer passes every string through its own rule of `escape`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from inspector.model import Report
from inspector.model.fit_model import Fit
from inspector.show.columns import Column
from inspector.units import both, gb, gib

CONTEXTS: Final = (2_048, 8_192, 32_768, 131_072, 1_048_576)
"""Contexts of the cache table, in tokens, up to the model's own limit."""

WORDS: Final = {"fits": "fits", "tight": "tight", "does_not_fit": "does not fit", "unknown": "unknown"}


_DECIDES: Final = (
    "the worst device",
    "decode context parallelism",
    "memory tables",
    "smallest count",
    "no count",
    "not all",
)
"""How assumptions begin that belong beside the budgets."""


class Section(NamedTuple):
    """A title, phrases under it, and rows of a table (empty for none)."""

    title: str
    phrases: tuple[str, ...]
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


def verdict(found: Fit) -> str:
    """One line: '2x dgx-spark: does not fit, ...'."""
    server, raw = found.budget("server"), found.budget("raw")
    twice = sum(d.replicated_bytes for d in found.devices)
    weights = sum(d.weights for d in found.devices) - twice
    more = f" (and {gib(twice)} held more than once)" if twice else ""
    size = f"{gib(weights)} of weights{more}" if found.devices else "unknown weights"
    parts = [
        f"{found.cluster}: {WORDS[found.verdict]}",
        f"{size} against {gib(raw.usable_bytes)} visible, {gib(server.usable_bytes)} usable",
    ]
    if found.verdict in ("fits", "tight"):
        limit = found.max_context if found.verdict == "fits" else found.budget("tight").max_context
        parts.append("context unknown" if limit is None else f"up to {limit:,} tokens")
    elif found.blocked:
        parts.append(found.blocked)
    elif found.min_units is not None:
        unit = found.cluster.partition("x ")[2]
        parts.append(f"smallest that holds it: {found.min_units}x {unit}" if "+" not in found.cluster else "")
    return "; ".join(p for p in parts if p)


def sections(report: Report) -> tuple[Section, ...]:
    """The cache by context where it or a cluster was asked about, then each cluster with budgets and devices."""
    found = [cache(report)] if report.cache is not None and (report.fits or _about_cache(report)) else []
    for fit in report.fits:
        found += [budgets(fit), devices(fit)]
    return tuple(found)


def _about_cache(report: Report) -> bool:
    """Whether the cache was asked about: by its dtype, or of a folder with a config alone."""
    return not report.files or (report.cache is not None and report.cache.kv_dtype_reason == "as asked")


def slope(report: Report) -> str:
    """Cache bytes per token, 'unknown' where the attention design is."""
    if report.cache is None:
        return "unknown"
    per_token = report.cache.bytes_per_token
    return f"{per_token.numerator:,}" if per_token.denominator == 1 else f"{float(per_token):,.2f}"


def cache(report: Report) -> Section:
    """What one sequence keeps at several contexts."""
    held = report.cache
    assert held is not None
    families = ", ".join(f"{count} {name}" for name, count in held.families)
    phrases = (
        f"{slope(report)} bytes per token, {held.fixed_bytes:,} bytes fixed per sequence",
        f"in {held.kv_dtype}: {held.kv_dtype_reason}",
        f"layers: {families}",
    )
    limit = held.max_positions
    contexts = [c for c in CONTEXTS if limit is None or c <= limit]
    if limit is not None and limit not in contexts:
        contexts.append(limit)
    rows = tuple((f"{c:,}", f"{held.bytes_at(c):,}", both(held.bytes_at(c))) for c in contexts)
    columns = (Column("context", right=True), Column("exact bytes", right=True), Column("bytes", right=True))
    return Section("Cache of one sequence", phrases, columns, rows)


def budgets(fit: Fit) -> Section:
    """Three budgets of the cluster; under them what decides, and which counts would do."""
    rows = tuple(
        (
            b.name,
            both(b.usable_bytes),
            "unknown" if b.headroom_bytes is None else both(b.headroom_bytes),
            "unknown" if b.max_context is None else f"{b.max_context:,}",
        )
        for b in fit.budgets
    )
    columns = (
        Column("budget"),
        Column("usable", right=True),
        Column("left beside weights", right=True),
        Column("context", right=True),
    )
    title = f"Fit on {fit.cluster} ({fit.engine}, {fit.placement}, {fit.context:,} tokens x {fit.sequences:,})"
    return Section(title, tuple(a for a in fit.assumptions if a.startswith(_DECIDES)), columns, rows)


def devices(fit: Fit) -> Section:
    """Each different device under the server budget, worst first, then what was assumed."""
    seen: dict[tuple[str, ...], int] = {}
    for device in sorted(fit.devices, key=lambda d: d.free if d.free is not None else d.usable_bytes - d.weights):
        row = (
            device.name,
            gb(device.usable_bytes),
            gb(device.weights),
            gb(device.replicated_bytes),
            "unknown" if device.cache is None else gb(device.cache),
            "unknown" if device.free is None else gb(device.free),
        )
        seen[row] = seen.get(row, 0) + 1
    rows = tuple((f"{count}x {row[0]}" if count > 1 else row[0], *row[1:]) for row, count in seen.items())
    columns = (
        Column("device", floor=10),
        Column("usable", right=True),
        Column("weights", right=True),
        Column("also elsewhere", right=True),
        Column("cache", right=True),
        Column("free", right=True),
    )
    rest = tuple(a for a in fit.assumptions if not a.startswith(_DECIDES))
    return Section("Per device (server budget)", rest, columns, rows)
