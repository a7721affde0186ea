"""What a person reads of a report as tables, which text and Markdown lay out each in its own way.

Nothing here is escaped: a renderer passes every string through its own rule of `escape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from inspector.model import COMPONENTS, Cell, Excluded, Report, TensorRow, Variant
from inspector.rollup import bits_per_weight, by_component, by_precision, largest_first
from inspector.show.columns import Column
from inspector.show.fit_tables import WORDS, slope
from inspector.show.phrases import NONE, UNKNOWN, bits, counted, exact, many, sized
from inspector.units import both, percent


class Table(NamedTuple):
    """A titled table; every row has a cell per column."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(report: Report) -> tuple[Table, ...]:
    """The tables of one report that have rows, in reading order."""
    found = (components(report), dtypes(report), menu(report), claims(report), ledger(report), excluded(report))
    return tuple(table for table in found if table.rows)


def components(report: Report) -> Table:
    """Cells by component and precision, the largest of each first, with the total as last row."""
    cells = [cell for _, part in largest_first(report.cells) for cell in part]
    whole = sum(c.bytes for c in cells)
    rows = [(c.component, *_cell(c, whole)) for c in cells]
    if rows:
        overhead = sum(c.overhead_bytes for c in cells)
        average = bits(report.bits_per_weight)
        rows.append(
            (
                "total read" if report.unread else "total",
                "all",
                counted(report.parameters),
                both(whole),
                "100 %",
                average,
                both(overhead),
                "all",
                "all",
            )
        )
    columns = (
        Column("component"),
        Column("precision", floor=9),
        Column("parameters", right=True),
        Column("bytes", right=True),
        Column("share", right=True),
        Column("bits/w", right=True),
        Column("of which overhead", right=True, optional=True),
        Column("stored as", floor=8, optional=True),
        Column("block", floor=6, optional=True),
    )
    return Table("By component and precision", columns, tuple(rows))


def dtypes(report: Report) -> Table:
    """Tensors and bytes by storage dtype, as headers spell it."""
    whole = sum(d.bytes for d in report.dtypes)
    ordered = sorted(report.dtypes, key=lambda d: (-d.bytes, d.dtype))
    rows = [(d.dtype, f"{d.tensors:,}", f"{d.bytes:,}", both(d.bytes), percent(d.bytes, whole)) for d in ordered]
    columns = (
        Column("storage dtype", floor=8),
        Column("tensors", right=True),
        Column("exact bytes", right=True),
        Column("bytes", right=True),
        Column("share", right=True),
    )
    return Table("By storage dtype", columns, tuple(rows))


def menu(report: Report) -> Table:
    """The equal sets of the repo."""
    columns = (
        Column("variant", floor=16),
        Column("files", right=True, optional=True),
        Column("file bytes", right=True),
        Column("tensor bytes", right=True),
        Column("parameters", right=True),
        Column("bits/w", right=True),
        Column("figures"),
    )
    rows = tuple(_variant(v) for v in report.menu)
    return Table("Sets in this repo (choose with --variant)", columns, rows)


def _how(variant: Variant) -> str:
    """Where a set's figures come from."""
    if variant.missing:
        return "incomplete"
    if variant.derived:
        return "inferred"
    return "read" if variant.tensor_bytes is not None else "not read"


def claims(report: Report) -> Table:
    """What the index and the Hub say where the headers say otherwise."""
    rows = []
    said = (
        ("total_size of the index", report.index_total_size, "tensor bytes", report.tensor_bytes),
        ("safetensors.total of the Hub", report.hub_total, "parameters", report.parameters),
    )
    for claim, value, quantity, measured in said:
        if value is not None and value != measured:
            rows.append((claim, f"{value:,}", f"{exact(measured)} {quantity}"))
    columns = (Column("claim"), Column("says", right=True), Column("headers say", right=True))
    return Table("Claims that the headers do not confirm", columns, tuple(rows))


def ledger(report: Report) -> Table:
    """chosen + excluded + other files = whole repo."""
    parts = (
        (f"chosen ({many(report.files, 'file')})", report.file_bytes),
        ("excluded", report.excluded_bytes),
        ("other files", report.other_bytes),
        ("whole repo", report.repo_bytes),
    )
    rows = tuple((label, exact(size), sized(size)) for label, size in parts)
    columns = (Column("files"), Column("exact bytes", right=True), Column("bytes", right=True))
    return Table("Ledger", columns, rows)


def _label(folder: str, entries: Sequence[Excluded]) -> str:
    """The one path, or the folder with the number of files that share a reason."""
    if len(entries) == 1:
        return entries[0].path
    return f"{folder}/ ({len(entries):,} files)" if folder else f"{len(entries):,} files at the root"


def _sum(entries: Sequence[Excluded]) -> int | None:
    sizes = [e.bytes for e in entries]
    return None if None in sizes else sum(s for s in sizes if s is not None)


