"""One GGUF header over the network, 40 ms a request: ours against hf-mem (pip) and @huggingface/gguf (npm).

Both are installed into a temporary folder. hf-mem has the Hub's address written in, so its installed files are changed
in that alone; both are given the one file, while ours also lists the repo and fills the menu of 20 quants.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from tests.loopback import LoopbackHub, Repo, Virtual, quants

RUNS = 5
LATENCY = 0.04
FILE = f"{quants.STEM}-Q4_K_M.gguf"
BIG, BIG_TOKENS = "example/big-GGUF", 310_000
SPLIT, PARTS = "example/split-GGUF", 5
"""One quant in five files; the others of this benchmark are the menu of 20 quants, and one file with a large header."""
_HUB = "https://huggingface.co"
_JS = (
    'import { gguf, ggufAllShards } from "@huggingface/gguf"; '
    "const url = process.argv[2]; "
    "if (/-of-/.test(url)) { const r = await ggufAllShards(url); console.log(r.shards.length); } "
    "else { const r = await gguf(url); console.log(r.tensorInfos.length); }"
)


def run() -> dict[str, dict[str, dict[str, float]]]:
    head, size = quants.header(quants.keys("Q4_K_M", count=BIG_TOKENS), list(quants.tensors("Q4_K_M")))
    big = Repo.build(BIG, {FILE: Virtual(head, size)})
    parts = [f"{quants.STEM}-Q4_K_M-{n:05d}-of-{PARTS:05d}.gguf" for n in range(1, PARTS + 1)]
    heads = [quants.part("Q4_K_M", n, PARTS) for n in range(PARTS)]
    split = Repo.build(SPLIT, {p: Virtual(*head) for p, head in zip(parts, heads, strict=True)})
    found: dict[str, dict[str, dict[str, float]]] = {}
    with tempfile.TemporaryDirectory() as where, LoopbackHub([quants.repo(), big, split], latency=LATENCY) as hub:
        peers = _install(Path(where), hub.endpoint)
        for name, file, length in (
            (quants.NAME, FILE, len(quants.part("Q4_K_M")[0])),
            (BIG, FILE, len(head)),
            (SPLIT, parts[0], sum(len(h) for h, _ in heads)),
        ):
            print(f"{name}: a header of {length:,} bytes")
            commands = {
                "inspect": [
                    str(Path(sys.executable).with_name("inspect")),
                    name,
                    "--endpoint",
                    hub.endpoint,
                    "-q",
                    "--no-cache",
                ],
                **{peer: [w.format(repo=name, file=file) for w in command] for peer, command in peers.items()},
            }
            found[name] = _compare(hub, commands, length)
    return found


def _compare(hub: LoopbackHub, commands: Mapping[str, Sequence[str]], length: int) -> dict[str, dict[str, float]]:
    walls: dict[str, list[float]] = {name: [] for name in commands}
    figures: dict[str, dict[str, float]] = {}
    for turn in range(RUNS + 1):
        for name, command in commands.items():
            hub.forget()
            started = time.perf_counter()
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            took = time.perf_counter() - started
            if done.returncode:
                raise RuntimeError(f"{name} ended with {done.returncode}: {done.stderr[-500:]}")
            totals = hub.totals()
            figures[name] = {
                "requests": totals["requests"],
                "bytes": totals["sent"],
                "of_header": totals["sent"] / length,
            }
            if turn:
                walls[name].append(took)
    ours = figures["inspect"] | {"seconds": median(walls["inspect"])}
    for name, row in figures.items():
        row["seconds"] = median(walls[name])
        ratios = f"{row['bytes'] / ours['bytes']:.2f} x bytes, {row['seconds'] / ours['seconds']:.2f} x time of ours"
        print(
            f"  {name:20} {row['requests']:3.0f} requests  {row['bytes']:12,.0f} B ({row['of_header']:.2f} x header)  "
            f"{row['seconds']:.3f} s  {ratios}"
        )
    return figures


def _install(where: Path, endpoint: str) -> dict[str, list[str]]:
    """Commands of the peers that could be installed, with `{repo}` and `{file}` to be filled in."""
    commands: dict[str, list[str]] = {}
    python = where / "venv" / "bin" / "python"
    _quietly([sys.executable, "-m", "venv", str(where / "venv")])
    # Without compiled files: the address put in may have the length of the one written in, and the second be the same.
    if _quietly([str(python), "-m", "pip", "install", "-q", "--no-compile", "hf-mem"]):
        for path in (where / "venv").glob("lib/*/site-packages/hf_mem/**/*.py"):
            path.write_text(path.read_text().replace(_HUB, endpoint))
        commands["hf-mem"] = [str(python.with_name("hf-mem")), "--model-id", "{repo}", "--gguf-file", "{file}"]
    else:
        print("hf-mem: could not be installed, left out")
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm and node and _quietly([npm, "install", "--silent", "--prefix", str(where), "@huggingface/gguf"]):
        script = where / "read.mjs"
        script.write_text(_JS)
        commands["@huggingface/gguf"] = [node, str(script), endpoint + "/{repo}/resolve/main/{file}"]
    else:
        print("@huggingface/gguf: could not be installed, left out")
    return commands


def _quietly(command: Sequence[str]) -> bool:
    return subprocess.run(command, capture_output=True, check=False).returncode == 0
