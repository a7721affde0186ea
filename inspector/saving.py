"""Write a snapshot that was made, and say what is in it and what could not be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector import answer, output

if TYPE_CHECKING:
    from inspector.locking import Locked
    from inspector.snapshots.snapshot import Snapshot


def complain(found: Locked) -> None:
    """Say on standard error what could not be read."""
    for label, why in found.problems:
        answer.complain(f"{label}: {why}" if not why.startswith(label) else why)


def save(snapshot: Snapshot, path: str) -> None:
    """Write a snapshot that was made in memory."""
    output.emit_bytes(snapshot.data or b"", path)


def said(found: Locked, snapshot: Snapshot, path: str) -> None:
    """Print what was written."""
    from inspector.escape import terminal
    from inspector.units import gb

    size = len(snapshot.data or b"")
    lines = [f"{terminal(path)}: {_count(len(snapshot.repos), 'repo')}, {gb(size)}"]
    for r in snapshot.repos:
        commit = terminal((r.listing.ref.revision or "local")[:12])
        kept = f"{_count(len(r.reads), 'header')}, {_count(len(r.documents), 'document')}"
        lines.append(f"  {terminal(r.asked.label, 100)} @ {commit}: {kept}")
    lines.append(f"cost: {found.requests:,} requests · {gb(found.bytes_fetched)} fetched")
    output.emit("\n".join(lines) + "\n", None)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
