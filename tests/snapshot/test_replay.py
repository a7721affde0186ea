"""What was recorded is replayed to the byte, without a socket; the same repos give the same file."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from inspector import address, cli, inspect
from inspector.address import Address
from inspector.errors import SourceError, UsageError
from inspector.model import Cost
from inspector.render import FORMATS, render
from inspector.snapshots.recording import RecordingSource
from inspector.sources import open_source
from inspector.sources.snapshot import open_locked
from inspector.tasks import run
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


def test_another_set_of_weights_is_replayed_only_where_it_was_recorded(tmp_path: Path) -> None:
    source = MemorySource(cases.MENU)
    path = cases.written(tmp_path, cases.file_of(cases.recorded(source, variants=("Q8_0",))))
    online = cases.examined(MemorySource(cases.MENU), "Q8_0")
    assert cases.replayed(path, "Q8_0") == online
    # Without a choice the one that was recorded is meant.
    assert inspect(str(path)).variant == online.variant
    other = inspect(str(path), variant="F16")
    assert other.incomplete
    assert other.tensor_bytes is None
    assert re.search(r"does not hold its header.*Recorded were the weights of: Q8_0", other.faults[0])


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


def test_a_url_is_recorded_without_its_query(tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    head, size = header(cases.FIRST)
    repo = Repo.build("org/name", {"model.safetensors": Virtual(head, len(head) + size)})
    file = tmp_path / "x.zip"
    with LoopbackHub([repo]) as hub:
        monkeypatch.setenv("HF_ENDPOINT", "http://elsewhere.invalid")
        url = f"{hub.endpoint}/org/name/resolve/{repo.head}/model.safetensors?X-Signature=secret"
        assert cli.main(["record", url, "-o", str(file)]) == 0
        online = inspect(url)
    cases.no_sockets(monkeypatch)
    assert cases.bare(inspect(str(file))) == cases.bare(online)
    assert run(open_locked(file)(address.parse(url)).listing()).ref.repo == online.repo
    assert b"secret" not in b"".join(cases.entries(file.read_bytes()).values())


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

        online = run(opened(Address("model", "org/Name")).listing())
        path = cases.written(tmp_path, cases.file_of(cases.recorded(opened(Address("model", "org/Name")), "org/Name")))
    cases.no_sockets(monkeypatch)
    locked = open_locked(path)
    for where in (Address("model", "org/name"), Address("model", "org/Name", repo.head)):
        assert run(locked(where).listing()) == online
    for where in (Address("model", "org/Name", "v2"), Address("dataset", "org/Name"), Address("model", "org/other")):
        with pytest.raises(SourceError, match="does not hold"):
            locked(where)
