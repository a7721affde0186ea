"""The cache: entries are whole or nothing, a warm run asks for nothing, and no token is ever in it."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from inspector import inspect
from inspector.keep.report_form import NotKept, pack, unpack
from inspector.keep.store import Info, Store, folder
from inspector.model import Cost, Report
from tests.loopback import LoopbackHub, Repo, Virtual, load
from tests.memory import header

REPO = "meta-llama/Llama-3.1-8B"


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("INSPECT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    return tmp_path / "cache"


def plain(report: Report) -> Report:
    return replace(report, cost=Cost())


def test_a_warm_run_of_a_commit_asks_for_nothing(where: Path) -> None:
    repo = load(REPO)
    with LoopbackHub([repo]) as hub:
        cold = inspect(REPO, endpoint=hub.endpoint, cached=True)
        asked = len(hub.requests)
        warm = inspect(REPO, endpoint=hub.endpoint, cached=True)
        assert len(hub.requests) == asked + 1, "a branch is looked up, and nothing else"
        pinned = inspect(f"{REPO}@{repo.head}", endpoint=hub.endpoint, cached=True)
        assert len(hub.requests) == asked + 1
        assert plain(cold) == plain(warm) == plain(pinned)
        assert (pinned.cost.requests, pinned.cost.cached_files, cold.cost.cached_files) == (0, 4, 0)
        # Another question of the same commit: the headers are kept, the answer is not.
        other = inspect(f"{REPO}@{repo.head}", endpoint=hub.endpoint, cached=True, tensors=True)
        assert len(hub.requests) == asked + 1
        assert other.tensor_rows is not None and len(other.tensor_rows) == 291
        inspect(REPO, endpoint=hub.endpoint)
        assert len(hub.requests) == 2 * asked + 1, "not cached unless asked for"
    offline = inspect(REPO, endpoint=hub.endpoint, cached=True, offline=True)
    assert plain(offline) == plain(cold)


def test_a_new_commit_is_not_answered_with_an_old_report(where: Path) -> None:
    repo = load(REPO)
    with LoopbackHub([repo]) as hub:
        before = inspect(REPO, endpoint=hub.endpoint, cached=True)
        head = b'{"w":{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}'
        hub.put(repo.with_commit({"model.safetensors": len(head).to_bytes(8, "little") + head + b"abc"}))
        assert inspect(REPO, endpoint=hub.endpoint, cached=True).tensor_bytes == 3
        again = inspect(f"{REPO}@{before.revision}", endpoint=hub.endpoint, cached=True)
        assert plain(again) == plain(before)


def test_damage_is_seen_and_repaired(where: Path) -> None:
    with LoopbackHub([load(REPO)]) as hub:
        want = plain(inspect(REPO, endpoint=hub.endpoint, cached=True))
        chance = random.Random(7)
        for _ in range(12):
            for entry in where.rglob("*.entry"):
                data = bytearray(entry.read_bytes())
                cut = chance.randrange(len(data))
                if chance.random() < 0.5:
                    data[cut] ^= 1 << chance.randrange(8)
                else:
                    del data[cut:]
                entry.write_bytes(data)
            assert plain(inspect(REPO, endpoint=hub.endpoint, cached=True)) == want
        asked = len(hub.requests)
        inspect(REPO, endpoint=hub.endpoint, cached=True)
        assert len(hub.requests) == asked + 1, "repaired"


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    monkeypatch.setenv("INSPECT_CACHE", str(tmp_path / "file" / "below"))
    with LoopbackHub([load(REPO)]) as hub:
        assert inspect(REPO, endpoint=hub.endpoint, cached=True).tensors == 291


def test_no_token_is_kept(where: Path) -> None:
    with LoopbackHub([load(REPO)]) as hub:
        inspect(REPO, endpoint=hub.endpoint, cached=True, token="hf_verysecretvalue")
    kept = [e.read_bytes() for e in where.rglob("*") if e.is_file()]
    assert len(kept) > 5
    assert not any(b"verysecret" in k for k in kept)


def test_one_hub_never_answers_for_another(where: Path) -> None:
    repo = load(REPO)
    with LoopbackHub([repo]) as first, LoopbackHub([repo]) as second:
        inspect(REPO, endpoint=first.endpoint, cached=True)
        inspect(REPO, endpoint=second.endpoint, cached=True)
        assert len(second.requests) == len(first.requests)


def test_the_bound_is_kept_by_use(tmp_path: Path) -> None:
    store = Store(tmp_path, limit=10_000)
    for number in range(20):
        store.put(f"k{number}", bytes(1000))
        entry = max(tmp_path.rglob("*.entry"), key=lambda p: p.stat().st_mtime_ns)
        os.utime(entry, (number, number))
    assert store.get("k0") is not None
    store.tidy()
    left = [n for n in range(20) if store.get(f"k{n}") is not None]
    assert sum(p.stat().st_size for p in tmp_path.rglob("*.entry")) <= 8_000
    assert 0 in left and 19 in left and 1 not in left, "the least used go first"
    assert store.clear().entries == len(left)
    assert store.info().entries == 0


def test_only_a_run_that_may_have_passed_the_bound_looks_at_every_entry(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[Store] = []
    files = Store._files

    def seen(store: Store) -> Iterator[tuple[Path, os.stat_result]]:
        looks.append(store)
        return files(store)

    monkeypatch.setattr(Store, "_files", seen)

    def run(size: int) -> int:
        # What stands before the contents is counted too.
        store = Store(tmp_path / "cache", limit=11_500)
        store.put(f"k{random.random()}", bytes(size))
        looks.clear()
        store.tidy()
        return len(looks)

    def kept() -> int:
        return sum(p.stat().st_size for p in (tmp_path / "cache").rglob("*.entry"))

    assert [run(1_000) for _ in range(10)] == [0] * 10
    assert run(1_000) == 1
    assert kept() <= 9_200
    assert run(100) == 0
    # What nobody can tell is looked at: a folder of before, a tally that is damaged, one that is long.
    tally = tmp_path / "cache" / "tally"
    for text in (None, b"", b"5\n", b"looked x\n", b"looked 5\n" + b"1\n" * 5_000):
        tally.unlink()
        if text is not None:
            tally.write_bytes(text)
        assert run(10) == 1
        assert run(10) == 0
    assert Store(tmp_path / "cache").clear().entries > 5
    assert not tally.exists()


def test_what_killed_processes_have_left_goes_and_counts(tmp_path: Path) -> None:
    def run(limit: int = 1_000_000) -> None:
        store = Store(tmp_path, limit=limit)
        store.put(f"k{random.random()}", bytes(10))
        store.tidy()

    run()
    for number in range(5):
        (tmp_path / f"{number}.part").write_bytes(bytes(1_000))
        if number:
            os.utime(tmp_path / f"{number}.part", (1_000, 1_000))
    run()
    assert [p.name for p in tmp_path.glob("*.part")] == ["0.part"]
    # Many small entries: most of their bytes stand before the content.
    for _ in range(300):
        run(limit=10_000)
    assert sum(p.stat().st_size for p in tmp_path.glob("*.entry")) <= 10_200


def test_a_process_that_is_killed_before_its_entry_has_a_name_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)
    store.put("a", bytes(10))
    before = (tmp_path / "tally").read_bytes()

    def killed(*_: object) -> None:
        raise SystemExit

    monkeypatch.setattr(Store, "_name", killed)
    with pytest.raises(SystemExit):
        store.put("b", bytes(1_000))
    assert int((tmp_path / "tally").read_bytes().removeprefix(before)) > 1_000


def test_a_tally_that_is_a_folder_and_a_cache_that_is_a_file(tmp_path: Path) -> None:
    store = Store(tmp_path / "cache")
    store.put("a", b"x")
    (tmp_path / "cache" / "tally").unlink()
    (tmp_path / "cache" / "tally").mkdir()
    for number in range(3):
        store.put(f"b{number}", b"x")
        store.tidy()
    assert not list((tmp_path / "cache").glob("*.part"))
    assert store.clear().entries == 4
    (tmp_path / "file").write_text("x")
    assert Store(tmp_path / "file").clear() == Info(0, 0)


def test_entries_of_the_layout_before_count_and_go(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.put("a", b"x")
    (tmp_path / "ab").mkdir()
    next(tmp_path.glob("*.entry")).rename(tmp_path / "ab" / "cd.entry")
    assert store.info().entries == 1
    assert store.clear().entries == 1


def test_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    assert folder({"INSPECT_CACHE": "/a/b", "HOME": "/h"}) == Path("/a/b")
    assert folder({"XDG_CACHE_HOME": "/x", "HOME": "/h"}) == Path("/x/inspect")
    monkeypatch.setattr(sys, "platform", "linux")
    assert folder({"HOME": "/h"}) == Path("/h/.cache/inspect")
    monkeypatch.setattr(sys, "platform", "darwin")
    assert folder({"HOME": "/h"}) == Path("/h/Library/Caches/inspect")
    monkeypatch.setattr(sys, "platform", "win32")
    assert folder({"LOCALAPPDATA": "/l"}) == Path("/l/inspect/Cache")
    assert folder({}) is None


@pytest.mark.parametrize(
    "form", [b"", b"{", b'{"c":"system","v":["x"]}', b'{"c":"Report","v":[1]}', b'{"x":1}', b"[" * 100_000]
)
def test_a_form_that_is_none_of_ours_is_refused(form: bytes) -> None:
    with pytest.raises(NotKept):
        unpack(form)


def test_what_cannot_be_kept_says_so() -> None:
    with pytest.raises(NotKept):
        pack(object())


WRITER = """
import sys, random
from pathlib import Path
from inspector.keep.store import Store
from inspector.output import emit
store, name = Store(Path(sys.argv[1])), sys.argv[2]
n = 0
print("ready", flush=True)
while True:
    n += 1
    body = (b"%d " % n) * random.randrange(1, 200_000)
    store.put("one key", body)
    emit("begin " + "x" * random.randrange(500_000) + " end\\n", name)
