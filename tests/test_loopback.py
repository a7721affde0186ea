"""The loopback Hub behaves as the real one where a client can tell the difference."""

from __future__ import annotations

import gzip
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.loopback import LoopbackHub, Repo
from tests.loopback.trial import CONFIG, FILES, REPO, SHARD, ask


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub([REPO]) as running:
        yield running


def api(hub: LoopbackHub, target: str, **headers: str) -> Any:
    return json.loads(ask(hub.endpoint + target, **headers)[2])


def test_metadata_lists_sizes_and_ids_in_one_request(hub: LoopbackHub) -> None:
    info = api(hub, "/api/models/org/tiny?blobs=true")
    assert info["sha"] == REPO.head
    by_name = {s["rfilename"]: s for s in info["siblings"]}
    assert by_name["config.json"]["size"] == len(CONFIG)
    assert by_name["model.safetensors"]["lfs"]["size"] == SHARD.size
    assert "lfs" not in by_name["config.json"]
    assert "size" not in api(hub, "/api/models/org/tiny")["siblings"][0]
    assert set(api(hub, "/api/models/org/tiny?expand=sha&expand=gated")) == {"_id", "id", "sha", "gated"}


def test_git_id_is_the_one_git_computes(hub: LoopbackHub) -> None:
    # `printf a | git hash-object --stdin`
    by_path = {e["path"]: e for e in api(hub, "/api/models/org/tiny/tree/main?recursive=true")}
    assert by_path["sub/a.txt"]["oid"] == "2e65efe2a145dda7ee51d1741299f848e5bf752e"


def test_tree_has_folders_and_pages() -> None:
    with LoopbackHub([REPO], page=2) as hub:
        flat = api(hub, "/api/models/org/tiny/tree/main?limit=1000")
        assert [e["path"] for e in flat] == ["config.json", "model.safetensors"]
        seen, url = [], f"{hub.endpoint}/api/models/org/tiny/tree/main?recursive=true"
        while url:
            _, headers, body = ask(url)
            seen += [e["path"] for e in json.loads(body) if e["type"] == "file"]
            url = headers["link"].partition(">")[0][1:] if "link" in headers else ""
        assert seen == sorted(FILES)


def test_large_file_redirects_to_a_signed_url_on_the_other_port(hub: LoopbackHub) -> None:
    status, headers, _ = ask(f"{hub.endpoint}/org/tiny/resolve/main/model.safetensors", "HEAD")
    assert status == 302
    assert headers["x-repo-commit"] == REPO.head
    assert headers["x-linked-size"] == str(SHARD.size)
    assert headers["location"].startswith(hub.cdn)
    status, headers, body = ask(headers["location"], Range="bytes=0-99")
    assert (status, headers["content-range"]) == (206, f"bytes 0-99/{SHARD.size}")
    assert body == SHARD.header + bytes(100 - len(SHARD.header))
    last = hub.requests[-1]
    assert (last.sent, last.weight_bytes, last.request.file) == (100, 100 - len(SHARD.header), "model.safetensors")


@pytest.mark.parametrize(
    ("wanted", "status", "content_range", "length"),
    [
        ("bytes=0-7", 206, "bytes 0-7/1072", 8),
        ("bytes=1070-5000", 206, "bytes 1070-1071/1072", 2),
        ("bytes=1000-", 206, "bytes 1000-1071/1072", 72),
        ("bytes=-10", 206, "bytes 1062-1071/1072", 10),
        ("bytes=1072-1080", 416, "bytes */1072", 0),
        ("bytes=0-1,5-6", 200, None, 1072),
        ("lines=1-2", 200, None, 1072),
        (None, 200, None, 1072),
    ],
)
def test_ranges(hub: LoopbackHub, wanted: str | None, status: int, content_range: str | None, length: int) -> None:
    assert SHARD.size == 1072
    url = ask(f"{hub.endpoint}/org/tiny/resolve/main/model.safetensors")[1]["location"]
    got, headers, body = ask(url, **({"Range": wanted} if wanted else {}))
    assert (got, headers.get("content-range"), len(body)) == (status, content_range, length)


def test_small_file_goes_through_the_cache_route_and_is_gzipped_without_range(hub: LoopbackHub) -> None:
    status, headers, _ = ask(f"{hub.endpoint}/org/tiny/resolve/main/config.json")
    assert status == 307
    assert headers["location"].startswith(f"/api/resolve-cache/models/org/tiny/{REPO.head}/config.json")
    url = hub.endpoint + headers["location"]
    status, headers, body = ask(url, Accept_Encoding="gzip")
    assert (status, headers["content-encoding"]) == (200, "gzip")
    assert "content-length" not in headers
    assert gzip.decompress(body) == CONFIG
    status, headers, body = ask(url, Accept_Encoding="gzip", Range="bytes=0-0")
    assert (status, headers["content-range"], body) == (206, f"bytes 0-0/{len(CONFIG)}", CONFIG[:1])
    assert ask(url)[2] == CONFIG


def test_revisions_with_slashes_pull_requests_and_commits() -> None:
    repo = REPO.with_commit({"config.json": b"new"}, ref="feature/x").with_ref("refs/pr/7", REPO.head)
    with LoopbackHub([repo]) as hub:
        new = repo.refs["feature/x"]
        assert api(hub, "/api/models/org/tiny/revision/feature%2Fx")["sha"] == new
        assert api(hub, "/api/models/org/tiny/revision/refs%2Fpr%2F7")["sha"] == REPO.head
        assert api(hub, f"/api/models/org/tiny/revision/{new}")["siblings"] == [{"rfilename": "config.json"}]
        head = ask(f"{hub.endpoint}/org/tiny/resolve/refs/pr/7/sub/a.txt", "HEAD")[1]
        assert head["x-repo-commit"] == REPO.head


