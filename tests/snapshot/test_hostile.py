"""Files that are no snapshot, or a hostile one, are refused in words."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspector import cli
from inspector.errors import MalformedFile, UsageError
from inspector.snapshots.snapshot import open_snapshot
from inspector.snapshots.snapshot_zip import ENTRY_MOST, TOTAL_MOST, assemble, pack
from inspector.sources.snapshot import open_locked
from tests.memory import MemorySource
from tests.snapshot import cases

Capture = pytest.CaptureFixture[str]
CONTENT = f"content/{'0' * 64}"
LINK = 0o120777


def added(name: str, content: bytes = b"x") -> Callable[[bytes], bytes]:
    return lambda data: cases.zipped([*cases.entries(data).items(), (name, content)])


def changed(change: Callable[[Any], None]) -> Callable[[bytes], bytes]:
    return lambda data: cases.with_manifest(data, change)


def without(keep: Callable[[str], bool]) -> Callable[[bytes], bytes]:
    return lambda data: cases.zipped({n: c for n, c in cases.entries(data).items() if keep(n)})


def linked(data: bytes) -> bytes:
    parts: list[tuple[str | zipfile.ZipInfo, bytes]] = [*cases.entries(data).items()]
    link = zipfile.ZipInfo(CONTENT)
    link.create_system, link.external_attr = 3, LINK << 16
    return cases.zipped([*parts, (link, b"/etc/passwd")])


def encrypted(data: bytes) -> bytes:
    at = cases.central(data, "manifest.json")
    return cases.patched(data, at + 8, "<H", 1)


def doubled(data: bytes) -> bytes:
    with pytest.warns(UserWarning, match="Duplicate"):
        return cases.zipped([*cases.entries(data).items(), ("manifest.json", b"{}")])


def bomb(size: int) -> bytes:
    """Zeros that deflate to a thousandth, by a directory that says so."""
    squeezer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return b"".join(squeezer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + squeezer.flush()


def inflating(said: int, real: int) -> Callable[[bytes], bytes]:
    """A content that unpacks to `real` bytes where the directory says `said`."""

    def spoil(data: bytes) -> bytes:
        parts = cases.entries(data)
        out = cases.zipped([*parts.items(), (CONTENT, b"x")])
        at, body = cases.central(out, CONTENT), bomb(real)
        local = struct.unpack_from("<L", out, at + 42)[0]
        length = struct.unpack_from("<L", out, at + 20)[0]
        start = local + 30 + len(CONTENT)
        directory = struct.unpack_from("<L", out, len(out) - 6)[0]
        moved = out[:start] + body + out[start + length :]
        shift = len(body) - length
        moved = cases.patched(moved, at + shift + 20, "<L", len(body))
        moved = cases.patched(moved, at + shift + 24, "<L", said)
        return cases.patched(moved, len(moved) - 6, "<L", directory + shift)

    return spoil


def overlapping(data: bytes) -> bytes:
    """Two entries of the directory that lead to the same bytes."""
    names = sorted(n for n in cases.entries(data) if n != "manifest.json")
    first, second = (cases.central(data, n) for n in names[:2])
    offset = struct.unpack_from("<L", data, first + 42)[0]
    out = cases.patched(data, second + 42, "<L", offset)
    # The local name must agree, so the second takes the first's name in the directory and the first another.
    return out[: second + 46] + names[0].encode() + out[second + 46 + len(names[0]) :]


def wrong_digest(data: bytes) -> bytes:
    parts = cases.entries(data)
    name = next(n for n, c in parts.items() if c == cases.CONFIG)
    return cases.zipped({**parts, name: cases.CONFIG.replace(b"llama", b"mamba")})


def wrong_checksum(data: bytes) -> bytes:
    at = cases.central(data, "manifest.json")
    return cases.patched(data, at + 16, "<L", 1)


def newer(manifest: Any) -> None:
    manifest["schema_version"] = 2
    manifest["repos"] = "of another shape"


def without_config(manifest: Any) -> None:
    del manifest["repos"][0]["documents"]["config.json"]


def unlisted(manifest: Any) -> None:
    manifest["repos"][0]["documents"]["../../etc/passwd"] = next(iter(manifest["repos"][0]["documents"].values()))


def overlong(manifest: Any) -> None:
    next(iter(manifest["repos"][0]["read"].values()))["pieces"][0][1] += 1


HOSTILE: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "empty": (lambda d: b"", "it is no zip file"),
    "text": (lambda d: b"not a snapshot" * 10, "it is no zip file"),
    "cut off": (lambda d: d[:-40], "is cut off"),
    "something behind": (lambda d: d + b"x", "stands behind its end"),
    "something before": (lambda d: b"PK\x03\x04" + d, "does not end where it should"),
    "another zip": (lambda d: cases.zipped({CONTENT: b"x"}), "it has no manifest.json"),
    "parent": (added("../evil"), r"names a place outside itself: '../evil'"),
    "parent inside": (added("content/../../evil"), "names a place outside itself"),
    "absolute": (added("/etc/passwd"), "names a place outside itself: '/etc/passwd'"),
    "drive": (added("C:evil"), "names a place outside itself"),
    "backslash": (added("..\\evil"), "names a place outside itself"),
    "another file": (added("weights.bin"), "holds 'weights.bin', which no snapshot has"),
    "escape codes": (added("\x1b[2J"), r"holds '\\x1b\[2J'"),
    "spare content": (added(CONTENT), "which no repo in it needs"),
    "twice": (doubled, "holds manifest.json twice"),
    "encrypted": (encrypted, "manifest.json is encrypted"),
    "link": (linked, "is a link or a special file"),
    "wrong sha256": (wrong_digest, "the sha256 of content/.* does not match"),
    "wrong checksum": (wrong_checksum, "the checksum of manifest.json does not match"),
    "missing": (without(lambda n: n == "manifest.json"), "lacks content/.*, which it needs for"),
    "newer schema": (changed(newer), "has schema version 2, this inspect reads up to 1"),
    "not named": (changed(without_config), "which no repo in it needs"),
    "unlisted": (changed(unlisted), "which it does not list"),
    "wrong size": (changed(overlong), r"says .* bytes of .* and holds"),
    "another format": (changed(lambda m: m.update(format="x")), "does not say that it is of the format"),
    "another key": (changed(lambda m: m.update(token="x")), "has other keys than a snapshot"),
    "bomb by ratio": (inflating(50_000_000, 50 << 20), "a zip bomb"),
    "bomb by size": (inflating(ENTRY_MOST + 1, 1 << 20), "at most 100,000,008 are read"),
    "overlap": (overlapping, "twice|overlaps|another name"),
}


@pytest.mark.parametrize("spoil", HOSTILE)
def test_a_hostile_file_is_refused_in_words(spoil: str, tmp_path: Path, capsys: Capture) -> None:
    make, words = HOSTILE[spoil]
    path = cases.written(tmp_path, make(cases.tiny()), f"{spoil}.zip")
    assert cli.main([str(path)]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(words, err), err
    assert re.fullmatch(r"inspect: .+\n", err)
    with pytest.raises(UsageError, match=words):
        open_locked(path)


def test_a_content_that_unpacks_to_more_than_was_said(tmp_path: Path) -> None:
    """Sizes of the directory are bounds while unpacking, too."""
    data = cases.tiny()
    at = cases.central(data, "manifest.json")
    size = struct.unpack_from("<L", data, at + 24)[0]
    path = cases.written(tmp_path, cases.patched(data, at + 24, "<L", size - 1))
    with pytest.raises(MalformedFile, match=r"unpacks to more than the .* bytes that the directory says"):
        open_snapshot(path)
    path = cases.written(tmp_path, cases.patched(data, at + 24, "<L", size + 1))
    with pytest.raises(MalformedFile, match=f"has {size:,} bytes, the directory says {size + 1:,}"):
        open_snapshot(path)


def test_all_contents_together_are_bounded(tmp_path: Path) -> None:
    many = [(f"content/{i:064x}", b"x") for i in range(11)]
    data = cases.zipped([*cases.entries(cases.tiny()).items(), *many])
    for name, _ in many:
        data = cases.patched(data, cases.central(data, name) + 24, "<L", ENTRY_MOST)
        data = cases.patched(data, cases.central(data, name) + 20, "<L", ENTRY_MOST // 100)
    with pytest.raises(MalformedFile, match=f"at most {TOTAL_MOST:,} are read"):
        open_snapshot(cases.written(tmp_path, data))


def test_a_header_of_spaces_is_no_bomb(tmp_path: Path) -> None:
    """A legal header may end in any number of spaces; what would deflate too well is stored as it is."""
    spaces = b" " * 2_000_000
    name, packed = pack(spaces)
    manifest = b'{"format":"inspect-snapshot","schema_version":1,"tool":{},"repos":[],"refused":[]}'
    assert (packed.method, packed.size) == (0, len(packed.data))
    with pytest.raises(MalformedFile, match="which no repo in it needs"):
        open_snapshot(cases.written(tmp_path, assemble(manifest, {name: packed})))


def test_more_than_a_reader_takes_is_not_written() -> None:
    _, packed = pack(b"x")
    with pytest.raises(MalformedFile, match="Record fewer repos"):
        assemble(b"{}", {f"content/{i:064x}": packed for i in range(70_000)})


def test_another_writer_may_repack_it(tmp_path: Path) -> None:
    repacked = cases.zipped(cases.entries(cases.tiny()))
    assert cases.replayed(cases.written(tmp_path, repacked)) == cases.examined(MemorySource(cases.PLAIN))


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--locked .*none\.zip: no such file"):
        open_locked(tmp_path / "none.zip")
