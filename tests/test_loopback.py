"""The loopback Hub behaves as the real one where a client can tell the difference."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.loopback import Fault, LoopbackHub, Record, Repo, RequestInfo, Virtual

HEADER = b'{"w":{"dtype":"BF16","shape":[500],"data_offsets":[0,1000]}}    '
SHARD = Virtual(len(HEADER).to_bytes(8, "little") + HEADER, 8 + len(HEADER) + 1000)
CONFIG = json.dumps({"model_type": "tiny", "padding": "x" * 3000}).encode()
FILES: dict[str, bytes | Virtual] = {
    "config.json": CONFIG,
    "model.safetensors": SHARD,
    "sub/deep/note.txt": b"hello",
    "sub/a.txt": b"a",
}
REPO = Repo.build("org/tiny", FILES)


@pytest.fixture
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub([REPO]) as running:
        yield running


def ask(url: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """One exchange on a fresh connection, no redirects followed."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=5)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()


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


def one(fault: Fault) -> LoopbackHub:
    """A mirror that spoils the first answer for the shard with `fault`."""

    def faults(request: RequestInfo) -> Fault | None:
        return fault if request.file == "model.safetensors" and request.attempt == 1 else None

    return LoopbackHub([REPO], mirror=True, faults=faults)


SHARD_URL = "/org/tiny/resolve/main/model.safetensors"


def test_faults_change_status_headers_and_ranges() -> None:
    with one(Fault(status=503, headers={"Retry-After": "1", "Server": None}, body=b"busy")) as hub:
        status, headers, body = ask(hub.endpoint + SHARD_URL)
        assert (status, headers["retry-after"], body) == (503, "1", b"busy")
        assert ask(hub.endpoint + SHARD_URL)[0] == 200
    with one(Fault(ignore_range=True)) as hub:
        status, _, body = ask(hub.endpoint + SHARD_URL, Range="bytes=0-7")
        assert (status, len(body)) == (200, 1072)
    with one(Fault(headers={"Content-Range": "bytes 8-15/9"})) as hub:
        assert ask(hub.endpoint + SHARD_URL, Range="bytes=0-7")[1]["content-range"] == "bytes 8-15/9"
    with one(Fault(gzip=True)) as hub:
        status, headers, body = ask(hub.endpoint + SHARD_URL, Range="bytes=0-7")
        assert (status, headers["content-encoding"]) == (206, "gzip")
        assert gzip.decompress(body) == SHARD.header[:8]


def test_faults_break_the_connection() -> None:
    with one(Fault(truncate_after=5)) as hub:
        with pytest.raises(http.client.IncompleteRead) as caught:
            ask(hub.endpoint + SHARD_URL)
        assert caught.value.partial == SHARD.header[:5]
        assert hub.requests[0].sent == 5
    with one(Fault(reset_after=-1)) as hub, pytest.raises(ConnectionResetError):
        ask(hub.endpoint + SHARD_URL)
    with one(Fault(reset_after=5)) as hub, pytest.raises(ConnectionResetError):
        ask(hub.endpoint + SHARD_URL)
    with one(Fault(raw=b"NONSENSE\r\n")) as hub, pytest.raises(http.client.BadStatusLine):
        ask(hub.endpoint + SHARD_URL)


