"""What a report's pictures are made of: the bars of what ships and of devices, and the treemap, at a given width."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from inspector.model import Report
from inspector.model.fit_model import BUDGETS, Device, Fit
from inspector.rollup import bits_per_weight, largest_first, parameters
from inspector.show import palette
from inspector.show.charts import Bar, Limit, Share
from inspector.show.phrases import NONE, UNKNOWN, bits, many
from inspector.units import both, percent

_FILL: Final = {s.name: s for s in palette.FILLS}

_MOST: Final = 64
"""Bars of variants in one menu; a longer one is continued by its table."""


def bf16_bytes(report: Report) -> int | None:
    """Two bytes for each parameter, without any scale; None where the parameters are unknown."""
    return None if report.parameters is None else 2 * report.parameters


def shipped(report: Report, name: str = "as shipped") -> Bar:
    """The tensor bytes by component, the largest first."""
    groups = largest_first(report.cells)
    whole = sum(c.bytes for _, part in groups for c in part)
    shares = []
    for component, cells in groups:
        size = sum(c.bytes for c in cells)
        known = parameters(cells)
        average = bits_per_weight(size, known)
        shade = palette.shade(average, overhead_only=known == 0)
        words = f"{component}: {both(size)}, {percent(size, whole)}"
        if average is not None:
            words += f", {bits(average)} bits per weight"
        shares.append(Share(component, size, shade, words))
    return Bar(name, both(whole), tuple(shares))


def ladder(report: Report, fits: Sequence[Fit]) -> list[Bar]:
    """What ships against 16 bits for every weight and against the budgets of each cluster."""
    bars = []
    full = bf16_bytes(report)
    if full:
        words = "16 bits per parameter"
        bars.append(Bar("if it were BF16", both(full), (Share(words, full, _FILL["plain"]),)))
    bars.append(shipped(report))
    for fit in fits:
        for name in BUDGETS:
            size = fit.budget(name).usable_bytes
            shares = (Share(f"{name} budget", max(size, 0), _FILL["budget"], f"{fit.cluster}, {name}: {both(size)}"),)
            bars.append(Bar(f"{fit.cluster}: {name}", both(size), shares))
    return bars


def beside(reports: Sequence[Report]) -> list[Bar]:
    """Each report's shipped bytes, for one scale."""
    return [shipped(r, f"[{i}] {r.repo}") for i, r in enumerate(reports, 1)]


def devices(fit: Fit) -> list[Bar]:
    """One bar per run of equal devices: weights, copies, cache, then what is free and kept back, or how much lacks."""
    bars = []
    at = 1
    for device, run in groupby(fit.devices):
        count = len(list(run))
        last = at + count - 1
        place = f"device {at}" if count == 1 else f"devices {at} to {last}, each"
        bars.append(_device(f"{place}: {device.name}", device, fit))
        at += count
    return bars


def _device(name: str, device: Device, fit: Fit) -> Bar:
    own = device.weights - device.replicated_bytes
    shares = [
        Share("weights", own, _FILL["weights"], f"weights: {both(own)}"),
        Share("copies", device.replicated_bytes, _FILL["copies"], f"copies: {both(device.replicated_bytes)}"),
    ]
    if device.cache is not None:
        words = f"cache at {fit.context:,} tokens: {both(device.cache)}"
        shares.append(Share("cache", device.cache, _FILL["cache"], words))
    if device.free is not None and device.free >= 0:
        shares += _longer(device)
        left = device.free - sum(s.bytes for s in _longer(device))
        kept = Share("kept back", device.overhead, _FILL["kept"], f"kept back: {both(device.overhead)}")
        shares += [Share("free", left, _FILL["free"], f"free: {both(left)}"), kept]
    return Bar(name, state(device), tuple(shares), (device.usable_bytes, device.usable_bytes + device.overhead))


def _longer(device: Device) -> list[Share]:
    """What each longer context adds to the cache, as far as the device has room for it."""
    shares = []
    before = device.cache or 0
    end = before + (device.free or 0)
    for tokens, size in device.longer:
        if before < size <= end:
            words = f"cache up to {tokens:,} tokens: {both(size)}"
            shares.append(Share(f"{tokens:,} tokens", size - before, _FILL["longer"], words))
            before = size
    return shares


def state(device: Device) -> str:
    """What a device has left, or lacks, in words."""
    if device.free is None:
        over = device.weights - device.usable_bytes
        return f"{both(over)} short for weights alone" if over > 0 else "cache unknown"
    return f"{both(device.free)} free" if device.free >= 0 else f"{both(-device.free)} short"


def menu(report: Report) -> list[Bar]:
    """One bar per set of the repo whose file bytes are known."""
    bars = []
    for variant in report.menu[:_MOST]:
        size = variant.file_bytes
        average = bits_per_weight(variant.tensor_bytes, variant.parameters)
        label = f"{bits(average)} bits per weight" if average is not None else ""
        shares = () if size is None else (Share(label, size, palette.shade(average), label or UNKNOWN),)
        title = f"{variant.name} (default)" if variant.default else variant.name
        bars.append(Bar(title, both(size) if size is not None else UNKNOWN, shares))
    return bars


def limits(fits: Sequence[Fit]) -> list[Limit]:
    """The raw and server budgets of each cluster, as lines."""
    found = []
    for fit in fits:
        for name in ("raw", "server"):
            size = fit.budget(name).usable_bytes
            found.append(Limit(f"{fit.cluster}, {name}: {both(size)}", max(size, 0)))
    return found


def described(bars: Sequence[Bar]) -> str:
    """The bars in one sentence each, for a picture's description."""
    return (
        " ".join(f"{b.name}: {b.figure}." for b in bars[:12])
        + (f" And {many(len(bars) - 12, 'more bar')}." if len(bars) > 12 else "")
        or NONE
    )
