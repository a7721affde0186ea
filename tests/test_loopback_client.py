"""The real huggingface_hub client works on the loopback Hub, unmodified."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loopback import LoopbackHub, Record, Repo, Virtual
from tests.loopback.trial import CONFIG, FILES, REPO

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


def test_the_real_client_works_unmodified(tmp_path: Path) -> None:
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