def test_errors_carry_the_codes_that_clients_read() -> None:
    repos = [
        REPO,
        Repo.build("org/private", FILES, private=True, readers=["hf_owner"]),
        Repo.build("org/gated", FILES, gated="manual", readers=["hf_owner"]),
        Repo.build("org/disabled", FILES, disabled=True),
        Repo.build("org/data", {"d.safetensors": SHARD}, kind="dataset"),
    ]
    known = frozenset(["hf_owner", "hf_other"])
    with LoopbackHub(repos, tokens=known, renamed={"old/name": "org/tiny"}) as hub:

        def get(target: str, token: str | None = None) -> tuple[int, str | None, str | None]:
            extra = {"Authorization": f"Bearer {token}"} if token else {}
            status, headers, _ = ask(hub.endpoint + target, **extra)
            return status, headers.get("x-error-code"), headers.get("x-error-message")

        assert get("/api/models/org/none")[:2] == (401, None)
        assert get("/api/models/org/private")[:2] == (401, None)
        assert get("/api/models/org/none", "hf_other")[:2] == (404, "RepoNotFound")
        assert get("/api/models/org/private", "hf_other")[:2] == (404, "RepoNotFound")
        assert get("/api/models/org/private", "hf_owner")[0] == 200
        assert get("/api/models/org/tiny", "hf_wrong") == (401, None, "Invalid credentials in Authorization header")
        assert get("/api/models/org/gated")[0] == 200
        assert get("/org/gated/resolve/main/config.json")[:2] == (401, "GatedRepo")
        assert get("/org/gated/resolve/main/config.json", "hf_other")[:2] == (403, "GatedRepo")
        assert get("/org/gated/resolve/main/config.json", "hf_owner")[0] == 307
        assert get("/api/models/org/disabled")[::2] == (403, "Access to this resource is disabled.")
        assert get("/api/models/org/tiny/revision/nope")[:2] == (404, "RevisionNotFound")
        assert get("/org/tiny/resolve/main/nope")[:2] == (404, "EntryNotFound")
        assert get("/api/datasets/org/data")[0] == 200
        assert get("/datasets/org/data/resolve/main/d.safetensors")[0] == 302
        status, headers, _ = ask(f"{hub.endpoint}/api/models/old/name/revision/main?blobs=true")
        assert (status, headers["location"]) == (307, "/api/models/org/tiny/revision/main?blobs=true")
        status, headers, _ = ask(f"{hub.endpoint}/old/name/resolve/main/config.json")
        assert (status, headers["location"]) == (307, "/org/tiny/resolve/main/config.json")


def test_signed_urls_expire_and_cannot_be_forged() -> None:
    with LoopbackHub([REPO], url_lifetime=-1) as hub:
        url = ask(f"{hub.endpoint}/org/tiny/resolve/main/model.safetensors")[1]["location"]
        status, _, body = ask(url)
        assert status == 403
        assert b"expired" in body
    with LoopbackHub([REPO]) as hub:
        url = ask(f"{hub.endpoint}/org/tiny/resolve/main/model.safetensors")[1]["location"]
        assert ask(url.replace("Signature=", "Signature=0"))[0] == 403


def test_rate_limit_headers_and_limits() -> None:
    with LoopbackHub([REPO], quota={"api": 2, "resolvers": 1}, enforce=True) as hub:
        _, headers, _ = ask(f"{hub.endpoint}/api/models/org/tiny")
        assert headers["ratelimit"] == '"api";r=1;t=300'
        assert headers["ratelimit-policy"] == '"fixed window";"api";q=2;w=300'
        assert ask(f"{hub.endpoint}/api/models/org/tiny")[0] == 200
        status, headers, _ = ask(f"{hub.endpoint}/api/models/org/tiny")
        assert (status, headers["ratelimit"][:9]) == (429, '"api";r=0')


def test_mirror_without_sizes_or_cdn() -> None:
    with LoopbackHub([REPO], mirror=True, sizes=False) as hub:
        assert "size" not in api(hub, "/api/models/org/tiny?blobs=true")["siblings"][0]
        status, headers, body = ask(f"{hub.endpoint}/org/tiny/resolve/main/model.safetensors", Range="bytes=0-7")
        assert (status, body) == (206, SHARD.header[:8])
        assert headers["x-repo-commit"] == REPO.head


def test_latency_and_shared_bandwidth() -> None:
    with LoopbackHub([REPO], mirror=True, latency=0.1, bandwidth=10_000) as hub:
        begun = time.monotonic()
        ask(f"{hub.endpoint}/org/tiny/resolve/main/model.safetensors")
        assert 0.2 <= time.monotonic() - begun < 2


def test_replacing_a_repo_keeps_pinned_commits_readable(hub: LoopbackHub) -> None:
    hub.put(REPO.with_commit({"config.json": b"{}"}))
    assert api(hub, "/api/models/org/tiny")["sha"] != REPO.head
    assert api(hub, f"/api/models/org/tiny/revision/{REPO.head}")["sha"] == REPO.head