def test_faults_slow_the_answer() -> None:
    with one(Fault(delay=0.2)) as hub:
        begun = time.monotonic()
        ask(hub.endpoint + SHARD_URL)
        assert time.monotonic() - begun >= 0.2
    with one(Fault(rate=4000)) as hub:
        begun = time.monotonic()
        ask(hub.endpoint + SHARD_URL, Range="bytes=0-799")
        assert 0.15 <= time.monotonic() - begun < 2
    with one(Fault(stall_after=5)) as hub:
        with socket.create_connection(("127.0.0.1", hub.port)) as raw:
            raw.settimeout(0.3)
            raw.sendall(f"GET {SHARD_URL} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            got = b""
            with pytest.raises(TimeoutError):
                while True:
                    got += raw.recv(4096)
        assert got.endswith(b"\r\n\r\n" + SHARD.header[:5])
        begun = time.monotonic()
    assert time.monotonic() - begun < 2, "closing must not wait for a stalled answer"


def test_latency_and_shared_bandwidth() -> None:
    with LoopbackHub([REPO], mirror=True, latency=0.1, bandwidth=10_000) as hub:
        begun = time.monotonic()
        ask(hub.endpoint + SHARD_URL)
        assert 0.2 <= time.monotonic() - begun < 2


def test_replacing_a_repo_keeps_pinned_commits_readable(hub: LoopbackHub) -> None:
    hub.put(REPO.with_commit({"config.json": b"{}"}))
    assert api(hub, "/api/models/org/tiny")["sha"] != REPO.head
    assert api(hub, f"/api/models/org/tiny/revision/{REPO.head}")["sha"] == REPO.head


CLIENT = """
import json, sys
from huggingface_hub import HfApi, hf_hub_download
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError
api = HfApi()
out = {"files": api.list_repo_files("org/sharded")}
out["tree"] = len(list(api.list_repo_tree("org/sharded", recursive=True)))
info = api.model_info("org/sharded", files_metadata=True)
out["sha"], out["sizes"] = info.sha, {s.rfilename: s.size for s in info.siblings}
out["lfs"] = {s.rfilename: s.lfs.sha256 for s in info.siblings if s.lfs}
meta = api.get_safetensors_metadata("org/sharded")
out["parameters"], out["sharded"] = meta.parameter_count, meta.sharded
out["single"] = sorted(api.get_safetensors_metadata("old/name").weight_map)
out["config"] = open(hf_hub_download("org/sharded", "config.json")).read()
out["deep"] = open(hf_hub_download("org/sharded", "sub/deep/note.txt", revision="refs/pr/1")).read()
out["weights"] = len(open(hf_hub_download("org/sharded", "b.safetensors"), "rb").read())
for key, repo, extra, error in (
    ("missing", "org/none", {}, RepositoryNotFoundError),
    ("revision", "org/sharded", {"revision": "x"}, RevisionNotFoundError),
):
    try:
        api.model_info(repo, **extra)
    except error:
        out[key] = True
try:
    hf_hub_download("org/gated", "config.json")
except GatedRepoError:
    out["gated"] = True
print(json.dumps(out))
"""


def test_the_real_client_works_unmodified(tmp_path: Any) -> None:
    pytest.importorskip("huggingface_hub")

    def shard(name: str) -> Virtual:
        head = json.dumps({name: {"dtype": "BF16", "shape": [10, 5], "data_offsets": [0, 100]}}).encode()
        return Virtual(len(head).to_bytes(8, "little") + head, 8 + len(head) + 100)

    index = {"metadata": {}, "weight_map": {"x": "a.safetensors", "y": "b.safetensors"}}
    files: dict[str, bytes | Virtual] = {
        "config.json": CONFIG,
        "sub/deep/note.txt": b"hello",
        "model.safetensors.index.json": json.dumps(index).encode(),
        "a.safetensors": shard("x"),
        "b.safetensors": shard("y"),
    }
    sharded = Repo.build("org/sharded", files)
    repos = [sharded.with_ref("refs/pr/1"), REPO, Repo.build("org/gated", FILES, gated="auto")]
    with LoopbackHub(repos, renamed={"old/name": "org/tiny"}) as hub:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("HF_") and "proxy" not in k.lower()}
        environment |= {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(tmp_path), "HF_TOKEN": "hf_test"}
        environment |= {"HF_HUB_DISABLE_PROGRESS_BARS": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        done = subprocess.run(
            [sys.executable, "-c", CLIENT], env=environment, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        records = hub.requests
    out = json.loads(done.stdout)
    assert sorted(out["files"]) == sorted(files)
    assert out["tree"] == len(files) + 2
    assert out["sha"] == sharded.head
    assert out["sizes"]["a.safetensors"] == sharded.files["a.safetensors"].size
    assert out["lfs"]["b.safetensors"] == sharded.files["b.safetensors"].sha256
    assert (out["parameters"], out["sharded"], out["single"]) == ({"BF16": 100}, True, ["w"])
    assert (out["config"], out["deep"]) == (CONFIG.decode(), "hello")
    assert out["weights"] == sharded.files["b.safetensors"].size
    assert out["missing"] and out["revision"] and out["gated"]
    assert_token_stays_home(records)


def assert_token_stays_home(records: tuple[Record, ...]) -> None:
    on_cdn = [r for r in records if r.request.server == "cdn"]
    assert on_cdn
    assert all(r.authorization is None for r in on_cdn)
    assert all(r.authorization == "Bearer hf_test" for r in records if r.request.server == "hub")
