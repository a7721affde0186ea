"""Fixtures can be made again, captured from a Hub, and served by a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.loopback import LoopbackHub, Repo, fixture, load

ROOT = Path(__file__).resolve().parent.parent
SMALL = ("openai/gpt-oss-20b", "meta-llama/Llama-3.1-8B", "example/stable-diffusion-1", "example/sentence-encoder")


def test_generators_give_what_is_on_disk(tmp_path: Path) -> None:
    checked = ["deepseek-ai/DeepSeek-V4.1-Flash", *SMALL]
    make = [sys.executable, str(ROOT / "scripts" / "make_fixtures")]
    done = subprocess.run([*make, "--check", *checked], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for root in ("a", "b"):
        subprocess.run([*make, "--root", str(tmp_path / root), SMALL[0]], check=True, capture_output=True)
    one, two = (fixture.folder(SMALL[0], tmp_path / r) / "data.tar.xz" for r in ("a", "b"))
    assert one.read_bytes() == two.read_bytes()


def test_a_contradiction_with_a_publication_stops_the_generator() -> None:
    from scripts.layouts.recording import Contradiction, Recording

    with pytest.raises(Contradiction, match=r"org/x: tensors is 1, published 2"):
        Recording("org/x").check("tensors", 1, 2)


def environment(hub: LoopbackHub, home: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("HF_") and "proxy" not in k.lower()}
    return kept | {"HF_ENDPOINT": hub.endpoint, "HF_HOME": str(home), "HF_TOKEN": "hf_test"}


@pytest.mark.parametrize("name", ["openai/gpt-oss-20b", "example/sentence-encoder"])
def test_capture_gives_the_same_headers(name: str, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    command = [sys.executable, str(ROOT / "scripts" / "capture"), name, "--root", str(tmp_path / "out")]
    with LoopbackHub([load(name)]) as hub:
        done = subprocess.run(
            command, env=environment(hub, tmp_path), capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        totals = hub.totals()
    assert totals["weight_bytes"] == 0
    assert totals["cdn_authorized"] == 0
    recorded, captured = load(name), load(name, tmp_path / "out")
    assert captured.head == recorded.head
    assert {p: (f.size, f.content_id) for p, f in captured.files.items()} == {
        p: (f.size, f.content_id) for p, f in recorded.files.items()
    }
    compared = [p for p in recorded.files if p.endswith((".safetensors", "config.json", "index.json"))]
    assert len(compared) >= 3
    for path in compared:
        assert captured.files[path].load() == recorded.files[path].load(), path


def test_capture_says_what_went_wrong(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    broken = Repo.build("org/broken", {"model.safetensors": b"\xff" * 16})
    command = [sys.executable, str(ROOT / "scripts" / "capture"), "--root", str(tmp_path / "out")]
    with LoopbackHub([broken]) as hub:
        for name, words in (("org/broken", "its header claims"), ("org/none", "Repository Not Found")):
            done = subprocess.run(
                [*command, name], env=environment(hub, tmp_path), capture_output=True, text=True, check=False
            )
            assert done.returncode == 3
            assert words in done.stderr
            assert "Traceback" not in done.stderr


@pytest.fixture
def served() -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.loopback", "--log", SMALL[0]]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def test_the_command_serves_until_terminated(served: subprocess.Popen[str]) -> None:
    import urllib.request

    assert served.stdout is not None
    first = served.stdout.readline().strip()
    assert first.startswith("HF_ENDPOINT=http://127.0.0.1:")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    url = f"{first.partition('=')[2]}/{SMALL[0]}/resolve/main/config.json"
    with opener.open(url, timeout=5) as answer:
        assert json.load(answer)["model_type"] == "gpt_oss"
    served.terminate()
    assert served.wait(5) == 0
    assert "weight_bytes=0" in served.stdout.read()
