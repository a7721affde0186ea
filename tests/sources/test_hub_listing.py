"""What is listed, at which commit, and what mirrors leave out."""

from __future__ import annotations

import json
import os
from dataclasses import replace

import pytest

from inspector import address
from inspector.errors import SourceError
from inspector.sources import open_source
from tests.loopback import Fault, LoopbackHub, Repo, RequestInfo, Virtual
from tests.sources.hub_cases import CONFIG, HEADER, REPO, SHARD, arrived, forget, read, source
from tests.waiting import Waited, load


def test_one_request_lists_names_sizes_and_content_ids() -> None:
    repo = replace(REPO, info={"safetensors": {"parameters": {"BF16": 7, "bad": "x"}, "total": 7}})
    with LoopbackHub([repo]) as hub:
        src = source(hub)
        listing = src.listing()
        assert src.listing() is listing
        assert [r.request.route for r in arrived(hub)] == ["info"]
    assert listing.ref.repo == "org/name"
    assert listing.ref.revision == repo.head
    assert [(f.path, f.size, f.content_id) for f in listing.files] == [
        (p, e.size, e.content_id) for p, e in sorted(repo.files.items())
    ]
    assert dict(listing.hub_parameters or {}) == {"BF16": 7}
    assert listing.hub_total == 7


def test_every_url_is_pinned_to_the_commit_although_the_branch_moves() -> None:
    with LoopbackHub([REPO]) as hub:
        src = source(hub)
        src.listing()
        hub.put(REPO.with_commit({"model.safetensors": b"other", "config.json": b"{}"}))
        assert read(src, "model.safetensors", 8, 64) == HEADER
        assert src.small("config.json") == CONFIG
        later = [r.request for r in arrived(hub) if r.request.server == "hub"][1:]
        assert later
        assert all(r.revision == REPO.head and REPO.head in r.path for r in later)


@pytest.mark.parametrize("revision", ["refs/pr/3", "feature/new-head", "v1.0"])
def test_revisions_with_slashes(revision: str) -> None:
    repo = REPO.with_commit({"only.txt": b"1"}, ref=revision)
    with LoopbackHub([repo]) as hub:
        listing = source(hub, f"org/name@{revision}").listing()
        assert arrived(hub)[0].request.revision == revision
    assert [f.path for f in listing.files] == ["only.txt"]
    assert listing.ref.revision == repo.refs[revision]


def test_a_dataset_has_its_own_routes() -> None:
    repo = Repo.build("org/data", {"a.safetensors": SHARD, "x.json": b"{}"}, kind="dataset")
    with LoopbackHub([repo]) as hub:
        src = source(hub, "org/data", kind="dataset")
        assert src.listing().ref.kind == "dataset"
        assert read(src, "a.safetensors", 8, 64) == HEADER
        assert src.small("x.json") == b"{}"
        assert arrived(hub)[0].request.path == "/api/datasets/org/data/revision/main"
        assert arrived(hub)[1].request.path.startswith("/datasets/org/data/resolve/")


def test_a_renamed_repo_is_followed_named_and_noted() -> None:
    with LoopbackHub([REPO], renamed={"old/name": "org/name"}) as hub:
        src = source(hub, "old/name", token="hf_secret")
        listing = src.listing()
        assert listing.ref.repo == "org/name"
        assert [(n.code, n.where) for n in listing.notes] == [("renamed", "old/name")]
        assert "old/name" in listing.notes[0].message and "org/name" in listing.notes[0].message
        forget(hub)
        assert read(src, "model.safetensors", 8, 64) == HEADER
        # The new name from here on: no further detour.
        assert [r.status for r in arrived(hub)] == [302, 206]
        assert arrived(hub)[0].authorization == "Bearer hf_secret"


