"""What was recorded is replayed to the byte, without a socket; the same repos give the same file."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from inspector import address, cli, inspect
from inspector.address import Address
from inspector.errors import MalformedFile, SourceError, UsageError
from inspector.model import Cost, Listing, Report
from inspector.recording import RecordingSource, joined, needed
from inspector.render import FORMATS, render
from inspector.snapshot import open_snapshot
from inspector.sources import open_source
from inspector.sources.snapshot import SnapshotSource, open_locked
from tests.loopback import LoopbackHub, Repo, Virtual, load
from tests.memory import MemorySource, header
from tests.snapshot import cases

SMALL = ("openai/gpt-oss-20b", "example/stable-diffusion-1", "example/sentence-encoder", "example/llama-3.1-8b-lora")
Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HF_TOKEN", "HF_ENDPOINT", "HF_HUB_OFFLINE", "HTTP_PROXY", "http_proxy", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))


@pytest.mark.parametrize("repo", [*SMALL, "deepseek-ai/DeepSeek-V4.1-Flash"])
def test_a_replay_is_the_online_report_without_a_socket(
    repo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    file = tmp_path / "x.zip"
    with LoopbackHub([load(repo)], tokens={"hf_secret"}) as hub:
        online = inspect(repo, endpoint=hub.endpoint, tensors=repo in SMALL)
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        assert cli.main(["record", repo, "--endpoint", hub.endpoint, "-o", str(file)]) == 0
        assert hub.totals()["weight_bytes"] == 0 or hub.totals()["cdn_authorized"] == 0
    capsys.readouterr()
    cases.no_sockets(monkeypatch)
    for text in (str(file), f"{file}#{repo}", f"{file}#{repo}@{load(repo).head}"):
        replayed = inspect(text, tensors=repo in SMALL)
        assert (replayed.cost.requests, replayed.cost.bytes_fetched, replayed.cost.weight_bytes_read) == (0, 0, 0)
        assert cases.bare(replayed) == cases.bare(online)
    for form in FORMATS:
        both = [render(form, (replace(r, cost=Cost()),), width=100, colour=False) for r in (online, replayed)]
        assert both[0] == both[1]
    assert b"hf_secret" not in b"".join(cases.entries(file.read_bytes()).values())


def test_two_runs_give_the_same_bytes(tmp_path: Path, capsys: Capture) -> None:
    files = [tmp_path / "a.zip", tmp_path / "b.zip"]
    with LoopbackHub([load(n) for n in SMALL]) as hub:
        for file, names, jobs in zip(files, (SMALL, SMALL[::-1]), ("1", "16"), strict=True):
            assert cli.main(["record", *names, "--endpoint", hub.endpoint, "--jobs", jobs, "-o", str(file)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()


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


def test_another_set_of_weights_is_replayed_only_where_it_was_recorded(tmp_path: Path) -> None:
    source = MemorySource(cases.MENU)
    path = cases.written(tmp_path, cases.file_of(cases.recorded(source, variants=("Q8_0",))))
    online = cases.examined(MemorySource(cases.MENU), "Q8_0")
    assert cases.replayed(path, "Q8_0") == online
    # Without a choice the one that was recorded is meant.
    assert inspect(str(path)).variant == online.variant
    with pytest.raises(SourceError, match=r"does not hold its header.*Recorded were the weights of: Q8_0"):
        inspect(str(path), variant="F16")


class Spoilt(MemorySource):
    """One shard cannot be had, one document neither."""

    def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        if path.startswith("model-00002"):
            feed(b"\x10")
            raise SourceError(path, "the server said 503", "Try again.")
        return super().stream(path, start, length, feed)

    def small(self, path: str) -> bytes:
        if path == "config.json":
            raise SourceError(path, "gone", "Ask.")
        return super().small(path)


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

    def listing(self) -> Listing:
        listing = super().listing()
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


def test_a_folder_and_a_single_file_are_recorded_too(tmp_path: Path, capsys: Capture) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    head, size = header(cases.FIRST)
    (folder / "model.safetensors").write_bytes(head + bytes(size))
    (folder / "config.json").write_bytes(cases.CONFIG)
    for what in (str(folder), str(folder / "model.safetensors")):
        file = tmp_path / "x.inspect"
        assert cli.main(["record", what, "-o", str(file)]) == 0
        assert cases.bare(inspect(str(file))) == cases.bare(inspect(what))


def test_several_repos_are_several_reports(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = MemorySource(cases.PLAIN), MemorySource({"model.safetensors": header(cases.SECOND)})
    data = cases.file_of(cases.recorded(one, "org/one"), cases.recorded(two, "org/two"))
    path = cases.written(tmp_path, data, "several")
    cases.no_sockets(monkeypatch)
    assert cli.main([str(path), "--format", "json"]) == 0
    assert [r["tensors"] for r in json.loads(capsys.readouterr().out)["reports"]] == [3, 1]
    assert cli.main([f"{path}#org/two", "--format", "json"]) == 0
    assert [r["tensors"] for r in json.loads(capsys.readouterr().out)["reports"]] == [1]
    with pytest.raises(UsageError, match=r"holds 2 repos.*several#org/one"):
        inspect(str(path))
    with pytest.raises(SourceError, match=r"does not hold org/three.*It holds org/one, org/two"):
        inspect(f"{path}#org/three")
    for flag in (["--revision", "main"], ["--repo-type", "model"]):
        assert cli.main([str(path), *flag]) == 2


def test_a_recording_of_a_recording_is_the_same_file(tmp_path: Path, capsys: Capture) -> None:
    path = cases.written(tmp_path, cases.tiny(), "a.zip")
    assert cli.main(["record", str(path), "-o", str(tmp_path / "b.zip")]) == 0
    first, second = (cases.entries((tmp_path / n).read_bytes()) for n in ("a.zip", "b.zip"))
    assert first.keys() == second.keys()
    assert cases.manifest(path.read_bytes())["repos"] == cases.manifest((tmp_path / "b.zip").read_bytes())["repos"]


def test_only_files_that_look_like_one_are_snapshots(tmp_path: Path) -> None:
    snapshot = cases.written(tmp_path, cases.tiny(), "odd name#1")
    assert address.parse(str(snapshot)) == Address("snapshot", str(snapshot))
    assert address.parse(f"{snapshot}#org/name") == Address("snapshot", str(snapshot), repo="org/name")
    pickle = cases.written(tmp_path, cases.zipped({"archive/data.pkl": b"x"}), "pytorch_model.bin")
    assert address.parse(str(pickle)).kind == "local"
    anything = cases.written(tmp_path, b"x", "what.zip")
    assert address.parse(str(anything)).kind == "snapshot"
    (tmp_path / "folder.zip").mkdir()
    assert address.parse(str(tmp_path / "folder.zip")).kind == "local"


def test_locked_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, size = header(cases.FIRST)
    repo = Repo.build("org/Name", {"model.safetensors": Virtual(head, len(head) + size)})
    with LoopbackHub([repo]) as hub:

        def opened(where: Address) -> RecordingSource:
            return RecordingSource(open_source(where, endpoint=hub.endpoint))

        online = opened(Address("model", "org/Name")).listing()
        path = cases.written(tmp_path, cases.file_of(cases.recorded(opened(Address("model", "org/Name")), "org/Name")))
    cases.no_sockets(monkeypatch)
    locked = open_locked(path)
    for where in (Address("model", "org/name"), Address("model", "org/Name", repo.head)):
        assert locked(where).listing() == online
    for where in (Address("model", "org/Name", "v2"), Address("dataset", "org/Name"), Address("model", "org/other")):
        with pytest.raises(SourceError, match="does not hold"):
            locked(where)


def test_runs_of_bytes_are_joined() -> None:
    runs = [(10, bytearray(b"bcd")), (0, bytearray(b"012")), (3, bytearray(b"34")), (11, bytearray(b"cdef"))]
    assert joined(runs) == [(0, b"01234"), (10, b"bcdef")]
    # A run inside another adds nothing.
    assert joined([(0, bytearray(b"01234")), (1, bytearray(b"12"))]) == [(0, b"01234")]


def test_needed_is_the_shortest_beginning() -> None:
    from inspector.formats import READERS

    head, size = header(cases.FIRST)
    for extra in (0, 1, 5_000, 200_000):
        assert needed(READERS["safetensors"], "x", len(head) + size, head + b"\0" * extra) == len(head)
    assert needed(READERS["safetensors"], "x", None, head[:-1]) == len(head) - 1
    assert needed(READERS["safetensors"], "x", None, b"\xff" * 100) == 8
