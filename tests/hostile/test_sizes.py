"""A million tensors, names of a megabyte: answered or refused within the bounds of docs/limits.md."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from inspector import address, claims
from inspector.errors import InspectorError
from inspector.fitting.cluster import parse_cluster
from inspector.formats import gguf
from inspector.measure import measure
from inspector.render import FORMATS, render
from scripts.fuzzing import reports
from scripts.fuzzing.bounds import MESSAGE, bounded
from tests.formats.gguf.build import build
from tests.memory import MemorySource, header
from tests.waiting import examine

ROOT = Path(__file__).resolve().parents[2]
MB = 1_000_000
NAMES = {
    "letters": "n" * MB,
    "bidi": "\u202e" * (MB // 3),
    "digits": "7" * MB,
    "dots": "." * MB,
    "parts": "a." * (MB // 2),
    "layers": "layers.1." * (MB // 9),
    "experts": "experts.1." * (MB // 10),
    "scales": "weight_scale" * (MB // 12),
    "pipes": "|" * MB,
    "wildcards": "*a" * (MB // 2),
    "brackets": "[(" * (MB // 2),
}
PLAIN = header({"a": ("BF16", (4, 4), 32)})


@pytest.mark.parametrize("format", ["safetensors", "gguf"])
def test_a_million_tiny_tensors(format: str) -> None:
    command = [sys.executable, "-m", "tests.hostile.million", format]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]


def config(name: str) -> bytes:
    body = {
        "quant_method": name,
        "bits": name,
        "ignore": [name, f"re:{name}"],
        "modules_to_not_convert": [name],
        name: 1,
    }
    return json.dumps({"model_type": name, "architectures": [name], "quantization_config": body, name: name}).encode()


FILES: dict[str, Callable[[str], reports.Files]] = {
    "a tensor": lambda n: {"model.safetensors": header({n: ("BF16", (4, 4), 32), f"{n}.weight": ("U8", (1,), 1)})},
    "metadata": lambda n: {"model.safetensors": header({"a": ("U8", (1,), 1)}, {n: n, "a.weight": '{"_type":"' + n})},
    "a config": lambda n: {"model.safetensors": PLAIN, "config.json": config(n)},
    "an index": lambda n: {
        "model.safetensors": PLAIN,
        "model.safetensors.index.json": json.dumps({"weight_map": {n: "model.safetensors", "a": n}}).encode(),
    },
    "a path": lambda n: {f"{n}/model.safetensors": PLAIN, "model.safetensors": PLAIN},
    "a GGUF's path": lambda n: {f"{n}-00001-of-00002.gguf": PLAIN},
}


@pytest.mark.parametrize("where", FILES)
def test_a_repo_with_a_name_of_a_megabyte(where: str) -> None:
    # One kind of name per place by turns: each takes seconds.
    turn = [*FILES].index(where)
    for text in [*NAMES.values()][turn % 3 :: 3]:
        files = FILES[where](text)
        size = sum(len(p.encode()) + len(f if isinstance(f, bytes) else f[0]) for p, f in files.items())
        with bounded(size):
            report, checkpoint, footprint = examine(MemorySource(files, jobs=1))
        reports.adds_up(report, checkpoint, footprint)


@pytest.mark.parametrize("form", FORMATS)
def test_a_name_of_a_megabyte_in_every_output(form: str) -> None:
    """Text and pages shorten it; what machines read has it whole."""
    for name in ("letters", "bidi"):
        report, checkpoint, _ = examine(MemorySource(FILES["a tensor"](NAMES[name]), jobs=1))
        _, rows = measure(checkpoint, lambda name: True)
        text = render(form, (replace(report, tensor_rows=rows),))
        assert all(line.isprintable() for line in text.split("\n"))
        assert len(text) < 40_000 or form in ("json", "csv", "markdown")


@pytest.mark.parametrize("layers", [500, 3_000])
def test_a_config_of_many_layers_and_a_cluster_that_can_never_hold_them(layers: int) -> None:
    """Every count of devices is tried, and the layers of the cache are looked at once, not once for each."""
    config = {"model_type": "llama", "num_hidden_layers": layers, "num_attention_heads": 8192, "head_dim": 65_536}
    tensors = {f"model.layers.{i}.self_attn.q_proj.weight": ("BF16", (4, 4), 32) for i in range(layers)}
    files: reports.Files = {
        "config.json": json.dumps({**config, "hidden_size": 1 << 20}).encode(),
        "model.safetensors": header(tensors),
    }
    with bounded(200 * layers):
        report = reports.whole(files, b"\x01")
    assert [f.min_units for f in report.fits] == [None]


@pytest.mark.parametrize("name", NAMES)
def test_what_is_refused_is_refused_briefly(name: str, tmp_path: Path) -> None:
    text = NAMES[name]
    table = tmp_path / "t.csv"
    quoted = '"' + text.replace('"', '""') + '"'
    table.write_text(f"repo,quantity,value,{quoted}\n" + ",".join([quoted] * 4) + "\n")
    reads: list[Callable[[], object]] = [
        lambda: gguf.parse(build([(text, (1,), 0, 4)])[0], "m.gguf"),
        lambda: gguf.parse(build([], [(text, 4, 1)])[0], "m.gguf"),
        lambda: parse_cluster(text),
        lambda: parse_cluster(f"2x {text}"),
        lambda: address.parse(text),
        lambda: address.parse(f"org/name@{text}"),
        lambda: address.parse(f"https://huggingface.co/org/name/blob/main/{text}/.."),
        lambda: [c.fault for c in claims.sheet(table).claims],
    ]
    for read in reads:
        with bounded(len(text.encode())):
            try:
                read()
            except InspectorError as error:
                assert len(str(error)) <= MESSAGE
                assert str(error).isprintable()
