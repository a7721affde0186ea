"""Tables of the page: cells are words, or figures that carry their exact value and their place in the JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from inspector.model import Cell, Report
from inspector.model.cache_model import Cache
from inspector.model.fit_model import BUDGETS, Fit
from inspector.rollup import bits_per_weight, by_component, largest_first
from inspector.show import tables
from inspector.show.columns import Column
from inspector.show.phrases import NONE, UNKNOWN, bits, counted, exact, sized
from inspector.show.pictures import Run
from inspector.show.sentences import contexts
from inspector.show.treemap import cell_shade
from inspector.units import both, percent

_MOST: Final = 200
"""Rows of a table of devices."""

_ALL: Final = "--format json has them all"

_SIZES: Final = ("usable_bytes", "weights", "replicated_bytes", "cache", "overhead", "free")


class Figure(NamedTuple):
    """A number as shown, with its exact value and the path below the report where the JSON has it."""

    text: str
    value: float | int | None
    path: str = ""


class Key(NamedTuple):
    """A word with the colour that stands for it in the drawing."""

    text: str
    shade: str


class Off(NamedTuple):
    """A figure with a bar from the middle: right for too much, left for too little; a half is 100 % and beyond.

    `words` say what the bar does.
    """

    figure: Figure
    words: str
    offset: float
    width: float
    shade: str


Entry = str | Figure | Key | Off


class Sheet(NamedTuple):
    """A table of the page; `cut` counts rows that were left out, `more` says where they are.

    A `tight` one has so many figures that they may stand in two lines.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Entry, ...], ...]
    cut: int = 0
    more: str = ""
    tight: bool = False


def sheet(table: tables.Table, most: int = 400, more: str = _ALL) -> Sheet:
    """A table of words, at most `most` rows of it."""
    rows: tuple[tuple[Entry, ...], ...] = tuple(table.rows[:most])
    return Sheet(table.title, table.columns, rows, max(len(table.rows) - most, 0), more)


def components(report: Report) -> Sheet:
    """The treemap in words: a row per component and precision, the largest component first."""
    places = {c: (i, j) for i, (_, part) in enumerate(by_component(report.cells)) for j, c in enumerate(part)}
    whole = sum(c.bytes for c in report.cells)
    rows: list[tuple[Entry, ...]] = []
    for component, cells in largest_first(report.cells):
        for cell in cells:
            path = "components.{}.precisions.{}".format(*places[cell])
            rows.append((component, Key(cell.precision or NONE, cell_shade(cell).name), *_cell(cell, path, whole)))
    columns = (
        Column("component"),
        Column("precision"),
        Column("parameters", right=True),
        Column("weight bytes", right=True),
        Column("overhead bytes", right=True),
        Column("bytes", right=True),
        Column("share", right=True),
        Column("bits per weight", right=True),
        Column("stored as"),
    )
    return Sheet(
        "By component and precision", columns, tuple(rows[:600]), max(len(rows) - 600, 0), "--format json has them all"
    )


def _cell(cell: Cell, path: str, whole: int) -> tuple[Entry, ...]:
    average = bits_per_weight(cell.bytes, cell.parameters)
    return (
        Figure(counted(cell.parameters), cell.parameters, f"{path}.parameters"),
        Figure(exact(cell.weight_bytes), cell.weight_bytes, f"{path}.weight_bytes"),
        Figure(exact(cell.overhead_bytes), cell.overhead_bytes, f"{path}.overhead_bytes"),
        Figure(both(cell.bytes), cell.bytes),
        Figure(percent(cell.bytes, whole), cell.bytes),
        Figure(bits(average), average) if cell.parameters != 0 else NONE,
        " ".join(cell.storage_dtypes) or NONE,
    )


def totals(report: Report) -> Sheet:
    """The report's own figures."""
    names = ("file_bytes", "tensor_bytes", "excluded_bytes", "other_bytes", "repo_bytes")
    rows: list[tuple[Entry, ...]] = [
        ("parameters", Figure(exact(report.parameters), report.parameters, "parameters"), counted(report.parameters)),
        ("bits per weight", Figure(bits(report.bits_per_weight), report.bits_per_weight, "bits_per_weight"), ""),
        ("files", Figure(f"{report.files:,}", report.files, "files"), ""),
        ("tensors", Figure(exact(report.tensors), report.tensors, "tensors"), ""),
    ]
    for name in names:
        size: int | None = getattr(report, name)
        rows.append((name.replace("_", " "), Figure(exact(size), size, name), sized(size)))
    columns = (Column("figure"), Column("exact", right=True), Column("in words", right=True))
    return Sheet("Totals", columns, tuple(rows))


