"""`inspect hardware [PATTERN]`: the devices that are known here, with the memory that each really shows."""

from __future__ import annotations

import fnmatch
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from inspector.errors import UsageError
from inspector.escape import terminal
from inspector.fitting.hardware import load_hardware, name_key, nearest
from inspector.model.fit_model import Hardware
from inspector.output import emit, width
from inspector.show.columns import Column, layout
from inspector.units import both

_COLUMNS = (
    Column("id", floor=12),
    Column("device", floor=16, optional=True),
    Column("kind"),
    Column("memory shown", right=True),
    Column("GB/s", right=True, optional=True),
    Column("native", optional=True),
    Column("figure"),
)


@click.command("hardware", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("pattern", required=False)
@click.option("--hardware", "extra", type=click.Path(), metavar="FILE", help="Your own rows (TOML), which win.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write to FILE instead of standard output.")
def command(pattern: str | None, extra: str | None, form: str, output: str | None) -> None:
    """List known hardware, or the devices that PATTERN (part of a name, or a glob) fits.

    Memory is what the driver or operating system shows. `marketed` figures are sizes as sold, no driver's.
    """
    rows = load_hardware(Path(extra) if extra is not None else None)
    found = matching(pattern, rows) if pattern is not None else rows
    if not found:
        near = nearest(pattern or "", rows)
        advice = f"Nearest: {', '.join(near)}." if near else "Without a pattern all are listed."
        raise UsageError("inspect hardware", f"nothing is called {(pattern or '')[:60]!r}", advice)
    if form == "json":
        emit(json.dumps({"schema_version": 1, "hardware": [asdict(r) for r in found]}, indent=2) + "\n", output)
        return
    cells = [[terminal(cell) for cell in _cells(row)] for row in found]
    nominal = sum(row.nominal for row in found)
    lines = layout(_COLUMNS, cells, width(sys.stdout) if output is None else 120)
    tail = f"{len(found)} devices, {nominal} of them nominal: a marketed size, no driver's figure"
    emit("\n".join([*lines, "", tail]) + "\n", output)


def matching(pattern: str, rows: Sequence[Hardware]) -> tuple[Hardware, ...]:
    """Rows whose id, name or an alias holds the pattern, or fits it as a glob; spelling as free as in --cluster."""
    if any(c in pattern for c in "*?["):
        glob = pattern.lower()
        return tuple(r for r in rows if any(fnmatch.fnmatchcase(n.lower(), glob) for n in (r.id, r.name, *r.aliases)))
    key = name_key(pattern)
    return tuple(r for r in rows if key and any(key in name_key(n) for n in (r.id, r.name, *r.aliases)))


def _cells(row: Hardware) -> tuple[str, ...]:
    formats = [name for name, has in (("fp8", row.fp8), ("fp4", row.fp4)) if has]
    bandwidth = "unknown" if row.bandwidth_gbps is None else f"{row.bandwidth_gbps:g}"
    native = " ".join(formats) or ("unknown" if row.fp8 is None else "-")
    figure = f"nominal, {row.confidence}" if row.nominal else row.confidence or "given"
    return row.id, row.name, row.kind, both(row.visible_bytes), bandwidth, native, figure