def excluded(report: Report) -> Table:
    """What is in the repo and not in the checkpoint, with the reason."""
    groups: dict[tuple[str, str], list[Excluded]] = {}
    for entry in report.excluded:
        groups.setdefault((entry.path.rpartition("/")[0], entry.reason), []).append(entry)
    rows = tuple((_label(folder, g), sized(_sum(g)), reason) for (folder, reason), g in groups.items())
    # A path must be whole to be found, so the reason gives way; where even that is too much, each row is a record.
    columns = (Column("path"), Column("bytes", right=True), Column("reason", floor=24))
    return Table("Excluded", columns, rows)


def tensors(rows: Sequence[TensorRow]) -> Table:
    """One row per stored tensor of one file."""
    columns = (
        Column("tensor", floor=32),
        Column("dtype"),
        Column("shape", right=True),
        Column("bytes", right=True),
        Column("component"),
        Column("precision"),
        Column("role"),
    )
    cells = [(t.name, t.dtype, shape(t.shape), f"{t.bytes:,}", t.component, t.precision or NONE, t.role) for t in rows]
    return Table(f"{rows[0].file}: {many(len(rows), 'tensor')}" if rows else "", columns, tuple(cells))


def figures(reports: Sequence[Report], titles: Iterable[str]) -> Table:
    """Several reports side by side: figures as rows, repos as columns."""
    rows: list[tuple[str, ...]] = [
        ("headers read", *["not all" if r.unread else "all" for r in reports]),
        ("format", *[r.format for r in reports]),
        ("variant", *[r.variant or NONE for r in reports]),
        ("files", *[f"{r.files:,}" for r in reports]),
        ("tensors", *[exact(r.tensors) for r in reports]),
        ("file bytes", *[sized(r.file_bytes) for r in reports]),
        ("tensor bytes", *[sized(r.tensor_bytes) for r in reports]),
        ("parameters", *[counted(r.parameters) for r in reports]),
        ("bits per weight", *[bits(r.bits_per_weight) for r in reports]),
        ("quantised", *[r.prequantised.verdict for r in reports]),
    ]
    if any(r.cache is not None for r in reports):
        rows.append(("cache bytes per token", *[slope(r) for r in reports]))
    for number, cluster in enumerate([f.cluster for f in reports[0].fits] if reports else []):
        found = [r.fits[number] for r in reports]
        rows.append((f"fit on {cluster}", *[WORDS[f.verdict] for f in found]))
        rows.append(("context there", *[UNKNOWN if f.max_context is None else f"{f.max_context:,}" for f in found]))
    by_name = [{n: sum(c.bytes for c in part) for n, part in by_component(r.cells)} for r in reports]
    rows += _matrix(reports, [n for n in COMPONENTS if any(n in sizes for sizes in by_name)], by_name)
    kinds = [{c.precision or "no precision": c.bytes for c in by_precision(r.cells)} for r in reports]
    largest = sorted({n for k in kinds for n in k}, key=lambda n: (-sum(k.get(n, 0) for k in kinds), n))
    rows += _matrix(reports, largest, kinds)
    rows += [
        ("excluded", *[sized(r.excluded_bytes) for r in reports]),
        ("other files", *[sized(r.other_bytes) for r in reports]),
        ("whole repo", *[sized(r.repo_bytes) for r in reports]),
    ]
    columns = (Column("figure"), *[Column(title, right=True, floor=12) for title in titles])
    return Table("Side by side", columns, tuple(rows))


def shape(dims: Sequence[int]) -> str:
    """A tensor's shape: '5120x1280', 'scalar' for none."""
    return "x".join(map(str, dims)) or "scalar"


def _matrix(reports: Sequence[Report], labels: Sequence[str], sizes: Sequence[dict[str, int]]) -> list[tuple[str, ...]]:
    def cell(report: Report, size: int | None) -> str:
        # A part that is not among the headers read may be in one that was not.
        absent = UNKNOWN if report.unread or not report.cells else NONE
        return both(size) if size is not None else absent

    return [(n, *[cell(r, s.get(n)) for r, s in zip(reports, sizes, strict=True)]) for n in labels]


def _cell(cell: Cell, whole: int) -> tuple[str, ...]:
    weights = cell.parameters != 0
    return (
        cell.precision or NONE,
        counted(cell.parameters),
        both(cell.bytes),
        percent(cell.bytes, whole),
        bits(bits_per_weight(cell.bytes, cell.parameters)) if weights else NONE,
        both(cell.overhead_bytes),
        " ".join(cell.storage_dtypes) or NONE,
        " ".join(f"{rows}x{columns}" for rows, columns in cell.blocks) or NONE,
    )


def _variant(variant: Variant) -> tuple[str, ...]:
    return (
        f"{variant.name} (default)" if variant.default else variant.name,
        f"{len(variant.files):,} of {len(variant.files) + variant.missing:,}"
        if variant.missing
        else f"{len(variant.files):,}",
        exact(variant.file_bytes),
        exact(variant.tensor_bytes),
        counted(variant.parameters),
        bits(bits_per_weight(variant.tensor_bytes, variant.parameters)),
        _how(variant),
    )
