"""The command on a page gives the same answer again: parsed from the page as a shell would, and run."""

from __future__ import annotations

import html
import json
import re
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import pytest

from inspector import cli
from inspector.repeating import FLAGS, command
from inspector.request import Request
from tests.loopback import LoopbackHub, load, quants
from tests.render.samples import V41

FLASH, GGUF, PIPELINE = "deepseek-ai/DeepSeek-V4.1-Flash", quants.NAME, "example/stable-diffusion-1"
SHA = V41.revision
Capture = pytest.CaptureFixture[str]

NOT_ANSWERS = {
    *["repos", "revision", "repo_type"],  # in the repo's word
    *["form", "output", "plain", "quiet", "verbose", "version"],  # how it is shown
    *["token", "timeout", "jobs", "no_cache", "require_fit"],  # who asks, and how long and hard
}


@pytest.fixture(scope="module")
def hub() -> Iterator[str]:
    with LoopbackHub([load(FLASH), load(PIPELINE), load("meta-llama/Llama-3.1-8B"), quants.repo()]) as found:
        yield found.endpoint


def test_every_option_is_repeated_or_says_nothing_to_the_answer() -> None:
    options = {p.name for p in cli.command.params if isinstance(p, click.Parameter)}
    assert options == {*FLAGS, *NOT_ANSWERS}
    flags = {o for p in cli.command.params for o in p.opts}
    for name in FLAGS:
        assert ("--cluster" if name == "clusters" else f"--{name.replace('_', '-')}") in flags


def printed(page: str) -> list[list[str]]:
    """The commands of a page, split as a shell splits them."""
    return [shlex.split(html.unescape(line)) for line in re.findall(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)]


def asked(words: Sequence[str], form: str, tmp_path: Path) -> str:
    out = tmp_path / f"out.{form}"
    out.unlink(missing_ok=True)
    assert cli.main([*words, "--format", form, "-o", str(out), "-q"]) == 0
    return out.read_text()


def figures(text: str) -> list[dict[str, Any]]:
    """Everything that a report says but what it cost this time."""
    reports: list[dict[str, Any]] = json.loads(text)["reports"]
    return [{k: v for k, v in r.items() if k != "cost"} for r in reports]


SPARKS = ["--cluster", "2x dgx-spark"]


@pytest.mark.parametrize(
    "words",
    [
        [FLASH],
        [FLASH, *SPARKS, "--cluster", "6x dgx-spark"],
        [FLASH, *SPARKS, "--offload", "memory=disk", "--without", "vision", "--without", "draft", "--reserve", "4GiB"],
        [FLASH, *SPARKS, "--utilization", "0.9", "--with-draft", "--kv-dtype", "fp8", "--context", "131072"],
        [FLASH, "--cluster=8x h200 + 1x b200", "--sequences", "7", "--engine", "sglang", "--placement", "ep"],
        [FLASH, "--context", "9999999999", *SPARKS],
        [FLASH, "--with-draft", "--kv-dtype", "bf16", "--engine", "sglang"],
        [FLASH, "--revision", "main", "--match", "*.experts.0.*"],
        [PIPELINE, "--variant", "fp16", "--metadata"],
        [GGUF, "--variant", "Q2_K", "--cluster", "16GB", "--tensors"],
        ["meta-llama/Llama-3.1-8B", "--cluster", "2x rtx-4090", "--placement", "pp", "--utilization", "0.5"],
    ],
    ids=lambda words: " ".join(words)[:60],
)
def test_the_printed_command_gives_the_same_answer(words: list[str], hub: str, tmp_path: Path) -> None:
    words = [*words, "--endpoint", hub]
    (again,) = printed(asked(words, "html", tmp_path))
    assert again[0] == "inspect"
    assert re.search(r"@[0-9a-f]{40}\Z", again[1]), again[1]
    first = figures(asked(words, "json", tmp_path))
    assert figures(asked(again[1:], "json", tmp_path)) == first
    # And so does the command of the page that it makes.
    assert printed(asked(again[1:], "html", tmp_path)) == [again]


def test_a_reserve_changes_the_answer_so_the_comparison_can_fail(hub: str, tmp_path: Path) -> None:
    words = [FLASH, *SPARKS, "--endpoint", hub]
    plain, other = (figures(asked([*words, *more], "json", tmp_path)) for more in ([], ["--reserve", "4GiB"]))
    assert plain != other


def test_each_of_several_repos_has_its_own(hub: str, tmp_path: Path) -> None:
    words = [FLASH, PIPELINE, *SPARKS, "--endpoint", hub, "--sequences", "2"]
    lines = printed(asked(words, "html", tmp_path))
    assert [line[1].partition("@")[0] for line in lines] == [FLASH, PIPELINE]
    both = figures(asked(words, "json", tmp_path))
    assert [figures(asked(line[1:], "json", tmp_path))[0] for line in lines] == both


def test_one_file_of_a_repo_and_more_hardware(hub: str, tmp_path: Path) -> None:
    rows = tmp_path / "my machines.toml"
    rows.write_text('[[device]]\nid = "my-box"\nmemory = "80 GiB"\nkind = "discrete"\n')
    name = next(p for p in quants.repo().files if p.endswith("Q2_K.gguf"))
    words = [f"{hub}/{GGUF}/blob/main/{name}", "--endpoint", hub, "--hardware", str(rows), "--cluster", "2x my-box"]
    (again,) = printed(asked(words, "html", tmp_path))
    assert again[1].startswith(f"hf://{GGUF}@") and again[1].endswith(f"/{name}")
    assert figures(asked(again[1:], "json", tmp_path)) == figures(asked(words, "json", tmp_path))


def test_a_folder_and_a_snapshot_are_asked_for_as_they_were_typed(hub: str, tmp_path: Path) -> None:
    kept = tmp_path / "it's kept; rm -rf.zip"
    assert cli.main(["record", PIPELINE, "-o", str(kept), "--endpoint", hub, "-q"]) == 0
    (again,) = printed(asked([str(kept), *SPARKS], "html", tmp_path))
    assert again == ["inspect", str(kept), *SPARKS]
    assert figures(asked(again[1:], "json", tmp_path)) == figures(asked([str(kept), *SPARKS], "json", tmp_path))


def line(word: str, **options: Any) -> list[str]:
    return shlex.split(command(word, V41, Request((word,), **options)))


def test_secrets_stay_out() -> None:
    assert "hf_secret" not in " ".join(line(FLASH, token="hf_secret"))
    signed = "https://user:pw@files.example/model.gguf?X-Amz-Signature=1"
    found = command(signed, replace(V41, repo="https://files.example/model.gguf", revision=None), Request((signed,)))
    assert found == "inspect https://files.example/model.gguf"


def test_words_that_look_like_flags_or_other_things(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("-x.safetensors").write_bytes(b"")
    assert line("-x.safetensors")[1] == "./-x.safetensors"
    assert line(FLASH, match="-*; rm $(x)")[2:] == ["--match=-*; rm $(x)"]
    assert line(FLASH, repo_type="dataset")[1] == f"datasets/{V41.repo}@{SHA}"
    assert line("spaces/org/name")[1] == f"spaces/{V41.repo}@{SHA}"
    assert line(FLASH, offline=True, context=8192)[2:] == ["--offline"]
