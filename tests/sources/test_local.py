from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from inspector import address, disk
from inspector.errors import SourceError, UnsupportedFile
from inspector.model import UNESTABLISHED, Cost, File
from inspector.sources import open_source
from tests.waiting import Waited

OID = "4665a5ea423c2713d436b5ee50593a9640e0018c1550b5a0002f74190d6caea8"
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize 7382919048\n".encode()


def source(where: Path) -> Waited:
    return Waited(open_source(address.parse(str(where))))


def read(src: Waited, path: str, start: int, length: int) -> bytes:
    parts: list[bytes] = []

    def keep(chunk: bytes) -> bool:
        parts.append(chunk)
        return False

    assert src.stream(path, start, length, keep) == sum(map(len, parts))
    return b"".join(parts)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "model"
    (root / "sub").mkdir(parents=True)
    (root / "model.safetensors").write_bytes(bytes(range(256)) * 1000)
    (root / "config.json").write_bytes(b"{}")
    (root / "sub" / "b.txt").write_bytes(b"hello")
    for hidden in (".git", ".cache"):
        (root / hidden).mkdir()
        (root / hidden / "x").write_bytes(b"x" * 10)
    return root


def test_a_folder_is_listed_whole_and_sorted(folder: Path) -> None:
    src = source(folder)
    listing = src.listing()
    assert listing is src.listing()
    assert [(f.path, f.size) for f in listing.files] == [
        ("config.json", 2),
        ("model.safetensors", 256_000),
        ("sub/b.txt", 5),
    ]
    assert (listing.ref.repo, listing.ref.revision, listing.ref.kind) == (str(folder), None, "local")
    assert src.cost() == Cost()
    assert not listing.notes


def test_ranges_are_exact_and_clipped(folder: Path) -> None:
    src = source(folder)
    assert read(src, "model.safetensors", 255, 3) == b"\xff\x00\x01"
    assert read(src, "model.safetensors", 255_999, 100) == b"\xff"
    assert read(src, "model.safetensors", 256_000, 100) == b""
    assert src.stream("model.safetensors", 0, 200_000, lambda c: True) == 65_536
    assert src.small("sub/b.txt") == b"hello"
    with pytest.raises(SourceError, match="no such file"):
        src.small("absent")


def test_a_single_file_brings_the_configs_beside_it_and_nothing_else(folder: Path) -> None:
    where = address.parse(str(folder / "model.safetensors"))
    assert where.path == "model.safetensors"
    src = Waited(open_source(where))
    assert [f.path for f in src.listing().files] == ["config.json", "model.safetensors"]
    assert read(src, "model.safetensors", 0, 2) == b"\x00\x01"


def test_a_pointer_states_its_size_and_is_never_read_as_weights(folder: Path) -> None:
    (folder / "w.safetensors").write_bytes(POINTER)
    (folder / "near.safetensors").write_bytes(POINTER.replace(b"sha256", b"md5"))
    src = source(folder)
    files = {f.path: f for f in src.listing().files}
    assert files["w.safetensors"] == File("w.safetensors", 7_382_919_048, OID, pointer=True)
    assert not files["near.safetensors"].pointer
    with pytest.raises(UnsupportedFile, match=r"is a Git LFS pointer; .*7,382,919,048 bytes.*git lfs pull"):
        read(src, "w.safetensors", 0, 8)
    with pytest.raises(UnsupportedFile, match="pointer"):
        src.small("w.safetensors")


def test_links_to_files_are_followed_and_links_to_folders_only_inside(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere"
    other.mkdir()
    (other / "c.txt").write_bytes(b"abc")
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "again").symlink_to("sub")
    (folder / "other").symlink_to(other)
    (folder / "root").symlink_to("/")
    (folder / "c.txt").symlink_to(other / "c.txt")
    (folder / "gone.bin").symlink_to(tmp_path / "nothing")
    listing = source(folder).listing()
    # A folder that is reached twice is listed once, under either name.
    seen = [f.path.replace("again/", "sub/") for f in listing.files]
    assert sorted(seen) == ["c.txt", "config.json", "model.safetensors", "sub/b.txt"]
    assert sorted((n.code, n.where) for n in listing.notes) == [
        ("broken_link", "gone.bin"),
        ("outside_link", "other"),
        ("outside_link", "root"),
    ]


def test_a_folder_of_too_many_files_is_cut_with_a_note(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_MOST", 2)
    listing = source(folder).listing()
    assert len(listing.files) == 2
    assert [n.code for n in listing.notes] == ["listing_cut"]
    assert "listing_cut" in UNESTABLISHED


def test_a_snapshot_of_the_cache_given_as_a_folder_knows_its_content_ids(tmp_path: Path) -> None:
    (tmp_path / "blobs").mkdir()
    (tmp_path / "blobs" / OID).write_bytes(b"data")
    snapshot = tmp_path / "snapshots" / ("a" * 40)
    snapshot.mkdir(parents=True)
    (snapshot / "w.bin").symlink_to(Path("../../blobs") / OID)
    assert source(snapshot).listing().files == (File("w.bin", 4, OID),)


def test_special_files_are_left_out_with_a_note(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "sock"))
    listing = source(folder).listing()
    listener.close()
    assert {(n.code, n.where) for n in listing.notes} == {("special_file", "pipe"), ("special_file", "sock")}
    assert len(listing.files) == 3


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything, so no permission error can be made")
def test_what_may_not_be_read_is_named(folder: Path) -> None:
    (folder / "model.safetensors").chmod(0)
    with pytest.raises(SourceError, match=r"model\.safetensors: permission denied"):
        read(source(folder), "model.safetensors", 0, 8)
    (folder / "sub").chmod(0)
    try:
        with pytest.raises(SourceError, match="sub: permission denied"):
            source(folder).listing()
    finally:
        (folder / "sub").chmod(0o700)


def test_a_refusal_of_the_file_system_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    src = source(folder)
    src.listing()
    (folder / "config.json").unlink()
    with pytest.raises(SourceError, match=r"config\.json: no such file or directory"):
        src.small("config.json")

    def refuse(path: object) -> object:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(SourceError, match="model: permission denied"):
        source(folder).listing()


def test_a_file_that_grows_while_it_is_read_is_refused(folder: Path) -> None:
    src = source(folder)
    src.listing()
    (folder / "config.json").write_bytes(b"{}\n\n")
    with pytest.raises(SourceError, match="had 2 bytes when it was listed, and has 4 now"):
        src.small("config.json")


def test_a_document_of_any_size_is_not_read_whole(folder: Path) -> None:
    with (folder / "config.json").open("wb") as f:
        f.truncate(100_000_001)
    with pytest.raises(SourceError, match=r"has 100,000,001 bytes; at most 100,000,000 are read whole"):
        source(folder).small("config.json")
