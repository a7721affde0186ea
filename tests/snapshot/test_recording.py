"""Exactly the bytes that a report needs are kept, however they came, and faults as what they are."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from inspector.errors import MalformedFile, SourceError
from inspector.model import Listing, Report
from inspector.snapshots.recording import joined, needed
from inspector.snapshots.snapshot import open_snapshot
from inspector.sources.snapshot import SnapshotSource
from tests.memory import MemorySource, header
from tests.snapshot import cases


@pytest.mark.parametrize("files", [cases.PLAIN, cases.MENU], ids=["safetensors", "gguf"])
def test_how_the_bytes_came_does_not_matter(files: dict[str, bytes | tuple[bytes, int]]) -> None:
    made = {cases.file_of(cases.recorded(MemorySource(files, chunk=n))) for n in (1 << 20, 65_536, 4_096, 97)}
    assert len(made) == 1


def test_it_holds_the_headers_the_documents_and_nothing_else() -> None:
    data = cases.tiny()
    parts = cases.entries(data)
    heads = [f[0] for f in cases.PLAIN.values() if isinstance(f, tuple)]
    kept = {p for name, p in parts.items() if name != "manifest.json"}
    assert kept == {*heads, cases.CONFIG, cases.INDEX}
    for name, content in parts.items():
        assert name == "manifest.json" or name == f"content/{hashlib.sha256(content).hexdigest()}"
    manifest = cases.manifest(data)
    assert (manifest["format"], manifest["schema_version"], manifest["tool"]["version"]) == ("inspect-snapshot", 1, "1")
    assert [f[:2] for f in manifest["repos"][0]["files"]] == [
        [p, len(f) if isinstance(f, bytes) else len(f[0]) + f[1]] for p, f in sorted(cases.PLAIN.items())
    ]


def test_a_gguf_header_is_kept_to_its_last_tensor_info() -> None:
    head = cases.MENU["tiny.F16.gguf"][0]
    assert isinstance(head, bytes)
    parts = cases.entries(cases.file_of(cases.recorded(MemorySource(cases.MENU), variants=("F16",))))
    (kept,) = [p for name, p in parts.items() if name != "manifest.json"]
    # The padding up to the data section says nothing.
    assert kept == head.rstrip(b"\0") or head.startswith(kept)
    assert len(head) - 32 < len(kept) <= len(head)


class Spoilt(MemorySource):
    """One shard cannot be had, one document neither."""

    async def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        if path.startswith("model-00002"):
            feed(b"\x10")
            raise SourceError(path, "the server said 503", "Try again.")
        return await super().stream(path, start, length, feed)

    async def small(self, path: str) -> bytes:
        if path == "config.json":
            raise SourceError(path, "gone", "Ask.")
        return await super().small(path)


def test_what_could_not_be_read_is_replayed_as_that(tmp_path: Path) -> None:
    online = cases.examined(Spoilt(cases.PLAIN))
    assert online.incomplete
    assert {n.where for n in online.notes if "503" in n.message or "gone" in n.message} == {
        "model-00002-of-00002.safetensors",
        "config.json",
    }
    data = cases.file_of(cases.recorded(Spoilt(cases.PLAIN)))
    assert cases.replayed(cases.written(tmp_path, data)) == online


def broken(head: bytes, size: int) -> dict[str, bytes | tuple[bytes, int]]:
    return {"config.json": cases.CONFIG, "model.safetensors": (head, size)}


@pytest.mark.parametrize(
    "files",
    [
        broken(b"\xff" * 50_000, 100),
        broken((40).to_bytes(8, "little") + b"[" * 40, 0),
        broken((4_000).to_bytes(8, "little") + b"{" * 100, 0),
        broken(header(cases.FIRST)[0], 8000),
        {"x.gguf": (b"GGUF" + b"\x03\0\0\0" + b"\xff" * 16, 100_000)},
        {"x.gguf": (cases.gguf("a", 1, 8192)[0][:5000], 0)},
    ],
    ids=["length", "json", "short", "truncated", "counts", "gguf-short"],
)
def test_a_malformed_file_gives_the_same_words(files: dict[str, bytes | tuple[bytes, int]], tmp_path: Path) -> None:
    def told(run: Callable[[], Report]) -> object:
        try:
            return run()
        except MalformedFile as error:
            return str(error)

    online = told(lambda: cases.examined(MemorySource(files)))
    made = {cases.file_of(cases.recorded(MemorySource(files, chunk=n))) for n in (65_536, 1_000)}
    assert len(made) == 1
    path = cases.written(tmp_path, made.pop())
    assert told(lambda: cases.replayed(path)) == online


class Unsized(MemorySource):
    """A mirror that gives no sizes."""

    async def listing(self) -> Listing:
        listing = await super().listing()
        return replace(listing, files=tuple(replace(f, size=None) for f in listing.files))


@pytest.mark.parametrize("files", [cases.PLAIN, broken((4_000).to_bytes(8, "little") + b"{" * 100, 0)])
def test_files_of_unknown_size(files: dict[str, bytes | tuple[bytes, int]], tmp_path: Path) -> None:
    path = cases.written(tmp_path, cases.file_of(cases.recorded(Unsized(files))))
    opened = open_snapshot(path)
    told: list[object] = []
    for source in (Unsized(files), SnapshotSource(opened, opened.repos[0])):
        try:
            told.append(cases.examined(source))
        except MalformedFile as error:
            told.append(str(error))
    assert told[0] == told[1]


def test_runs_of_bytes_are_joined() -> None:
    runs = [(10, bytearray(b"bcd")), (0, bytearray(b"012")), (3, bytearray(b"34")), (11, bytearray(b"cdef"))]
    assert joined(runs) == [(0, b"01234"), (10, b"bcdef")]
    # A run inside another adds nothing.
    assert joined([(0, bytearray(b"01234")), (1, bytearray(b"12"))]) == [(0, b"01234")]


def test_needed_is_the_shortest_beginning() -> None:
    from inspector.formats.safetensors import Reader

    head, size = header(cases.FIRST)
    for extra in (0, 1, 5_000, 200_000):
        assert needed(Reader, "x", len(head) + size, head + b"\0" * extra) == len(head)
    assert needed(Reader, "x", None, head[:-1]) == len(head) - 1
    assert needed(Reader, "x", None, b"\xff" * 100) == 8


def whole_menu() -> dict[str, bytes | tuple[bytes, int]]:
    """The menu beside a quant of raw pieces, of which the first has the header."""
    head, size = cases.MENU["tiny.Q8_0.gguf"]
    assert isinstance(head, bytes)
    assert isinstance(size, int)
    whole = head + bytes(size)
    pieces = {"big.Q4_0.gguf.part1of2": whole[: len(head) + 40], "big.Q4_0.gguf.part2of2": whole[len(head) + 40 :]}
    return {**cases.MENU, **pieces}


@pytest.mark.parametrize("variant", [None, "F16", "Q8_0", "Q4_0", "all"])
def test_every_choice_of_a_menu(variant: str | None, tmp_path: Path) -> None:
    files = whole_menu()
    made = {cases.file_of(cases.recorded(MemorySource(files, chunk=n), variants=(variant,))) for n in (1 << 17, 999)}
    assert len(made) == 1
    path = cases.written(tmp_path, made.pop())
    assert cases.replayed(path, variant) == cases.examined(MemorySource(files), variant)
    most = max(len(f[0]) for f in cases.MENU.values() if isinstance(f, tuple))
    assert all(len(c) <= most for n, c in cases.entries(path.read_bytes()).items() if n != "manifest.json")
