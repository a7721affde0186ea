"""Snapshots: the zip as it stands, or a sound zip around a manifest of the input."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Final

from inspector.errors import InspectorError
from inspector.snapshots.snapshot import from_bytes
from inspector.snapshots.snapshot_zip import FOLDER, Packed, assemble, pack
from inspector.sources.snapshot import SnapshotSource
from scripts.fuzzing import reports
from scripts.fuzzing.target import Target, tried
from tests.memory import MemorySource
from tests.snapshot import cases

_PATH: Final = Path("x.zip")
_ZIP: Final = 1
"""The rest of the input is the zip, and not the manifest in it."""


@cache
def _contents() -> dict[str, Packed]:
    """What the sound snapshot holds beside its manifest."""
    return {name: pack(data)[1] for name, data in cases.entries(cases.tiny()).items() if name.startswith(FOLDER)}


def _snapshot(data: bytes) -> None:
    how, body = data[0] if data else 0, data[1:]
    raw = body if how & _ZIP else assemble(body, _contents())
    found = tried(lambda: from_bytes(raw, _PATH))
    if found is None:
        return
    tried(found.verify)
    for recorded in found.repos:
        source = SnapshotSource(found, recorded)
        tried(lambda source=source: reports.of(source, data))  # type: ignore[misc]
    for refused in found.refused:
        assert isinstance(refused.fault.error(), InspectorError)
    tried(lambda: found.find("org/name"))


def _seeds() -> Iterable[bytes]:
    whole = cases.file_of(cases.recorded(MemorySource(cases.PLAIN)))
    yield bytes([_ZIP]) + whole
    yield b"\0" + cases.entries(whole)["manifest.json"]


TARGETS: Final = (
    Target(
        "snapshot",
        _snapshot,
        _seeds,
        ("PK\x01\x02", "PK\x03\x04", "PK\x05\x06", "manifest.json", "content/", "repos", "refused", "faults", "../x"),
        structured=1,
    ),
)
