"""GGUF metadata gives the cache that llama.cpp's own logs and the same model's config give."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from inspector.gguf_cache import cache_of_gguf
from inspector.model.cache_model import Cache, UnknownCache
from tests.shared import folder


def metadata(arch: str, **keys: Any) -> dict[str, Any]:
    return {"general.architecture": arch, **{f"{arch}.{k.replace('__', '.')}": v for k, v in keys.items()}}


LLAMA = metadata("llama", block_count=32, embedding_length=4096, attention__head_count=32, attention__head_count_kv=8)
R1: dict[str, Any] = {
    "block_count": 61,
    "embedding_length": 7168,
    "attention__head_count": 128,
    "attention__kv_lora_rank": 512,
    "rope__dimension_count": 64,
}
QWEN = metadata(
    "qwen35",
    block_count=65,
    nextn_predict_layers=1,
    embedding_length=5120,
    attention__head_count=24,
    attention__head_count_kv=4,
    attention__key_length=256,
    attention__value_length=256,
    full_attention_interval=4,
    ssm__conv_kernel=4,
    ssm__inner_size=6144,
    ssm__state_size=128,
    ssm__time_step_rank=48,
    ssm__group_count=16,
)
GEMMA = metadata(
    "gemma4",
    block_count=6,
    embedding_length=2816,
    attention__head_count=16,
    attention__head_count_kv=(8, 8, 8, 8, 8, 2),
    attention__key_length=512,
    attention__value_length=512,
    attention__key_length_swa=256,
    attention__value_length_swa=256,
    attention__sliding_window=1024,
    attention__sliding_window_pattern=(True, True, True, True, True, False),
)


@pytest.mark.parametrize(
    ("keys", "per_token", "fixed"),
    [
        pytest.param(LLAMA, 131_072, 0, id="llama-3.1-8b"),
        pytest.param(
            metadata("deepseek2", attention__key_length_mla=192, attention__key_length=576, **R1),
            70_272,
            0,
            id="r1-latent: 2196 MiB at 32768 in PR 11446",
        ),
        pytest.param(
            metadata("deepseek2", attention__key_length=192, attention__value_length=128, **R1),
            61 * 128 * 320 * 2,
            0,
            id="r1-old-conversion",
        ),
        pytest.param(QWEN, 65_536, 156_893_184, id="qwen3.6-27b: KV 8192 MiB at 131072, RS 149.62 MiB"),
        pytest.param(GEMMA, 2 * 1024 * 2, 5 * 8 * 512 * 2 * 1024, id="gemma-4"),
        pytest.param(
            metadata(
                "lfm2",
                block_count=3,
                embedding_length=2048,
                attention__head_count=32,
                attention__head_count_kv=(0, 8, 0),
                shortconv__l_cache=3,
            ),
            2_048,
            2 * 2048 * 2 * 4,
            id="lfm2",
        ),
        pytest.param(
            metadata(
                "nemotron_h",
                block_count=3,
                embedding_length=4096,
                attention__head_count=(0, 32, 0),
                attention__head_count_kv=(0, 8, 0),
                attention__key_length=128,
                feed_forward_length=(0, 0, 9000),
                ssm__conv_kernel=4,
                ssm__inner_size=8192,
                ssm__state_size=128,
                ssm__time_step_rank=128,
                ssm__group_count=8,
            ),
            4_096,
            8192 * 128 * 4 + 10_240 * 3 * 4,
            id="nemotron-h: an MLP block has no state",
        ),
        pytest.param(
            metadata(
                "mamba", block_count=2, embedding_length=8, ssm__conv_kernel=4, ssm__inner_size=16, ssm__state_size=16
            ),
            0,
            2 * (16 * 16 * 4 + 3 * 16 * 4),
            id="mamba-1 has no groups",
        ),
        pytest.param(
            metadata("rwkv7", block_count=2, embedding_length=128, wkv__head_size=64, token_shift_count=2),
            0,
            2 * (2 * 128 * 4 + 128 * 64 * 4),
            id="rwkv7",
        ),
        pytest.param(
            metadata(
                "gpt-oss",
                block_count=24,
                embedding_length=2880,
                attention__head_count=64,
                attention__head_count_kv=8,
                attention__key_length=64,
                attention__value_length=64,
                attention__sliding_window=128,
            ),
            24_576,
            3_145_728,
            id="gpt-oss-20b",
        ),
        pytest.param(
            metadata("bert", block_count=12, embedding_length=768, attention__head_count=12, attention__causal=False),
            0,
            0,
            id="bert",
        ),
    ],
)
def test_figures(keys: dict[str, Any], per_token: int, fixed: int) -> None:
    cache = cache_of_gguf(keys)
    assert isinstance(cache, Cache), cache
    assert (cache.bytes_per_token, cache.fixed_bytes) == (Fraction(per_token), fixed)
    assert (cache.kv_dtype, cache.kv_dtype_reason) == ("fp16", "llama.cpp's default")


def test_deepseek_4_keeps_its_own_rows() -> None:
    ratios = (0, 0, *([4, 128] * 20), 4, 0)
    keys = metadata(
        "deepseek4",
        block_count=43,
        attention__head_count=64,
        attention__head_count_kv=1,
        attention__key_length=512,
        rope__dimension_count=64,
        attention__sliding_window=128,
        attention__compress_ratios=ratios,
        attention__indexer__key_length=128,
    )
    cache = cache_of_gguf(keys)
    assert isinstance(cache, Cache), cache
    assert (float(cache.bytes_per_token), cache.fixed_bytes, cache.kv_dtype) == (3850.25, 3_214_336, "fp8")


def test_asked_formats() -> None:
    cache = cache_of_gguf(LLAMA, kv_dtype="q8_0")
    assert isinstance(cache, Cache)
    assert (cache.bytes_per_token, cache.kv_dtype_reason) == (Fraction(69_632), "as asked")


@pytest.mark.parametrize(
    ("keys", "where"),
    [
        ({}, "general.architecture"),
        ({"general.architecture": 3}, "general.architecture"),
        (metadata("llama"), "llama.block_count"),
        ({**LLAMA, "llama.block_count": 10**9}, "llama.block_count"),
        ({**LLAMA, "llama.attention.head_count_kv": (8, 8)}, "llama.attention.head_count_kv"),
        ({**LLAMA, "llama.attention.head_count_kv": "8"}, "llama.attention.head_count_kv"),
        ({**LLAMA, "llama.attention.latent_rank": 64}, "llama.attention.latent_rank"),
        ({**LLAMA, "llama.attention.sliding_window": 4096}, "llama.attention.sliding_window_pattern"),
        ({**LLAMA, "llama.ssm.inner_size": 64}, "llama.ssm.state_size"),
        (
            {**LLAMA, "llama.ssm.inner_size": 64, "llama.ssm.state_size": 16, "llama.ssm.conv_kernel": 4},
            "llama.attention.head_count_kv",
        ),
        (metadata("qwen4exp", block_count=4), "general.architecture"),
    ],
)
def test_refusals_name_the_key(keys: dict[str, Any], where: str) -> None:
    answer = cache_of_gguf(keys)
    assert isinstance(answer, UnknownCache), answer
    assert answer.where == where


def test_real_headers() -> None:
    expected = {"bartowski_Meta": 131_072, "unsloth_DeepSeek-R1": 4_997_120}
    for path in sorted(folder("corpus/dumps/gguf_headers").glob("*.json")):
        document = json.loads(path.read_text())
        rows = document["header"]["metadataKV"] if isinstance(document, dict) and "header" in document else document
        if not isinstance(rows, list):
            continue
        cache = cache_of_gguf({r["key"]: r["value"] for r in reversed(rows)})
        assert isinstance(cache, Cache), cache
        assert cache.bytes_per_token == next(v for k, v in expected.items() if path.name.startswith(k))