def devices(fit: Fit, path: str, found: Sequence[Run]) -> Sheet:
    """The bars of a cluster in words."""
    further = sorted({tokens for run in found for tokens, _ in run.device.longer})
    rows: list[tuple[Entry, ...]] = []
    for run in found[:_MOST]:
        device, place = run.device, f"{path}.devices.{run.at}"
        sizes = {n: Figure(sized(getattr(device, n)), getattr(device, n), f"{place}.{n}") for n in _SIZES}
        longer = {n: Figure(sized(v), v, f"{place}.longer.{k}.cache") for k, (n, v) in enumerate(device.longer)}
        caches = [sizes["cache"], *[longer.get(n, "does not fit") for n in further]]
        weights = [sizes[n] for n in ("usable_bytes", "weights", "replicated_bytes")]
        rows.append((run.numbers, device.name, *weights, *caches, sizes["overhead"], sizes["free"]))
    columns = (
        Column("device"),
        Column("name"),
        Column("server budget", right=True),
        Column("weights", right=True),
        Column("of which copies", right=True),
        *[Column(f"cache at {tokens:,} tokens", right=True) for tokens in (fit.context, *further)],
        Column("kept back", right=True),
        Column("free", right=True),
    )
    return Sheet(f"Devices of {fit.cluster}", columns, tuple(rows), len(found) - len(rows), _ALL, tight=True)


def parts(fit: Fit, path: str, found: Sequence[Run]) -> Sheet:
    """What each device holds, component by component; devices that show the same figures together."""
    rows: list[tuple[Entry, ...]] = []
    for run in found:
        place = f"{path}.devices.{run.at}.components"
        for k, (name, size, again) in enumerate(run.device.parts):
            sizes = ((size, "bytes"), (again, "replicated_bytes"))
            rows.append((run.numbers, name, *[Figure(both(n), n, f"{place}.{k}.{what}") for n, what in sizes]))
    columns = (
        Column("device"),
        Column("component"),
        Column("weights", right=True),
        Column("of which copies", right=True),
    )
    title = f"Weights on each device of {fit.cluster}"
    return Sheet(title, columns, tuple(rows[:_MOST]), max(len(rows) - _MOST, 0), _ALL)


def budgets(fit: Fit, path: str) -> Sheet:
    """What each budget leaves, and the context that fits it."""
    rows: list[tuple[Entry, ...]] = []
    for name in BUDGETS:
        budget, place = fit.budget(name), f"{path}.budgets.{name}"
        most = UNKNOWN if budget.max_context is None else f"{budget.max_context:,}"
        rows.append(
            (
                name,
                Figure(both(budget.usable_bytes), budget.usable_bytes, f"{place}.usable_bytes"),
                Figure(sized(budget.headroom_bytes), budget.headroom_bytes, f"{place}.headroom_bytes"),
                Figure(most, budget.max_context, f"{place}.max_context"),
            )
        )
    columns = (
        Column("budget"),
        Column("usable together", right=True),
        Column("left after weights", right=True),
        Column("context that fits (tokens)", right=True),
    )
    return Sheet(f"Context on {fit.cluster}", columns, tuple(rows))


def cache(fits: Sequence[Fit], known: Cache) -> Sheet:
    """Bytes of one sequence's cache by context, with the clusters' answers under the server budget."""
    rows: list[tuple[Entry, ...]] = []
    for tokens in contexts(fits, known):
        held = known.bytes_at(tokens)
        words = ["unknown" if f.max_context is None else "yes" if tokens <= f.max_context else "no" for f in fits]
        rows.append((Figure(f"{tokens:,}", tokens), Figure(both(held), held), *words))
    columns = (
        Column("tokens", right=True),
        Column(f"cache in {known.kv_dtype}", right=True),
        *[Column(f"fits {f.cluster}") for f in fits],
    )
    return Sheet("Cache of one sequence", columns, tuple(rows))
