"""What a report's pictures are made of: the bars of what ships and of devices, and the treemap, at a given width."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType
from typing import Final, NamedTuple

from inspector.model import Cell, Report
from inspector.model.fit_model import BUDGETS, Device, Fit
from inspector.rollup import bits_per_weight, largest_first, parameters
from inspector.show import palette
from inspector.show.charts import Bar, Limit, Share
from inspector.show.phrases import NONE, UNKNOWN, bits, many
from inspector.units import both, gb, percent

_FILL: Final = {s.name: s for s in palette.FILLS}

_MOST: Final = 64
"""Bars of variants in one menu; a longer one is continued by its table."""

_PARTS: Final = 16
"""Components in one bar; smaller ones share a piece."""


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
        average = bits_per_weight(size, parameters(cells))
        words = f"{component}: {both(size)}, {percent(size, whole)}"
        if average is not None:
            words += f", {bits(average)} bits per weight"
        shares.append(Share(component, size, _shade(cells), words))
    return Bar(name, both(whole), tuple(_fewer(shares)))


def _fewer(shares: list[Share]) -> list[Share]:
    """The shares, largest first, with those beyond the limit as one."""
    rest = shares[_PARTS - 1 :]
    if len(rest) < 2:
        return shares
    size = sum(s.bytes for s in rest)
    words = f"{len(rest):,} smaller"
    return [*shares[: _PARTS - 1], Share(words, size, palette.UNKNOWN, f"{words}: {both(size)}")]


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


def shades(cells: Iterable[Cell]) -> dict[str, palette.Shade]:
    """The colour of each component: that of its average."""
    return {component: _shade(part) for component, part in largest_first(cells)}


def _shade(cells: Sequence[Cell]) -> palette.Shade:
    known = parameters(cells)
    average = bits_per_weight(sum(c.bytes for c in cells), known)
    return palette.shade(average, overhead_only=known == 0)


class Run(NamedTuple):
    """Devices in a row that show the same figures: the number of the first from 0, how many, it, and their bar."""

    at: int
    size: int
    device: Device
    bar: Bar

    @property
    def numbers(self) -> str:
        """Which devices these are, from 1: '3', or '3 to 8, each'."""
        return f"{self.at + 1}" if self.size == 1 else f"{self.at + 1} to {self.at + self.size}, each"


def devices(fit: Fit, colours: Mapping[str, palette.Shade] = MappingProxyType({})) -> list[Bar]:
    """One bar per run: weights by component, copies, cache, then what is free and kept back, or how much lacks."""
    return [run.bar for run in runs(fit, colours)]


def runs(fit: Fit, colours: Mapping[str, palette.Shade] = MappingProxyType({})) -> list[Run]:
    """The devices of a cluster, those that differ by no figure as shown together; `colours` are those of components."""
    found = []
    drawn = [(device.name, _device(device, fit, colours)) for device in fit.devices]
    at = 0
    for (name, _), group in groupby(drawn, key=lambda one: (one[0], (one[1].figure, *[s.hint for s in one[1].shares]))):
        bars = [bar for _, bar in group]
        run = Run(at, len(bars), fit.devices[at], bars[0])
        word = "device" if run.size == 1 else "devices"
        found.append(run._replace(bar=run.bar._replace(name=f"{word} {run.numbers}: {name}")))
        at += run.size
    return found


def fullest(found: Sequence[Run], most: int) -> list[Run]:
    """The runs with the least room, in their order."""
    if len(found) <= most:
        return list(found)

    def room(run: Run) -> int:
        device = run.device
        return device.usable_bytes - device.weights if device.free is None else device.free

    kept = {run.at for run in sorted(found, key=room)[:most]}
    return [run for run in found if run.at in kept]


def _weights(device: Device, colours: Mapping[str, palette.Shade]) -> list[Share]:
    own = device.weights - device.replicated_bytes
    if not device.parts:
        return [Share("weights", own, _FILL["weights"], f"weights: {both(own)}")]
    parts = [(name, size - again) for name, size, again in device.parts]
    return _fewer([Share(n, size, colours.get(n, palette.UNKNOWN), f"{n}: {both(size)}") for n, size in parts])


def _device(device: Device, fit: Fit, colours: Mapping[str, palette.Shade]) -> Bar:
    copies = device.replicated_bytes
    shares = [*_weights(device, colours), Share("copies", copies, _FILL["copies"], f"copies: {both(copies)}")]
    if device.cache is not None:
        words = f"cache at {fit.context:,} tokens: {both(device.cache)}"
        shares.append(Share("cache", device.cache, _FILL["cache"], words))
    if device.free is not None and device.free >= 0:
        shares += _longer(device)
        left = device.free - sum(s.bytes for s in _longer(device))
        kept = Share("kept back", device.overhead, _FILL["kept"], f"kept back: {both(device.overhead)}")
        shares += [Share("free", left, _FILL["free"], f"free: {both(left)}"), kept]
    return Bar("", state(device), tuple(shares), (device.usable_bytes, device.usable_bytes + device.overhead))


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
        label = f"{bits(average)} bits" if average is not None else ""
        words = f"{bits(average)} bits per weight"
        shares = () if size is None else (Share(label, size, palette.shade(average), words),)
        title = f"{variant.name} (default)" if variant.default else variant.name
        bars.append(Bar(title, both(size) if size is not None else UNKNOWN, shares))
    return bars


def limits(fits: Sequence[Fit]) -> list[Limit]:
    """The raw and server budgets of each cluster, as lines."""
    found = []
    for fit in fits:
        for name in ("raw", "server"):
            size = fit.budget(name).usable_bytes
            words = f"{fit.cluster}, {name}"
            found.append(Limit(f"{words}: {both(size)}", max(size, 0), f"{words}: {gb(size)}"))
    return found


def described(bars: Sequence[Bar]) -> str:
    """The bars in one sentence each, for a picture's description."""
    return (
        " ".join(f"{b.name}: {b.figure}." for b in bars[:12])
        + (f" And {many(len(bars) - 12, 'more bar')}." if len(bars) > 12 else "")
        or NONE
    )
