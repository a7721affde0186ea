"""Numbers of more digits than the interpreter converts, digits of other alphabets, and deep nesting."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector import claims, declared, toml_text
from inspector.components import draft_layer
from inspector.errors import UsageError
from inspector.fitting.hardware import user_hardware
from inspector.slicing import layer_of
from scripts.fuzzing import reports
from scripts.fuzzing.bounds import within
from tests.memory import header

MANY = "9" * 5_000
CONFIG = json.dumps({"model_type": "llama", "num_hidden_layers": 2}).encode()
ALL = [MANY, "²", "٣", "0" * 5_000]


@pytest.mark.parametrize("number", ALL, ids=["many", "superscript", "arabic", "zeros"])
@pytest.mark.parametrize("name", ["model.layers.{}.self_attn.q_proj.weight", "layers.0.mlp.experts.{}.w1.weight"])
def test_a_tensor_s_number(name: str, number: str) -> None:
    weights = header({name.format(number): ("BF16", (4, 4), 32)})
    report = reports.whole({"config.json": CONFIG, "model.safetensors": weights}, b"\x01")
    assert report.tensor_bytes == 32


@pytest.mark.parametrize("number", ALL, ids=["many", "superscript", "arabic", "zeros"])
@pytest.mark.parametrize(
    "name",
    [
        "model-{}-of-{}.safetensors",
        "consolidated.{}.safetensors",
        "m-{}-of-{}.gguf",
        "m.gguf.part1of{}",
        "m.Q{}_K.gguf",
    ],
)
def test_a_file_s_number(name: str, number: str) -> None:
    reports.whole({name.format(number, number): header({"a": ("BF16", (4, 4), 32)})}, b"\x01")


def test_layers_beyond_reason_are_no_layers() -> None:
    assert layer_of("model.layers.61.mlp") == 61
    assert layer_of(f"model.layers.{MANY}.mlp") is None
    assert draft_layer("model.layers.61.mlp", 61)
    assert not draft_layer(f"model.layers.{MANY}.mlp", 61)


@pytest.mark.parametrize("method", sorted(declared.DIALECTS))
@pytest.mark.parametrize("key", ["bits", "weights_dtype", "dtype", "quant_type", "precision", "group_size", "w_bit"])
def test_a_quantisation_s_numbers(method: str, key: str) -> None:
    values: list[Any] = [*(f"{kind}{n}" for kind in ("int", "uint", "float", "fp", "q") for n in ALL), int("9" * 4_000)]
    for value in values:
        found = declared.read({"config.json": {"quantization_config": {"quant_method": method, key: value}}})
        assert found.module("model.layers.0.q_proj").method == found.method


TOML = {
    "digits": ("x = " + MANY, "more digits"),
    "arrays": ("x = " + "[" * 100_000, "nests too deep"),
    "tables": ("x = " + "{x = " * 100_000, "nests too deep"),
    "parts": (".".join("a" * 40_000) + " = 1", "more than 64 parts"),
    "quoted parts": (" . ".join(["'a.b'", '"c d"'] * 20_000) + " = 1", "more than 64 parts"),
    "table of parts": ("[" + ".".join("a" * 40_000) + "]", "more than 64 parts"),
}


@pytest.mark.parametrize("case", TOML)
def test_toml_beyond_what_is_read(case: str, tmp_path: Path) -> None:
    text, words = TOML[case]
    for name, read in (("t.toml", claims.sheet), ("t.toml", claims.mapping_file), ("h.toml", user_hardware)):
        path = tmp_path / name
        path.write_text(text)
        with within(1), pytest.raises(UsageError, match=words):
            read(path)


def test_toml_with_many_dots_that_are_no_key_s() -> None:
    dots = "." * 200
    words = " . ".join("word" for _ in range(200))
    text = f"# {dots} {words}\na = \"{dots}{words}\"\nb = '{words}'\nc = '''\n{words}\n'''\nd = [1.5, 2.5]\n"
    text += f'e = """\n{words} \\" {words}"""\n'
    text += "f.g.h = 1\n"
    assert toml_text.loads(text, "x", "")["f"] == {"g": {"h": 1}}


def test_a_hexadecimal_number_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    path.write_text('[[rows]]\nrepo = "org/a"\nfiles = 0x' + "f" * 10_000)
    with pytest.raises(UsageError, match=r"rows\.0\.files\): is a number beyond reason"):
        claims.sheet(path)


@pytest.mark.parametrize("number", ["²", MANY, "0", "-1", "1.0"])
def test_a_mapping_s_table_number(number: str, tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"table": number, "columns": []}))
    with pytest.raises(UsageError, match="is no number from 1"):
        claims.mapping_file(path)


@pytest.mark.parametrize("suffix", [".csv", ".md"])
def test_ten_thousand_columns(suffix: str, tmp_path: Path) -> None:
    names = [str(i) for i in range(10_000)]
    lines = [",".join(names)] if suffix == ".csv" else ["|".join(names), "|".join(["-"] * len(names))]
    path = tmp_path / f"t{suffix}"
    path.write_text("\n".join(lines) + "\n")
    with within(2), pytest.raises(UsageError, match="neither repo"):
        claims.sheet(path)