def test_a_mirror_without_sizes_is_asked_for_its_tree() -> None:
    def without_sizes(request: RequestInfo) -> Fault | None:
        if request.route != "info":
            return None
        names = [{"rfilename": p} for p in REPO.files]
        return Fault(status=200, body=json.dumps({"id": "org/name", "sha": REPO.head, "siblings": names}).encode())

    with LoopbackHub([REPO], faults=without_sizes, page=2) as hub:
        listing = source(hub).listing()
        trees = [r.request for r in arrived(hub) if r.request.route == "tree"]
        # Three files and two folders, two entries a page.
        assert len(trees) == 3
        assert all(t.revision == REPO.head and "recursive=true" in t.query for t in trees)
    assert {f.path: (f.size, f.content_id) for f in listing.files} == {
        p: (e.size, e.content_id) for p, e in REPO.files.items()
    }


def test_a_mirror_without_any_sizes_says_so_and_still_reads() -> None:
    def no_tree(request: RequestInfo) -> Fault | None:
        return Fault(status=404, body=b"{}") if request.route == "tree" else None

    with LoopbackHub([REPO], sizes=False, mirror=True, faults=no_tree) as hub:
        src = source(hub)
        listing = src.listing()
        assert {f.size for f in listing.files} == {None}
        assert [n.code for n in listing.notes] == ["sizes_unknown"]
        assert read(src, "model.safetensors", 8, 64) == HEADER
        assert read(src, "deep/er/notes.txt", 3, 100) == b"lo"
        assert read(src, "deep/er/notes.txt", 5, 100) == b""
        assert hub.totals()["cdn"] == 0


def test_a_mirror_without_sizes_states_them_with_its_ranges() -> None:
    def no_tree(request: RequestInfo) -> Fault | None:
        return Fault(status=404, body=b"{}") if request.route == "tree" else None

    head = json.dumps({"a": {"dtype": "U8", "shape": [10**9], "data_offsets": [0, 10**9]}}).encode()
    begin = len(head).to_bytes(8, "little") + head
    whole, cut = Virtual(begin, len(begin) + 10**9), Virtual(begin, len(begin) + 10**9 - 5)
    twin: dict[str, bytes | Virtual] = {
        "model.safetensors": whole,
        "config.json": b"{}",
        "original/model.safetensors": whole,
    }
    repos = [Repo.build("org/twin", twin), Repo.build("org/cut", {"model.safetensors": cut})]
    with LoopbackHub(repos, sizes=False, mirror=True, faults=no_tree) as hub:
        found, short = (load(source(hub, f"org/{name}")).checkpoint for name in ("twin", "cut"))
    assert [f.size for f in found.selection.files] == [whole.size]
    assert [f.size for f in found.listing.files] == [None, whole.size, None]
    # Of what was not read nothing is known.
    assert [e.bytes for e in found.selection.excluded] == [None]
    assert [n.code for n in found.notes] == ["sizes_unknown"]
    assert [n.code for n in short.notes] == ["sizes_unknown", "truncated"]


def test_a_tree_that_never_ends_is_given_up() -> None:
    def endless(request: RequestInfo) -> Fault | None:
        if request.route != "tree":
            return None
        return Fault(headers={"Link": '<http://elsewhere/x?recursive=true&cursor=same>; rel="next"'})

    with LoopbackHub([REPO], sizes=False, faults=endless) as hub, pytest.raises(SourceError, match="does not end"):
        source(hub).listing()


def test_open_source_follows_the_address_and_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with LoopbackHub([REPO]) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint + "/")
        monkeypatch.setenv("HF_TOKEN", " hf_env\n")
        src = open_source(address.parse("org/name"))
        assert src.jobs == 64
        Waited(src).listing()
        assert arrived(hub)[0].authorization == "Bearer hf_env"
        assert arrived(hub)[0].user_agent.startswith("inspect/")
        monkeypatch.setenv("HF_HUB_OFFLINE", "1")
        forget(hub)
        with pytest.raises(SourceError, match="not in the cache"):
            Waited(open_source(address.parse("org/name"))).listing()
        assert not hub.requests
        monkeypatch.delenv("HF_HUB_OFFLINE")
        assert open_source(address.parse("https://example.org/a.safetensors")).jobs == 1
    assert os.environ["HF_TOKEN"]
