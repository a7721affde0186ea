"""Hidden characters, markup, formulas and commands in every name that a repo or a table has, in every output."""

from __future__ import annotations

import io
import json
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from inspector import claims, cli
from inspector.claim.claim_verdict import Expense, Verdicts
from inspector.claims.measured import Gathered
from inspector.errors import SourceError
from inspector.render import FORMATS as ALL
from inspector.verdict_render import FORMATS, render
from scripts.fuzzing import reports, safe
from scripts.fuzzing.targets import TARGETS
from tests.formats.gguf.build import build
from tests.memory import header

CONTROLS = "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
HIDDEN = "\u00ad\u200b\u2028\u2029\ufeff\ue000\U000e0001\U000e0041"
NAMES = {
    "controls": CONTROLS,
    "bidi": f"a{BIDI}b",
    "hidden": f"a{HIDDEN}b",
    "surrogate": "a\ud800b",
    "escape codes": "\x1b[31m\x1b]0;title\x07\x9b2J",
    "formula": "=cmd|' /C calc'!A0",
    "formula after a tab": "\t=1+1",
    "other formulas": "+1\n-1\n@SUM(A1)\r=1",
    "markdown": "](javascript:x) ![a](b) **b** _i_ ~~s~~ `c` # h\n- l\n| a | b |\n***\n[r]: x\n<https://x.example>",
    "mention": "@org/all #1 org/name@abcdef0 &commat;all",
    "html": "</td></script></style><script>alert(1)</script><img src=x onerror=alert(1)>&#x202e;<!-- -->",
    "attribute": "\" onmouseover=alert(1) x='y",
    "workflow commands": "::error file=x,line=1::y%0A::set-output name=a::b\n::add-mask::x\r\n##[error]z",
    "xml": "]]><a/><!DOCTYPE x [<!ENTITY a 'b'>]>&a;",
    "path": "../../../../etc/passwd",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_repo_in_every_output(name: str) -> None:
    text = NAMES[name]
    base = f"model.layers.0.{text}"
    weights = header(
        {
            f"{base}.weight": ("F8_E4M3", (128, 128), 16_384),
            f"{base}.weight_scale_inv": ("F32", (1, 1), 4),
            text: ("U8", (1,), 1),
        },
        {"format": text, text: text},
    )
    config: dict[str, object] = {
        "model_type": text,
        "architectures": [text],
        "torch_dtype": text,
        text: text,
        "num_hidden_layers": text,
    }
    config["quantization_config"] = {"quant_method": text, "ignore": [text], "modules_to_not_convert": text, text: text}
    index = {"weight_map": {text: "model.safetensors", "b": text}, "metadata": {"total_size": text}}
    shown = {
        "config.json": json.dumps(config).encode(),
        "model.safetensors.index.json": json.dumps(index).encode(),
        "hf_quant_config.json": json.dumps({"quantization": {"quant_algo": text}, "producer": {"name": text}}).encode(),
    }
    report = reports.whole({**shown, "model.safetensors": weights}, b"", forms=ALL)
    # A header whose keys are no valid Unicode is refused, as the reference implementation does.
    assert report.incomplete if name == "surrogate" else report.tensor_bytes == 16_389


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["{}.safetensors", "{}/model.safetensors", "model.{}.safetensors", "m-{}.Q4_K_M.gguf"])
def test_a_file_s_name_in_every_output(name: str, form: str) -> None:
    weights = header({"a": ("BF16", (4, 4), 32)})
    pipeline = {"model_index.json": json.dumps({NAMES[name]: ["diffusers", NAMES[name]]}).encode()}
    for beside in ({}, {"model.safetensors": weights}, {"config.json": b"{}", "model.bin": b"x"}, pipeline):
        reports.whole({form.format(NAMES[name]): weights, **beside}, b"", forms=reports.QUICK)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "surrogate"])
def test_a_gguf_in_every_output(name: str) -> None:
    text = NAMES[name]
    keys = [("general.architecture", 8, text), ("general.name", 8, text), (text, 8, text), ("a", 9, (8, [text] * 3))]
    head, size = build([(text, (32,), 0, 128), ("blk.0.x", (64, 2), 187, 96)], [*keys, (f"{text}.block_count", 4, 2)])
    reports.whole({"m.gguf": (head, size - len(head))}, b"", forms=ALL)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_verdicts_in_every_output(name: str, suffix: str, tmp_path: Path) -> None:
    text = NAMES[name].encode("utf-8", "replace").decode()
    if suffix == ".csv" and sys.version_info < (3, 11):
        # The csv module of Python 3.10 refuses NUL; what it says is our error.
        text = text.replace("\0", "")
    row = {
        "repo": "org/a",
        "quantity": text,
        "value": text,
        "unit": text,
        "tolerance": text,
        "cluster": text,
        text: text,
    }
    rows = [row, {**row, "quantity": "tensor_bytes", "value": "3 GB"}, {**row, "repo": text}]
    path = tmp_path / f"t{suffix}"
    if suffix == ".json":
        path.write_text(json.dumps(rows))
    else:
        quoted = [['"' + v.replace('"', '""') + '"' for v in line] for line in ([*row], *([*r.values()] for r in rows))]
        path.write_bytes("".join(",".join(line) + "\n" for line in quoted).encode())
    sheet = claims.sheet(path)
    assert len(sheet.claims) == 3
    failed = SourceError(text, text, text)
    verdicts = claims.judged(
        sheet.claims, Gathered(dict.fromkeys((c.subject for c in sheet.claims), failed), False, Expense())
    )
    for form in FORMATS:
        for allow in (False, True):
            safe.output(form, render(form, Verdicts(verdicts.judged, allow_unverifiable=allow)))
    TARGETS["trees" if suffix == ".json" else "csv"].hold((b"\0" if suffix == ".json" else b"") + path.read_bytes())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("command", [[], ["quant"], ["fit"], ["table"]])
def test_what_a_command_prints(name: str, command: list[str], tmp_path: Path) -> None:
    """Standard output and standard error, for a folder whose names and contents are hostile."""
    text = NAMES[name]
    weights = header({f"{text}.weight": ("BF16", (4, 4), 32)}, {"a": text})
    (tmp_path / "model.safetensors").write_bytes(weights[0] + bytes(weights[1]))
    said = {"model_type": text, "quantization_config": {"quant_method": text, "bits": text}}
    (tmp_path / "config.json").write_text(json.dumps(said))
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        cli.main([*command, str(tmp_path)])
        cli.main([*command, str(tmp_path / text.replace("\0", ""))])
    for line in (out.getvalue() + err.getvalue()).split("\n"):
        assert line.isprintable(), line
    assert "internal error" not in err.getvalue()
