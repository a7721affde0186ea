"""The Hub's cache without a network; the cache itself is written by huggingface_hub against the loopback Hub."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest

from inspector import address
from inspector.errors import SourceError
from inspector.model import Cost, File
from inspector.selection import select
from inspector.sources import open_source
from tests.loopback import LoopbackHub, Repo
from tests.waiting import Waited

SHA, PULL = "a" * 40, "b" * 40
BLOB = "c" * 64
OTHER = "d" * 40


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "models--org--name"
    for sub in ("blobs", "refs/refs/pr", f"snapshots/{SHA}/sub", f"snapshots/{PULL}", "trees"):
        (folder / sub).mkdir(parents=True)
    (folder / "refs" / "main").write_text(SHA)
    (folder / "refs" / "refs" / "pr" / "3").write_text(PULL)
    (folder / "blobs" / BLOB).write_bytes(b"0123456789")
    (folder / "snapshots" / SHA / "sub" / "w.safetensors").symlink_to(Path("../../../blobs") / BLOB)
    (folder / "snapshots" / PULL / "pr.txt").write_bytes(b"pr")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    return folder


def tree(cache: Path, files: dict[str, Any], version: int = 1) -> None:
    (cache / "trees" / f"{SHA}.json").write_text(json.dumps({"format_version": version, "files": files}))


def source(text: str = "org/name") -> Waited:
    return Waited(open_source(address.parse(text)))


def read(src: Waited, path: str) -> bytes:
    parts: list[bytes] = []

    def keep(chunk: bytes) -> bool:
        parts.append(chunk)
        return False

    src.stream(path, 2, 100, keep)
    return b"".join(parts)


def test_a_cached_commit_is_read_without_any_request(cache: Path) -> None:
    src = source()
    listing = src.listing()
    assert (listing.ref.repo, listing.ref.revision, listing.ref.kind) == ("org/name", SHA, "model")
    assert listing.files == (File("sub/w.safetensors", 10, BLOB),)
    assert [n.code for n in listing.notes] == ["partial_listing"]
    assert read(src, "sub/w.safetensors") == b"23456789"
    assert src.small("sub/w.safetensors") == b"0123456789"
    assert src.cost() == Cost()


def test_the_tree_gives_sizes_of_what_was_not_downloaded(cache: Path) -> None:
    tree(
        cache,
        {
            "config.json": {"size": 519, "blob_id": OTHER},
            "big.safetensors": {"size": 135, "blob_id": OTHER, "lfs_sha256": "e" * 64, "lfs_size": 7_000_000_000},
            "sub/w.safetensors": {"size": 130, "blob_id": OTHER, "lfs_sha256": BLOB, "lfs_size": 10},
        },
    )
    src = source()
    listing = src.listing()
    assert listing.files == (
        File("big.safetensors", 7_000_000_000, "e" * 64),
        File("config.json", 519, OTHER),
        File("sub/w.safetensors", 10, BLOB),
    )
    assert [(n.code, n.message) for n in listing.notes] == [("partly_cached", "offline, 1 of 3 files are in the cache")]
    with pytest.raises(SourceError, match=r"org/name/config\.json: is listed and not in the cache.*Run it online"):
        src.small("config.json")
    with pytest.raises(SourceError, match="no such file in the cached commit"):
        src.small("absent.json")
    assert read(src, "sub/w.safetensors") == b"23456789"


@pytest.mark.parametrize(
    "content", ["", "[]", "{", '{"format_version":2,"files":{}}', '{"format_version":1,"files":[]}']
)
def test_a_tree_that_is_not_understood_is_as_good_as_none(cache: Path, content: str) -> None:
    (cache / "trees" / f"{SHA}.json").write_text(content)
    assert [n.code for n in source().listing().notes] == ["partial_listing"]


def test_revisions(cache: Path) -> None:
    assert source("org/name@refs/pr/3").listing().ref.revision == PULL
    assert source(f"org/name@{PULL}").listing().files == (File("pr.txt", 2),)
    with pytest.raises(SourceError, match="revision dev is not in the cache, and no request may be made"):
        source("org/name@dev").listing()
    with pytest.raises(SourceError, match=f"nothing of commit {'f' * 40} is in the cache"):
        source(f"org/name@{'f' * 40}").listing()
    (cache / "refs" / "broken").write_text("../../etc")
    with pytest.raises(SourceError, match="does not hold a commit"):
        source("org/name@broken").listing()


def test_nothing_cached(cache: Path) -> None:
    with pytest.raises(
        SourceError, match=r"org/other: is not in the cache at .*, and no request may be made\. Run it online"
    ):
        source("org/other").listing()
    with pytest.raises(SourceError, match="is not in the cache"):
        Waited(open_source(address.parse("org/name", kind="dataset"))).listing()


def test_a_blob_that_was_removed_leaves_a_listed_file(cache: Path) -> None:
    (cache / "blobs" / BLOB).unlink()
    tree(cache, {"sub/w.safetensors": {"size": 130, "blob_id": OTHER, "lfs_sha256": BLOB, "lfs_size": 10}})
    src = source()
    assert src.listing().files == (File("sub/w.safetensors", 10, BLOB),)
    assert [n.code for n in src.listing().notes] == ["partly_cached"]
    with pytest.raises(SourceError, match="not in the cache"):
        src.small("sub/w.safetensors")


def test_what_huggingface_hub_caches_is_read_as_it_was_on_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    repo = Repo.build("org/name", {"config.json": b'{"a": 1}', "model.safetensors": b"\x02" + bytes(7) + b"{}"})
    repo = repo.with_ref("refs/pr/1")
    call = "snapshot_download('org/name', revision='refs/pr/1', allow_patterns='*.json')"
    code = f"from huggingface_hub import snapshot_download\n{call}"
    with LoopbackHub([repo]) as hub:
        env = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        env |= {"HF_ENDPOINT": hub.endpoint, "HF_HUB_CACHE": str(tmp_path), "HF_HUB_DISABLE_XET": "1"}
        subprocess.run([sys.executable, "-c", code], env=env, check=True, capture_output=True)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    src = Waited(open_source(address.parse("org/name@refs/pr/1"), offline=True))
    listing = src.listing()
    assert listing.ref.revision == repo.head
    assert {f.path: (f.size, f.content_id) for f in listing.files} == {
        p: (e.size, e.content_id) for p, e in repo.files.items()
    }
    assert src.small("config.json") == b'{"a": 1}'
    with pytest.raises(SourceError, match="not in the cache"):
        src.small("model.safetensors")


def test_a_repo_s_folder_of_a_cache_is_its_snapshot(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE")
    monkeypatch.setenv("HF_HUB_CACHE", "/nowhere")
    listing = source(str(cache)).listing()
    assert (listing.ref.repo, listing.ref.revision, listing.ref.kind) == ("org/name", SHA, "model")
    assert listing.files == (File("sub/w.safetensors", 10, BLOB),)
    assert read(source(str(cache)), "sub/w.safetensors") == b"23456789"


def test_without_main_a_cache_s_only_snapshot_is_taken(cache: Path) -> None:
    (cache / "refs" / "main").unlink()
    with pytest.raises(SourceError, match="holds 2 snapshots and no refs/main"):
        source(str(cache))
    (cache / "snapshots" / PULL / "pr.txt").unlink()
    (cache / "snapshots" / PULL).rmdir()
    assert source(str(cache)).listing().ref.revision == SHA


def test_a_snapshot_s_folder_is_a_folder_whose_links_lead_to_blobs(cache: Path) -> None:
    src = source(str(cache / "snapshots" / SHA))
    assert src.listing().ref.revision is None
    assert read(src, "sub/w.safetensors") == b"23456789"


def test_what_a_cache_does_not_list_is_not_said_to_be_missing_from_the_repo(cache: Path) -> None:
    listing = source().listing()
    (cache / "snapshots" / SHA / "sub" / "w.safetensors").unlink()
    (cache / "snapshots" / SHA / "README.md").write_bytes(b"x")
    with pytest.raises(SourceError, match="other is not in the cache"):
        select(listing, {}, path="other")
    (note,) = select(source().listing(), {}).notes
    assert note.code == "nothing_loadable"
    assert "no weights of this repo are in the cache" in note.message


def test_shards_that_only_the_index_knows_are_not_in_the_cache(cache: Path) -> None:
    names = ("a-00001-of-00002.safetensors", "a-00002-of-00002.safetensors")
    (cache / "snapshots" / SHA / names[0]).write_bytes(b"x")
    (cache / "snapshots" / SHA / "a.safetensors.index.json").write_bytes(b"{}")
    documents = {"a.safetensors.index.json": {"weight_map": {"x": names[0], "y": names[1]}}}
    notes = select(source().listing(), documents).notes
    assert [n.message for n in notes if n.code == "missing_shard"] == [
        f"1 of 2 shards are not in the cache, first {names[1]!r}"
    ]


def test_a_folder_of_the_repo_s_name_is_named_where_the_cache_has_none(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "repos" / "x").mkdir(parents=True)
    with pytest.raises(SourceError, match=r"A folder of that name exists here: write \./repos/x\."):
        source("repos/x").listing()
