"""`inspect check` and `inspect table` from the command line, against a Hub on loopback that counts and fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import main
from tests.claims.repos import tiny, written
from tests.loopback import Fault, LoopbackHub, RequestInfo

REPOS = [tiny(f"org/m{i}", 500 + i) for i in range(60)]


@pytest.fixture(scope="module")
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub(REPOS) as running:
        yield running


@pytest.fixture(autouse=True)
def nowhere_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, hub: LoopbackHub) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
    monkeypatch.setenv("HF_HUB_DISABLE_IMPLICIT_TOKEN", "1")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    hub.forget()
    yield
    hub.faults = None


def table(folder: Path, *rows: str) -> str:
    return written(folder, "t.csv", "repo,quantity,value,unit,tolerance\n" + "".join(f"{r}\n" for r in rows))


def report(path: str, capsys: pytest.CaptureFixture[str], *flags: str) -> tuple[int, dict[str, Any]]:
    status = main(["check", path, "--format", "json", *flags])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return status, found


RIGHT = "org/m1,tensor_bytes,1002,B,0"
WRONG = "org/m1,tensor_bytes,1003,B,0"
DOWN = "org/m2,tensor_bytes,1004,B,0"


def down(request: RequestInfo) -> Fault | None:
    return Fault(status=503, body=b"down", headers={"retry-after": "0"}) if "org/m2" in request.path else None


@pytest.mark.parametrize(
    ("rows", "flags", "status", "verdicts"),
    [
        ((RIGHT,), (), 0, ["ok"]),
        ((RIGHT, WRONG), (), 1, ["ok", "wrong"]),
        ((RIGHT, DOWN), (), 3, ["ok", "unverifiable"]),
        ((RIGHT, DOWN), ("--allow-unverifiable",), 0, ["ok", "unverifiable"]),
        ((WRONG, DOWN, RIGHT), (), 1, ["wrong", "unverifiable", "ok"]),
        (("org/m1,tensor_bytes,n/a,,", DOWN), (), 1, ["malformed", "unverifiable"]),
        (("org/absent,files,1,,",), (), 3, ["unverifiable"]),
        ((RIGHT,), ("--strict",), 1, ["ok"]),
        ((f"org/m1@{REPOS[1].head},tensor_bytes,1002,B,0",), ("--strict",), 0, ["ok"]),
        (("org/m1@main,tensor_bytes,1002,B,0",), ("--strict",), 1, ["ok"]),
    ],
)
def test_exit_status(
    hub: LoopbackHub,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    rows: tuple[str, ...],
    flags: tuple[str, ...],
    status: int,
    verdicts: list[str],
) -> None:
    hub.faults = down
    found, document = report(table(tmp_path, *rows), capsys, "--timeout", "3", *flags)
    assert [v["verdict"] for v in document["verdicts"]] == verdicts
    assert found == status


def test_an_outage_never_reads_as_a_wrong_estimate(
    hub: LoopbackHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.faults = down
    _, document = report(table(tmp_path, DOWN, "org/m2,files,99,,0"), capsys, "--timeout", "3")
    assert [v["measured"] for v in document["verdicts"]] == [None, None]
    assert all("503" in v["reason"] for v in document["verdicts"])


def test_500_rows_over_60_repos_read_each_repo_once(
    hub: LoopbackHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"org/m{i % 60},{('files,1,,0', 'tensors,1,,0', 'tensor_bytes,%d,B,0')[i % 3]}" for i in range(500)]
    rows = [r % (2 * (500 + i % 60)) if "%d" in r else r for i, r in enumerate(rows)]
    status, document = report(table(tmp_path, *rows), capsys)
    assert status == 0
    assert document["summary"]["ok"] == 500
    assert document["cost"]["repos"] == 60
    listings: dict[str, int] = {}
    headers: dict[str, int] = {}
    for record in hub.requests:
        request = record.request
        if request.route == "info":
            listings[request.repo] = listings.get(request.repo, 0) + 1
        elif request.server == "cdn" and request.file.endswith(".safetensors"):
            headers[request.path] = headers.get(request.path, 0) + 1
    assert list(listings.values()) == [1] * 60
    assert list(headers.values()) == [1] * 60
    assert document["cost"]["requests"] == len(hub.requests)


def test_the_json_contract(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, document = report(table(tmp_path, WRONG, RIGHT), capsys)
    assert document["schema_version"] == 1
    wrong, right = document["verdicts"]
    assert wrong["place"].endswith("t.csv:2:21 (value)")
    assert (wrong["claimed"], wrong["measured"], wrong["difference"]) == (1003, 1002, 1)
    assert wrong["relative"] == pytest.approx(1 / 1002)
    assert wrong["tolerance"] == 0
    assert (wrong["notes"], right["notes"]) == ([], ["unpinned"])
    assert document["summary"] == {"ok": 1, "wrong": 1, "drifted": 0, "unverifiable": 0, "malformed": 0}


@pytest.mark.parametrize("name", ["absent.csv", "bad.csv", "bad.json"])
def test_a_table_that_cannot_be_read_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    written(tmp_path, "bad.csv", "a,b\n1,2\n")
    written(tmp_path, "bad.json", "{")
    assert main(["check", name]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert name in captured.err
    assert "Traceback" not in captured.err


@pytest.mark.parametrize(
    "text",
    [
        'rule = "tensor_bytes *"',
        'quantity = "sizes"',
        'quantity = "files"\nrule = "files"',
        'rule = "tensor_bytes"\nunit = "furlong"',
        'rule = "tensor_bytes"\ntolerance = "some"',
        'rule = "tensor_bytes"\ncolour = "red"',
        "",
    ],
)
def test_a_mapping_that_cannot_be_read_is_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    written(tmp_path, "w.csv", "model,size\norg/m1,1002 B\n")
    written(tmp_path, "m.toml", f'[[columns]]\ncolumn = "size"\n{text}\n')
    assert main(["check", "w.csv", "--mapping", "m.toml"]) == 2
    assert "m.toml" in capsys.readouterr().err


def test_a_mapping_in_pyproject(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "w.csv", "model,size\nOne,1.002\nTwo,9\nThree,5\n")
    written(
        tmp_path,
        "pyproject.toml",
        '[project]\nname = "x"\n[[tool.inspect.tables]]\nfile = "w.csv"\n'
        '[tool.inspect.tables.repos]\nOne = "org/m1"\nTwo = {repo = "org/m2", revision = "main"}\n'
        '[[tool.inspect.tables.columns]]\ncolumn = "size"\nrule = "tensor_bytes"\nunit = "kB"\ntolerance = "1%"\n',
    )
    status, document = report(path, capsys)
    assert [v["verdict"] for v in document["verdicts"]] == ["ok", "wrong", "unverifiable"]
    assert status == 1


def test_fix_prints_a_diff_and_then_all_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = table(tmp_path, WRONG, "org/m4,files,1,,", "org/m3,tensor_bytes,2.0,kB,1%")
    assert main(["check", path, "--fix"]) == 0
    out = capsys.readouterr().out
    assert "-org/m1,tensor_bytes,1003,B,0\n+org/m1,tensor_bytes,1002,B,0\n" in out
    assert "+org/m3,tensor_bytes,1.0,kB,1%" in out
    assert main(["check", path]) == 0


def test_a_table_that_is_written_is_true(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"org/m{i}" for i in range(3)]
    written(tmp_path, "repos.txt", "# mine\n" + "\n".join(names) + "\n")
    for name in ("t.csv", "t.json", "t.md"):
        assert main(["table", "repos.txt", "-o", name]) == 0
        status, document = report(name, capsys, "--strict")
        assert status == 0, name
        assert len(document["verdicts"]) == 3 * 7


def test_a_table_says_unknown_where_a_repo_is_down(
    hub: LoopbackHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.faults = down
    assert main(["table", "org/m1", "org/m2", "--columns", "tensor_bytes", "--timeout", "3"]) == 3
    captured = capsys.readouterr()
    assert captured.out.splitlines()[1].endswith(",1002")
    assert captured.out.splitlines()[2] == "org/m2,,unknown"
    assert "503" in captured.err


def test_tolerance_of_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "t.csv", "repo,quantity,value\norg/m1,tensor_bytes,1010 B\n")
    assert main(["check", path]) == 1
    assert main(["check", path, "--tolerance", "1%"]) == 0
    assert main(["check", path, "--tolerance", "5"]) == 2


def test_a_lock_gives_the_same_report_without_a_request(
    hub: LoopbackHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = table(tmp_path, RIGHT, WRONG, "org/absent,files,1,,", "org/m3,files,1,,")
    assert main(["lock", path, "-o", "t.lock.zip"]) == 3
    capsys.readouterr()
    status, online = report(path, capsys)
    hub.forget()
    again, offline = report(path, capsys, "--locked", "t.lock.zip")
    assert status == again == 1
    assert hub.requests == ()
    assert online["cost"]["requests"] > offline["cost"]["requests"] == 0
    online["cost"] = offline["cost"] = None
    assert online == offline


def test_what_was_right_at_the_locked_commit_has_drifted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = table(tmp_path, RIGHT, "org/m5,tensor_bytes,1010,B,0", "org/m5,tensor_bytes,7,B,0")
    assert main(["lock", path, "-o", "t.lock.zip"]) == 0
    capsys.readouterr()
    with LoopbackHub([REPOS[1], tiny("org/m5", 900)]) as later:
        status, document = report(path, capsys, "--since", "t.lock.zip", "--endpoint", later.endpoint)
    assert [v["verdict"] for v in document["verdicts"]] == ["ok", "drifted", "wrong"]
    assert document["verdicts"][1]["measured"] == 1800
    assert "locked commit" in document["verdicts"][1]["reason"]
    assert status == 1


def test_two_tables_in_one_run(hub: LoopbackHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = table(tmp_path, RIGHT)
    other = written(tmp_path, "u.csv", "repo,quantity,value\norg/m1,tensor_bytes,1001 B\n")
    status, document = report(one, capsys, other)
    assert [v["verdict"] for v in document["verdicts"]] == ["ok", "wrong"]
    assert document["cost"]["repos"] == 1
    assert status == 1
    assert main(["check", one, other, "--fix"]) == 0
    assert Path(other).read_text().endswith("1002 B\n")


def test_ctrl_c_keeps_what_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspector import sources, tasks
    from inspector.address import Address
    from inspector.model import Listing, Source

    opened = sources.open_source

    def stopping(where: Address, **options: Any) -> Source:
        if where.name == "org/m2":
            # Long enough for the other repo to come in first.
            async def waits() -> Listing:
                await tasks.sleep(1)
                raise KeyboardInterrupt

            found = opened(where, **options)
            monkeypatch.setattr(found, "listing", waits)
            return found
        return opened(where, **options)

    monkeypatch.setattr(sources, "open_source", stopping)
    status, document = report(table(tmp_path, RIGHT, DOWN), capsys)
    assert status == 130
    assert document["interrupted"] is True
    assert [v["verdict"] for v in document["verdicts"]] == ["ok", "unverifiable"]
    assert "interrupted" in document["verdicts"][1]["reason"]