"""


def killed(where: Path, rounds: int, chance: random.Random) -> int:
    """Kill a writer at a random moment, `rounds` times; how many of the entries read were whole."""
    whole = 0
    target = where / "report.txt"
    for _ in range(rounds):
        command = [sys.executable, "-c", WRITER, str(where / "cache"), str(target)]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parents[1])
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(chance.random() * 0.1)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        content = Store(where / "cache").get("one key")
        if content is not None:
            words = content.split()
            assert len(set(words)) == 1, "a mixture of two writes was read as good"
            whole += 1
        if target.exists():
            text = target.read_text()
            assert text.startswith("begin ") and text.endswith(" end\n"), "half an output file"
    return whole


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is not there")
def test_a_killed_writer_leaves_nothing_half(tmp_path: Path) -> None:
    assert killed(tmp_path, 8, random.Random(1)) > 0


def test_a_header_that_took_two_reads_is_kept_whole(where: Path) -> None:
    names = {f"model.layers.{n}.mlp.{'long' * 20}.weight": ("U8", (2,), 2) for n in range(3_000)}
    head, size = header(names)
    assert len(head) > 300_000
    repo = Repo.build("org/long", {"model.safetensors": Virtual(head, len(head) + size)})
    with LoopbackHub([repo]) as hub:
        inspect("org/long", endpoint=hub.endpoint, cached=True)
        asked = len(hub.requests)
        found = inspect(f"org/long@{repo.head}", endpoint=hub.endpoint, cached=True, tensors=True)
        assert len(hub.requests) == asked
        assert found.tensor_rows is not None and len(found.tensor_rows) == 3_000
        offline = inspect("org/long", endpoint=hub.endpoint, cached=True, offline=True, tensors=True)
    assert plain(offline) == plain(found)


@pytest.mark.parametrize(
    "line", [b"inspect-cache-2 00000000 999999999999\n", b"inspect-cache-2 00000000 0\n", b"inspect-cache-2 x -5\n"]
)
def test_a_damaged_length_is_damage(where: Path, line: bytes) -> None:
    store = Store(where)
    store.put("k", b"content")
    (entry,) = where.rglob("*.entry")
    entry.write_bytes(line + entry.read_bytes())
    assert store.get("k") is None
    assert not entry.exists(), "thrown away"
    table = b"%s 0 999999999999 00000000\n" % entry.stem.encode()
    entry.write_bytes(b"inspect-cache-2 %08x %d\n" % (zlib.crc32(table), len(table)) + table)
    assert store.get("k") is None


def test_several_entries_of_one_file(where: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = {f"k{n}": (bytes([n]) * n, b"x") for n in range(50)}
    store = Store(where)
    store.put_all(entries)
    assert len({p.stat().st_ino for p in where.rglob("*.entry")}) == 1
    assert store.info() == Info(50, next(where.rglob("*.entry")).stat().st_size)
    store.put("k3", b"new")
    want = {k: b"".join(v) for k, v in entries.items()} | {"k3": b"new"}
    assert {k: store.get(k) for k in entries} == want
    # On a file system without hard links each has a file of its own, also where a killed process left a part.
    other = Store(where / "other")

    def refuse(*_: object) -> None:
        raise OSError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    for _ in range(2):
        other.put_all(entries)
        for path in list((where / "other").rglob("*.entry")):
            path.rename(path.with_suffix(".part"))
    other.put_all(entries)
    assert {k: other.get(k) for k in entries} == {k: b"".join(v) for k, v in entries.items()}
