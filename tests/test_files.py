"""The command on real files and folders: figures of the reference readers, statuses for broken ones."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import shared
from tests.memory import header


def run(*args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "inspector", *args], capture_output=True, text=True, timeout=60)


def report(path: Path) -> tuple[int, dict[str, Any]]:
    done = run(str(path), "--format", "json")
    assert "Traceback" not in done.stderr
    return done.returncode, json.loads(done.stdout)["reports"][0]


def codes(found: dict[str, Any]) -> list[str]:
    """Codes of notes, but for the one on the cache, which these files say nothing of."""
    return [n["code"] for n in found["notes"] if n["code"] != "cache_unknown"]


def answers() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared.ROOT / "corpus" / "answers.json").read_text())
    return found


REAL = shared.listed("corpus/safetensors", "*.safetensors")


@pytest.mark.parametrize("path", REAL[::4], ids=lambda p: p.name)
def test_real_files(path: Path) -> None:
    expected = answers()[f"safetensors/{path.name}"]
    status, found = report(path)
    assert status == 0
    assert (found["tensors"], found["tensor_bytes"]) == (expected["tensors"], expected["tensor_bytes"])
    assert found["file_bytes"] == expected["file_size"]
    assert {d["dtype"]: d["bytes"] for d in found["dtypes"]} == expected["bytes_by_dtype"]
    assert found["revision"] is None
    assert found["cost"]["requests"] == 0


@pytest.mark.parametrize("path", shared.listed("corpus/malformed", "*.safetensors"), ids=lambda p: p.name)
def test_malformed_files_are_one_line_and_status_3(path: Path) -> None:
    done = run(str(path))
    assert done.returncode == 3
    assert "INCOMPLETE" in done.stdout
    assert "unknown tensor bytes" in done.stdout
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("inspect: ")


def test_a_truncated_file_gives_its_figures_a_note_and_status_3() -> None:
    path = shared.folder("corpus/truncated") / "all-MiniLM-L6-v2.model.head.safetensors"
    status, found = report(path)
    assert status == 3
    assert found["incomplete"] is True
    assert found["tensor_bytes"] == 90_856_960
    assert codes(found) == ["truncated"]


def test_real_repos_say_what_is_there() -> None:
    root = shared.folder("corpus/repos")
    for folder in sorted(root.iterdir()):
        status, found = report(folder)
        assert status in (0, 3), folder.name
        assert (
            found["file_bytes"] is None
            or found["file_bytes"] + sum(e["bytes"] for e in found["excluded"]) + found["other_bytes"]
            == found["repo_bytes"]
        )
    _, pointers = report(root / "tbressers_WizardLM-2-8x22B")
    assert pointers["files"] == 59
    assert pointers["tensor_bytes"] is None
    stated = [p.read_text().rpartition("size ")[2] for p in (root / "tbressers_WizardLM-2-8x22B").glob("*.safetensors")]
    assert pointers["file_bytes"] == sum(map(int, stated))
    assert pointers["index_total_size"] == 281_241_268_224


def make_repo(folder: Path) -> Path:
    folder.mkdir()
    shards = []
    for number in (1, 2, 3):
        head, size = header({f"layer{number}.weight": ("BF16", (4, 4), 32)})
        name = f"model-{number:05d}-of-00003.safetensors"
        (folder / name).write_bytes(head + bytes(size))
        shards.append(name)
    index = {"metadata": {"total_size": 96}, "weight_map": {f"layer{n + 1}.weight": s for n, s in enumerate(shards)}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "config.json").write_text('{"num_hidden_layers": 3}')
    return folder


def test_one_bad_shard_of_three(tmp_path: Path) -> None:
    folder = make_repo(tmp_path / "repo")
    (folder / "model-00002-of-00003.safetensors").write_bytes(b"\xff" * 40)
    status, found = report(folder)
    assert status == 3
    assert found["incomplete"] is True
    assert found["files"] == 3
    assert found["tensor_bytes"] == 64
    (note,) = [n for n in found["notes"] if n["code"] == "unread_file"]
    assert note["where"] == "model-00002-of-00003.safetensors"
    assert "100,000,000" in note["message"]


def test_a_missing_shard(tmp_path: Path) -> None:
    folder = make_repo(tmp_path / "repo")
    (folder / "model-00003-of-00003.safetensors").unlink()
    status, found = report(folder)
    assert status == 3
    assert found["incomplete"] is True
    assert codes(found) == ["missing_shard"]


@pytest.mark.parametrize(
    "content", ["{nope", "[1, 2", '{"weight_map": 3}', '{"weight_map": {"a": "../x"}}', "\xff\xfe"]
)
def test_a_bad_index_is_named_and_the_headers_decide(tmp_path: Path, content: str) -> None:
    folder = make_repo(tmp_path / "repo")
    (folder / "model.safetensors.index.json").write_text(content)
    status, found = report(folder)
    assert found["tensor_bytes"] == 96
    assert codes(found) == ["unreadable_document"]
    assert found["notes"][0]["where"] == "model.safetensors.index.json"
    assert status == 3


@pytest.mark.parametrize("content", ["", "{nope", "[" * 100_000, "null", '"x"', '{"text_config": 3}', '{"a": NaN}'])
def test_a_bad_config_never_stops_the_report(tmp_path: Path, content: str) -> None:
    folder = make_repo(tmp_path / "repo")
    (folder / "config.json").write_text(content)
    _, found = report(folder)
    assert found["tensor_bytes"] == 96
    assert found["parameters"] == 48


def test_index_and_headers_disagree_both_ways(tmp_path: Path) -> None:
    folder = make_repo(tmp_path / "repo")
    index = {
        "metadata": {"total_size": 1},
        "weight_map": {
            "layer1.weight": "model-00002-of-00003.safetensors",
            "layer2.weight": "model-00002-of-00003.safetensors",
            "ghost": "model-00003-of-00003.safetensors",
            "x": "model-00001-of-00003.safetensors",
        },
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    _, found = report(folder)
    said = {n["code"]: n["message"] for n in found["notes"] if n["code"] != "cache_unknown"}
    assert said.keys() == {"index_names_absent", "index_names_unlisted", "index_wrong_shard", "index_total_size"}
    assert "'ghost'" in said["index_names_absent"]
    assert "'layer3.weight'" in said["index_names_unlisted"]
    assert "'layer1.weight'" in said["index_wrong_shard"]
    assert "says 1 bytes, the headers say 96" in said["index_total_size"]
    assert found["tensor_bytes"] == 96


def test_hostile_names_never_reach_the_terminal_raw(tmp_path: Path) -> None:
    head, size = header({"evil\x1b[31m\u202e\n.weight": ("BF16", (1,), 2)})
    (tmp_path / "model.safetensors").write_bytes(head + bytes(size))
    for form in ("text", "markdown", "csv", "json"):
        done = run(str(tmp_path), "--tensors", "--format", form)
        assert done.returncode == 0
        assert "\x1b" not in done.stdout
        assert "\u202e" not in done.stdout


def test_nothing_is_concluded_of_shards_that_were_not_read(tmp_path: Path) -> None:
    folder = make_repo(tmp_path / "repo")
    (folder / "model-00002-of-00003.safetensors").write_bytes(b"\xff" * 40)
    _, found = report(folder)
    assert found["prequantised"]["verdict"] == "unknown"
    assert found["parameters"] is None
    assert found["bits_per_weight"] is None
    assert run("quant", str(folder), "--exit-code").returncode == 3
    rows = run(str(folder), "--format", "csv").stdout
    assert "unread" in rows
    assert "model-00002-of-00003.safetensors" in rows


def test_the_only_file_is_bad_and_the_rest_is_still_told(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_bytes(b"abc")
    (tmp_path / "README.md").write_text("x")
    status, found = report(tmp_path)
    assert status == 3
    assert found["incomplete"] is True
    assert (found["files"], found["file_bytes"], found["tensors"], found["tensor_bytes"]) == (1, 3, None, None)
    assert found["other_bytes"] == 1
    done = run(str(tmp_path))
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"inspect: {tmp_path}: model.safetensors: has 3 bytes")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda f: (f / "config.json").write_text("{"), "a config or index could not be read"),
        (lambda f: (f / "model.safetensors.index.json").write_text("{"), "a config or index could not be read"),
        (lambda f: (f / "model-00003-of-00003.safetensors").unlink(), "not every header could be read"),
    ],
)
def test_what_is_incomplete_is_said_as_it_is(tmp_path: Path, spoil: Any, words: str) -> None:
    folder = make_repo(tmp_path / "repo")
    spoil(folder)
    assert f"INCOMPLETE: {words}" in run(str(folder)).stdout


def test_no_contradiction_is_made_of_what_was_not_read(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").write_text(
        "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 123456\n"
    )
    (tmp_path / "config.json").write_text('{"quantization_config": {"quant_method": "gptq", "bits": 4}}')
    _, found = report(tmp_path)
    assert "config_contradicts_headers" not in {n["code"] for n in found["notes"]}


def test_output_never_overwrites_weights(tmp_path: Path) -> None:
    folder = make_repo(tmp_path / "repo")
    weights = folder / "model-00001-of-00003.safetensors"
    before = weights.read_bytes()
    for target in (weights, folder / "config.json", folder / "model.safetensors.index.json", tmp_path / "new.gguf"):
        assert run(str(folder), "-o", str(target)).returncode == 2
    assert run(str(weights), "-o", str(weights)).returncode == 2
    assert weights.read_bytes() == before
    assert run(str(folder), "-o", str(folder / "report.json")).returncode == 0


def test_a_shard_by_local_path_stands_for_its_set(tmp_path: Path) -> None:
    folder = make_repo(tmp_path / "repo")
    (folder / "other.safetensors").write_bytes(b"not looked at")
    status, found = report(folder / "model-00002-of-00003.safetensors")
    assert status == 0
    assert (found["files"], found["tensor_bytes"]) == (3, 96)
