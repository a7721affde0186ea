"""Hand-made fits: one device, two that are too small, 64 alike, and one whose cache is unknown."""

from __future__ import annotations

from dataclasses import replace

from inspector.model import Cell, Report
from inspector.model.fit_model import Answer, Budget, Device, Fit
from tests.render.samples import V41, hostile

GIB = 1 << 30


def fit(cluster: str, verdict: Answer, devices: tuple[Device, ...], most: int | None, units: int | None = None) -> Fit:
    usable = sum(d.usable_bytes for d in devices)
    left = usable - sum(d.weights for d in devices)
    kept = sum(d.overhead for d in devices)
    budgets = (
        Budget("raw", usable + kept, left + kept, most),
        Budget("tight", usable + kept // 2, left + kept // 2, most),
        Budget("server", usable, left, most),
    )
    return Fit(cluster, "vllm", "tp", 8192, 1, "fp8", verdict, budgets, devices, units, 0, ("one <assumption>",))


def device(name: str, weights: int, cache: int | None, usable: int = 96 * GIB, kept: int = 24 * GIB) -> Device:
    free = None if cache is None else usable - weights - cache
    return Device(name, usable, weights, weights // 100, cache, kept, free)


TWO = fit("2x dgx-spark", "does_not_fit", (device("dgx-spark", 238 * GIB, 10_000_000),) * 2, 0, 8)
MANY = fit("64x h100-80", "fits", (device("h100-80", 8 * GIB, GIB),) * 64, 1_048_576)
SLOPED = fit("64x odd", "fits", tuple(device("odd", (i + 1) * GIB, GIB) for i in range(64)), 9)
ONE = fit("1x m3-ultra-512", "tight", (device("m3-ultra-512", 80 * GIB, 15 * GIB),), 8192)
BLIND = fit("1x rtx-4090", "unknown", (device("rtx-4090", 10 * GIB, None),), None)

WITH_FITS = replace(V41, fits=(TWO, MANY, ONE))
CROWDED = replace(V41, fits=(SLOPED, BLIND))
MALICE = replace(hostile(), fits=(replace(TWO, cluster=hostile().repo, engine=hostile().repo),))


def cells_of_many_precisions(count: int = 500) -> tuple[Cell, ...]:
    """One component in many precisions, and a part without a byte."""
    found = [Cell("mlp", f"vq@{i}", 2.0, ("U8",), (), 1, 4 * (i + 1), i + 1, 0) for i in range(count)]
    return (*found, Cell("norm", "bf16", 16.0, ("BF16",), (), 1, 0, 0, 0))


PRECISIONS: Report = replace(V41, cells=cells_of_many_precisions())
EMPTY: Report = replace(V41, cells=(Cell("norm", "bf16", 16.0, ("BF16",), (), 1, 0, 0, 0),), tensor_bytes=0)
LONG: Report = replace(V41, repo="org/" + "m" * 1000, variant="v" * 1000)


def _five_hundred() -> Report:
    """As many components, on two devices that are alike and on 64 that are not."""
    sizes = [(i * 7_919 % 997 + 1) * 100_000 for i in range(500)]
    cells = tuple(Cell(f"part_{i}", "bf16", 16.0, ("BF16",), (), 1, n // 2, n, 0) for i, n in enumerate(sizes))
    parts = tuple((c.component, c.bytes, c.bytes // 2 if i % 5 == 0 else 0) for i, c in enumerate(cells))
    whole = sum(sizes)
    again = sum(copies for _, _, copies in parts)
    one = Device("odd", 96 * GIB, whole, again, GIB, 24 * GIB, 95 * GIB - whole, ((131_072, 3 * GIB),), parts)
    several = tuple(replace(one, usable_bytes=(96 + i) * GIB, free=(95 + i) * GIB - whole) for i in range(64))
    fits = (fit("2x odd", "fits", (one, one), 131_072), fit("64x odd", "fits", several, 131_072))
    return replace(V41, cells=cells, tensor_bytes=whole, fits=fits)


FIVE_HUNDRED: Report = _five_hundred()
