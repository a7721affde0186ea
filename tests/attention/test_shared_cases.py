"""The cache of published configs, to the byte, and of every real config: a number or a reason."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inspector.cache import cache_of
from inspector.model.cache_model import Cache, UnknownCache
from tests.shared import folder, listed

CONFIGS = [p for part in ("corpus/configs", "corpus/repos") for p in listed(part, "*/config.json")]


def cases() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for path in listed("cases", "kv_cases.json"):
        found += json.loads(path.read_text())["cases"]
    return found


def test_the_shared_folder_is_here() -> None:
    folder("cases")
    folder("corpus/configs")
    assert cases()
    assert len(CONFIGS) > 80


@pytest.mark.parametrize("case", cases(), ids=lambda c: c["id"])
def test_published_figures(case: dict[str, Any]) -> None:
    asked = None if case["kv_dtype"] == "v41" else case["kv_dtype"]
    cache = cache_of(case["config"], kv_dtype=asked, **(case["options"] or {}))
    assert isinstance(cache, Cache), cache
    assert cache.bytes_per_token == case["per_token"]
    assert cache.fixed_bytes == case["fixed_bytes"]
    if "expect_bytes_is" not in case:
        found = {
            "per_token": cache.bytes_per_token,
            "fixed": cache.fixed_bytes,
            "total": cache.bytes_at(case["context"]),
        }
        assert found[case["quantity"]] == case["expect_bytes"]


def dense_bytes(config: dict[str, Any]) -> int | None:
    """What the formula of full attention in every layer would say of the config, if it has the fields."""
    text = config.get("text_config", config)
    layers, heads = text.get("num_hidden_layers"), text.get("num_attention_heads")
    if not layers or not heads:
        return None
    size = text.get("head_dim") or text["hidden_size"] // heads
    return int(layers * (text.get("num_key_value_heads") or heads) * 2 * size * 2)


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.parent.name)
def test_real_configs(path: Path) -> None:
    config = json.loads(path.read_text())
    answer = cache_of(config, kv_dtype="bf16")
    if isinstance(answer, UnknownCache):
        assert answer.reason
        assert answer.where
        assert path.parent.name.startswith("modelaudit"), answer
        return
    text = json.dumps(config)
    window = '"sliding_attention"' in text or '"attention_chunk_size": 8192' in text
    if "linear_attention" in text or '"kv_lora_rank": 5' in text or "compress_ratios" in text or window:
        assert answer.bytes_per_token != dense_bytes(config)


@pytest.mark.parametrize(
    ("name", "per_token", "fixed"),
    [
        ("aic__nvidia--GLM-5.3-NVFP4", 78 * 1152 + 24 * 256, 0),
        ("aic__zai-org--GLM-5.2", 95_232, 0),
        ("aic__nvidia--NVIDIA-Nemotron-3-Super-120B-A12B-FP8", 8_192, 40 * 4_255_744),
        ("aic__nvidia--Llama-3_3-Nemotron-Super-49B-v1", 49 * 4_096, 0),
        ("aic__nvidia--MiniMax-M3-NVFP4", 137_472, 0),
        ("aic__Qwen--Qwen3.5-27B", 65_536, 153_944_064),
        ("aic__openai--gpt-oss-20b", 24_576, 3_145_728),
        ("aic__deepseek-ai--DeepSeek-V3", 70_272, 0),
        ("aic__meta-models--Muse-Glimmer-30B", 13 * 1_024, 39 * 1_024 * 2_048),
        ("rtp-llm__testdata__starcode", 42 * 256 * 2, 0),
    ],
)
def test_real_figures(name: str, per_token: int, fixed: int) -> None:
    config = json.loads((folder("corpus/configs") / name / "config.json").read_text())
    cache = cache_of(config, kv_dtype="bf16")
    assert isinstance(cache, Cache)
    assert (cache.bytes_per_token, cache.fixed_bytes) == (Fraction(per_token), fixed)
