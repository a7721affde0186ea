"""Repos for the tests of snapshots, and ways to record and to spoil one."""

from __future__ import annotations

import json
import socket
import struct
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any, NoReturn

import pytest

from inspector import Report
from inspector.model import Cost, Source
from inspector.snapshots.recording import Recording
from inspector.snapshots.snapshot import dump, open_snapshot
from inspector.snapshots.snapshot_model import Asked
from inspector.sources.snapshot import SnapshotSource
from tests.formats.gguf.build import build
from tests.memory import MemorySource, header
from tests.waiting import examine, record

CONFIG = json.dumps({"model_type": "llama", "num_hidden_layers": 1}).encode()
LAYER = "model.layers.0."
FIRST = {
    LAYER + "self_attn.q_proj.weight": ("BF16", (64, 64), 8192),
    LAYER + "input_layernorm.weight": ("F32", (64,), 256),
}
SECOND = {LAYER + "mlp.up_proj.weight": ("F8_E4M3", (128, 64), 8192)}
INDEX = json.dumps(
    {
        "metadata": {"total_size": 16640},
        "weight_map": {
            **dict.fromkeys(FIRST, "model-00001-of-00002.safetensors"),
            **dict.fromkeys(SECOND, "model-00002-of-00002.safetensors"),
        },
    }
).encode()

PLAIN: Mapping[str, bytes | tuple[bytes, int]] = {
    "README.md": b"never read",
    "config.json": CONFIG,
    "model.safetensors.index.json": INDEX,
    "model-00001-of-00002.safetensors": header(FIRST, {"format": "pt"}),
    "model-00002-of-00002.safetensors": header(SECOND),
}


def gguf(name: str, kind: int, size: int) -> tuple[bytes, int]:
    """A GGUF file of one tensor, with a vocabulary that takes several chunks."""
    words = [f"token {i}" for i in range(3000)]
    keys = [("general.architecture", 8, "llama"), ("tokenizer.ggml.tokens", 9, (8, words))]
    head, whole = build([(name, (64, 64), kind, size)], keys)
    return head, whole - len(head)


MENU: Mapping[str, bytes | tuple[bytes, int]] = {
    "tiny.F16.gguf": gguf("blk.0.attn_q.weight", 1, 8192),
    "tiny.Q8_0.gguf": gguf("blk.0.attn_q.weight", 8, 64 * 64 // 32 * 34),
}


def recorded(source: Source, name: str = "org/name", variants: Sequence[str | None] = (None,)) -> Recording:
    return record(Asked(name), source, variants)


def file_of(*recordings: Recording) -> bytes:
    contents = {name: packed for r in recordings for name, packed in r.contents.items()}
    return dump([r.recorded for r in recordings], (), contents, "1")


def tiny() -> bytes:
    """A whole snapshot of a small repo."""
    return file_of(recorded(MemorySource(PLAIN)))


def bare(report: Report) -> Report:
    """A report without what it cost."""
    return replace(report, cost=Cost())


def examined(source: Source, variant: str | None = None) -> Report:
    return bare(examine(source, variant=variant)[0])


def replayed(path: Path, variant: str | None = None) -> Report:
    """What the first repo of a snapshot gives."""
    snapshot = open_snapshot(path)
    return examined(SnapshotSource(snapshot, snapshot.repos[0]), variant)


def entries(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as z:
        return {i.filename: z.read(i) for i in z.infolist()}


def manifest(data: bytes) -> Any:
    return json.loads(entries(data)["manifest.json"])


def zipped(parts: Mapping[str, bytes] | Sequence[tuple[str | zipfile.ZipInfo, bytes]]) -> bytes:
    """A zip by the standard library's writer."""
    out = BytesIO()
    pairs = parts.items() if isinstance(parts, Mapping) else parts
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, content in pairs:
            z.writestr(name, content)
    return out.getvalue()


def with_manifest(data: bytes, change: Callable[[Any], None]) -> bytes:
    """The same snapshot, sound but for what `change` does to its manifest."""
    parts = entries(data)
    value = json.loads(parts["manifest.json"])
    change(value)
    return zipped({**parts, "manifest.json": json.dumps(value).encode()})


def patched(data: bytes, at: int, form: str, value: int) -> bytes:
    """`data` with one number written over."""
    out = bytearray(data)
    struct.pack_into(form, out, at, value)
    return bytes(out)


def central(data: bytes, name: str) -> int:
    """Where the directory's record of an entry begins."""
    return data.rindex(b"PK\x01\x02", 0, data.rindex(name.encode()))


def written(tmp_path: Path, data: bytes, name: str = "x.zip") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


def no_sockets(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on, making a socket or asking a name fails the test."""

    def refuse(*args: object, **options: object) -> NoReturn:
        raise AssertionError("a socket was asked for")

    for name in ("socket", "create_connection", "getaddrinfo", "socketpair"):
        monkeypatch.setattr(socket, name, refuse)
