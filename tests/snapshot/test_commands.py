"""`inspect lock` and `inspect record`: what they write, say and return, and that it is checked again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector import claims, cli
from inspector.claim.claim_verdict import Judged
from inspector.snapshots.snapshot import open_snapshot
from inspector.sources import open_source
from inspector.sources.snapshot import open_locked
from tests.loopback import Fault, LoopbackHub, Repo, RequestInfo, Virtual, load
from tests.memory import Tensors, header
from tests.shared import folder
from tests.snapshot import cases

Capture = pytest.CaptureFixture[str]
OSS = "openai/gpt-oss-20b"


def weights(tensors: Tensors) -> Virtual:
    head, size = header(tensors)
    return Virtual(head, len(head) + size)


FILES: dict[str, bytes | Virtual] = {"config.json": cases.CONFIG, "model.safetensors": weights(cases.FIRST)}
TINY = Repo.build("org/tiny", FILES)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LoopbackHub]:
    for name in ("HF_TOKEN", "HF_HUB_OFFLINE", "HTTP_PROXY", "http_proxy", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    with LoopbackHub([TINY, load(OSS)]) as running:
        monkeypatch.setenv("HF_ENDPOINT", running.endpoint)
        yield running


def table(tmp_path: Path, *rows: str) -> Path:
    path = tmp_path / "sizes.csv"
    path.write_text("\n".join(("repo,revision,quantity,value,unit", *rows)) + "\n")
    return path


def judged(path: Path, opener: claims.Opener) -> tuple[Judged, ...]:
    return claims.check(path, opener).judged


RIGHT = (f"{OSS},,files,3,", f"{OSS},,tensor_bytes,13761264768,B", "org/tiny,,tensors,2,")
WRONG = f"{OSS},,tensor_bytes,13.76,GiB"


def test_a_lock_gives_the_online_verdicts_without_a_socket(
    hub: LoopbackHub, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, lock = table(tmp_path, *RIGHT, WRONG, "not a repo,,files,1,", "org/none,,files,1,"), tmp_path / "l.zip"
    online = judged(path, open_source)
    assert [j.outcome for j in online] == ["ok", "ok", "ok", "wrong", "malformed", "unverifiable"]
    # Claims may be wrong; that org/none cannot be read is another matter.
    assert cli.main(["lock", str(path), "-o", str(lock)]) == 3
    out, err = capsys.readouterr()
    assert "org/none: no such repo" in err
    assert f"{lock}: 2 repos" in out
    cases.no_sockets(monkeypatch)
    assert judged(path, open_locked(lock)) == online


def test_a_lock_reads_each_repo_once_and_exits_0_whatever_the_claims_say(
    hub: LoopbackHub, tmp_path: Path, capsys: Capture
) -> None:
    path = table(tmp_path, *[WRONG] * 50, *RIGHT)
    hub.forget()
    assert cli.main(["lock", str(path), "-o", str(tmp_path / "a.zip")]) == 0
    assert sum(r.request.route == "info" for r in hub.requests) == 2
    assert hub.totals()["weight_bytes"] < 300_000
    other = tmp_path / "more.csv"
    other.write_text(f"repo,quantity,value\n{OSS},files,3\n")
    table(tmp_path, RIGHT[2])
    assert cli.main(["lock", str(path), str(other), "-o", str(tmp_path / "b.zip")]) == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_an_update_shows_what_changed(hub: LoopbackHub, tmp_path: Path, capsys: Capture) -> None:
    path, lock = table(tmp_path, *RIGHT), tmp_path / "l.zip"
    assert cli.main(["lock", str(path), "-o", str(lock), "--update"]) == 0
    capsys.readouterr()
    assert cli.main(["lock", str(path), "-o", str(lock), "--update"]) == 0
    assert capsys.readouterr().out == "nothing changed\n"
    newer = TINY.with_commit({**FILES, "model.safetensors": weights({**cases.FIRST, "x": ("BF16", (8, 8), 128)})})
    hub.put(newer)
    path.write_text("repo,quantity,value\norg/tiny,tensors,2\n")
    assert cli.main(["lock", str(path), "-o", str(lock), "--update"]) == 0
    out = capsys.readouterr().out.splitlines()
    assert f"~ org/tiny: commit {TINY.head[:12]} -> {newer.head[:12]}" in out
    assert "    tensor bytes: 8,448 -> 8,576 (+128)" in out
    assert "    parameters: 4,160 -> 4,224 (+64)" in out
    assert "    tensors: 2 -> 3 (+1)" in out
    assert f"- {OSS}, was at {load(OSS).head[:12]}" in out
    assert not any("files:" in line for line in out)
    path.write_text("repo,quantity,value\norg/tiny,tensors,3\n")
    assert [j.outcome for j in judged(path, open_locked(lock))] == ["ok"]


def test_a_revision_and_the_branch_are_both_locked(hub: LoopbackHub, tmp_path: Path, capsys: Capture) -> None:
    newer = TINY.with_commit({**FILES, "model.safetensors": weights(cases.SECOND)})
    hub.put(newer)
    path = table(tmp_path, f"org/tiny,{TINY.head},tensors,2,", "org/tiny,,tensors,1,", "org/tiny,main,tensors,1,")
    assert cli.main(["lock", str(path), "-o", str(tmp_path / "l.zip")]) == 0
    found = judged(path, open_locked(tmp_path / "l.zip"))
    assert [(j.outcome, j.revision) for j in found] == [("ok", TINY.head), ("ok", newer.head), ("ok", newer.head)]


def test_an_old_lock_that_is_none_is_not_written_over(hub: LoopbackHub, tmp_path: Path, capsys: Capture) -> None:
    path, lock = table(tmp_path, *RIGHT), tmp_path / "l.zip"
    lock.write_bytes(b"something else")
    assert cli.main(["lock", str(path), "-o", str(lock), "--update"]) == 2
    assert "it is no zip file" in capsys.readouterr().err
    assert lock.read_bytes() == b"something else"


def test_an_outage_is_recorded_as_one(hub: LoopbackHub, tmp_path: Path, capsys: Capture) -> None:
    path, lock = table(tmp_path, *RIGHT), tmp_path / "l.zip"

    def fault(r: RequestInfo) -> Fault | None:
        refused = r.server == "hub" and r.repo == "org/tiny" and r.file.endswith(".safetensors")
        return Fault(status=403) if refused else None

    hub.faults = fault
    online = judged(path, open_source)
    assert [j.outcome for j in online] == ["ok", "ok", "unverifiable"]
    assert cli.main(["lock", str(path), "-o", str(lock)]) == 3
    assert judged(path, open_locked(lock)) == online


def test_a_recipe_is_checked_against_the_record_and_the_hub(
    hub: LoopbackHub, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    record, recipe = tmp_path / "r.zip", tmp_path / "r.toml"
    setting = ["--cluster", "2x dgx-spark", "--placement", "pp", "--context", "131072", "--kv-dtype", "bf16"]
    assert cli.main(["record", OSS, "org/tiny", "-o", str(record), "--recipe", str(recipe), *setting]) == 0
    text = recipe.read_text()
    assert "value = 13761264768" in text
    assert f'revision = "{load(OSS).head}"' in text
    assert f"inspect check {recipe} --locked {record}" in text
    found = judged(recipe, open_source)
    assert {j.outcome for j in found} == {"ok"}
    assert {j.claim.setting.placement for j in found if j.claim.quantity in ("fits", "max_context")} == {"pp"}
    quantities = {j.claim.quantity for j in found if j.claim.subject.repo == OSS}
    assert {"tensor_bytes", "parameters", "cache_bytes", "fits", "max_context", "prequantised"} <= quantities
    assert not any("unpinned" in j.notes for j in found)
    recipe.write_text(text.replace("value = 13761264768", "value = 13761264769"))
    cases.no_sockets(monkeypatch)
    assert sorted(j.outcome for j in judged(recipe, open_locked(record)) if j.outcome != "ok") == ["wrong"]


@pytest.mark.parametrize(
    ("args", "status", "words"),
    [
        ("record org/tiny", 2, "-o"),
        ("record -o x.zip", 2, "REPO"),
        ("record org/tiny -o FOLDER/none/x.zip", 2, "there is no folder"),
        ("record org/tiny -o FOLDER/x.zip --cluster nonsense", 2, "Add --recipe FILE"),
        ("record org/tiny -o FOLDER/x.zip --recipe FOLDER/r.toml --cluster nonsense", 2, "nonsense"),
        ("record org/tiny -o FOLDER/x.zip --recipe FOLDER/r.toml --kv-dtype q17", 2, "q17"),
        ("record org/tiny -o FOLDER/x.zip --recipe FOLDER/r.toml --placement tp", 2, "without a cluster"),
        ("record org/tiny -o FOLDER/x.zip --variant fp3", 2, "'fp3' is not in this repo"),
        ("record org/none -o FOLDER/x.zip", 3, "nothing to record"),
        ("lock FOLDER/none.csv -o FOLDER/x.zip", 2, "none.csv"),
    ],
)
def test_what_is_asked_wrongly(
    args: str, status: int, words: str, hub: LoopbackHub, tmp_path: Path, capsys: Capture
) -> None:
    assert cli.main(args.replace("FOLDER", str(tmp_path)).split()) == status
    assert words in capsys.readouterr().err
    assert not (tmp_path / "x.zip").exists()


def test_one_repo_of_several_that_cannot_be_read(hub: LoopbackHub, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "x.zip"
    assert cli.main(["record", "org/tiny", "org/none", "-o", str(path)]) == 3
    assert "org/none: no such repo" in capsys.readouterr().err
    assert [r.asked.label for r in open_snapshot(path).repos] == ["org/tiny"]
    assert cli.main([str(path), "--format", "json"]) == 0
    assert [r["repo"] for r in json.loads(capsys.readouterr().out)["reports"]] == ["org/tiny"]


def test_the_handed_claims_from_a_lock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Capture) -> None:
    path = folder("cases/estimator_tables") / "claims.csv"
    expected = json.loads((path.parent / "expected.json").read_text())["claims.csv"]
    lock = tmp_path / "l.zip"
    names = {line.partition(",")[0] for line in path.read_text().splitlines()[1:]}
    with LoopbackHub([load(n) for n in names]) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        assert cli.main(["lock", str(path), "-o", str(lock)]) == 0
        online = judged(path, open_source)
    cases.no_sockets(monkeypatch)
    locked = judged(path, open_locked(lock))
    assert locked == online
    assert [j.outcome for j in locked] == expected
