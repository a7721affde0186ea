"""The cache through the command line: a folder with nothing but a config still says what a token costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from inspector.cli import main
from tests.shared import ROOT

CONFIGS = ROOT / "corpus" / "configs"
DENSE = {"full attention"}


def asked(folder: Path, *flags: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any]]:
    """Exit status and the report of a folder, as JSON."""
    status = main([str(folder), "--format", "json", *flags])
    (report,) = json.loads(capsys.readouterr().out)["reports"]
    return status, report


def folder(where: Path, config: object) -> Path:
    """A folder that holds that config.json alone."""
    (where / "config.json").write_text(json.dumps(config))
    return where


V3 = {
    "model_type": "deepseek_v3",
    "num_hidden_layers": 61,
    "num_attention_heads": 128,
    "hidden_size": 7168,
    "kv_lora_rank": 512,
    "qk_rope_head_dim": 64,
    "torch_dtype": "bfloat16",
}


def test_a_config_alone_has_cache_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, report = asked(folder(tmp_path, V3), capsys=capsys)
    assert status == 3
    assert report["kind"] == "nothing" and report["tensor_bytes"] is None
    assert report["cache"]["bytes_per_token"] == 70_272
    assert report["cache"]["fixed_bytes"] == 0
    assert len(report["cache"]["layers"]) == 61


def test_a_config_alone_has_no_fit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, report = asked(folder(tmp_path, V3), "--cluster", "8x h200", "--require-fit", capsys=capsys)
    assert status == 3
    (fit,) = report["fits"]
    assert fit["verdict"] == "unknown"
    assert fit["devices"] == [] and fit["min_units"] is None and fit["max_context"] is None
    assert fit["headroom_bytes"] is None and fit["budgets"]["raw"]["usable_bytes"] > 0


@pytest.mark.parametrize("form", ["text", "markdown", "html", "svg", "csv"])
def test_a_config_alone_can_be_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str) -> None:
    assert main([str(folder(tmp_path, V3)), "--cluster", "8x h200", "--format", form]) == 3
    assert "internal error" not in capsys.readouterr().err


def test_an_empty_folder_has_no_cache_and_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("nothing")
    _, report = asked(tmp_path, capsys=capsys)
    assert report["cache"] is None
    assert any("no config.json here" in n["message"] for n in report["notes"])


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"num_hidden_layers": -1}, "num_hidden_layers"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"num_hidden_layers": "61"}, "num_hidden_layers"),
        ({"kv_lora_rank": -512}, "kv_lora_rank"),
        ({"kv_lora_rank": "many"}, "kv_lora_rank"),
        ({"qk_rope_head_dim": None}, "qk_rope_head_dim"),
        ({"layer_types": ["full_attention"] * 3}, "layer_types"),
        ({"layer_types": ["full_attention"] * 99}, "layer_types"),
        ({"layer_types": ["telepathy"] * 61}, "telepathy"),
        ({"max_position_embeddings": -5}, "max_position_embeddings"),
        ({"text_config": [1]}, "text_config"),
    ],
)
def test_a_hostile_config_is_unknown_and_names_the_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, object], key: str
) -> None:
    _, report = asked(folder(tmp_path, {**V3, **changes}), capsys=capsys)
    assert report["cache"] is None
    (note,) = [n for n in report["notes"] if n["code"] == "cache_unknown"]
    assert key in note["message"] + (note["where"] or "")


def _cases() -> list[dict[str, Any]]:
    path = ROOT / "cases" / "kv_cases.json"
    found: list[dict[str, Any]] = json.loads(path.read_text())["cases"] if path.exists() else []
    return found


@pytest.mark.skipif(not _cases(), reason="../shared/cases/kv_cases.json is not here: its rows were not checked")
@pytest.mark.parametrize("case", _cases(), ids=lambda c: c["id"])
def test_published_cases(case: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = [] if case["kv_dtype"] == "v41" else ["--kv-dtype", case["kv_dtype"]]
    if (case["options"] or {}).get("conv_dtype") == "f32":
        flags += ["--engine", "llama.cpp"]
    status, report = asked(folder(tmp_path, case["config"]), *flags, capsys=capsys)
    assert status == 3
    found = report["cache"]
    assert (found["bytes_per_token"], found["fixed_bytes"]) == (case["per_token"], case["fixed_bytes"])


@pytest.mark.skipif(not CONFIGS.is_dir(), reason="../shared/corpus/configs is not here: its configs were not read")
@pytest.mark.parametrize("config", sorted(CONFIGS.glob("*")) if CONFIGS.is_dir() else [], ids=lambda p: p.name)
def test_a_real_config_has_a_number_or_a_reason(config: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, report = asked(config, capsys=capsys)
    reasons = [n for n in report["notes"] if n["code"] == "cache_unknown"]
    assert (report["cache"] is None) == bool(reasons)
    if report["cache"] is None:
        return
    families = {layer["family"] for layer in report["cache"]["layers"]}
    text = (config / "config.json").read_text()
    if any(sign in text for sign in ('"linear_attention"', '"kv_lora_rank"', '"sliding_attention"', '"compress_rat')):
        assert families - DENSE, families


def test_the_cache_by_context_is_shown_where_it_was_asked_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(folder(tmp_path, {**V3, "max_position_embeddings": 1 << 20})), "--kv-dtype", "bf16", "--plain"])
    text = capsys.readouterr().out
    for tokens in (2_048, 8_192, 32_768, 131_072, 1_048_576):
        assert f"{tokens:,}" in text and f"{tokens * 70_272:,}" in text
