"""A table is held against what `inspect` says of the same files, also where a side file decides the cache."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector import cli, inspect
from tests.memory import header


def test_a_declared_cache_dtype_counts_in_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """2 layers x 2 KV heads x (8 + 8) x 1 byte: only hf_quant_config.json declares the FP8 cache."""
    folder = tmp_path / "model"
    folder.mkdir()
    head, size = header({"model.norm.weight": ("BF16", (32,), 64)})
    (folder / "model.safetensors").write_bytes(head + bytes(size))
    shape = {"num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "torch_dtype": "bfloat16", **shape}))
    side = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": None, "kv_cache_quant_algo": "FP8"}}
    (folder / "hf_quant_config.json").write_text(json.dumps(side))
    report = inspect(str(folder))
    assert report.cache is not None
    assert report.cache.bytes_per_token == 64
    table = tmp_path / "claims.csv"
    table.write_text(f"repo,quantity,value,unit,tolerance\n{folder},cache_bytes_per_token,64,B,0\n")
    status = cli.main(["check", str(table), "--format", "json"])
    assert json.loads(capsys.readouterr().out)["summary"]["ok"] == 1
    assert status == 0
