"""Which format a cache is kept in and why, how it splits over ranks, and dtype names."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inspector.cache import cache_of
from inspector.errors import UsageError
from inspector.kv.kv_dtypes import declared_dtype, dtype_named, find_dtype
from inspector.model.cache_model import Cache, UnknownCache

CASES = {
    c["id"]: c["config"] for p in (Path(__file__).parent / "cases").glob("*.json") for c in json.loads(p.read_text())
}


def cache(name: str, **options: Any) -> Cache:
    found = cache_of(CASES[name], **options)
    assert isinstance(found, Cache), found
    return found


@pytest.mark.parametrize(
    ("name", "bytes_each"),
    [
        ("bf16", "2"),
        ("f16", "2"),
        ("FP16", "2"),
        ("torch.bfloat16", "2"),
        ("fp8", "1"),
        ("fp8_e5m2", "1"),
        ("mxfp8", "33/32"),
        ("nvfp4", "9/16"),
        ("q8_0", "17/16"),
        ("q5_1", "3/4"),
        ("q5_0", "11/16"),
        ("q4_1", "5/8"),
        ("Q4_0", "9/16"),
    ],
)
def test_bytes_per_element(name: str, bytes_each: str) -> None:
    assert dtype_named(name).element == Fraction(bytes_each)


def test_index_keys_of_128_numbers() -> None:
    assert [dtype_named(n).index_key(128) for n in ("bf16", "fp8", "fp4")] == [256, 132, 68]


def test_an_unknown_dtype_is_the_users_fault() -> None:
    with pytest.raises(UsageError, match="q8_0"):
        cache_of(CASES["llama-3.1-8b"], kv_dtype="q8_1")
    assert find_dtype("posit16") is None


def test_defaults_and_their_reasons() -> None:
    assert (cache("llama-3.1-8b").kv_dtype, "torch_dtype" in cache("llama-3.1-8b").kv_dtype_reason) == ("bf16", True)
    assert cache("v4-flash-default").kv_dtype == "fp8"
    assert "own rows" in cache("v4-flash-default").kv_dtype_reason
    assert cache("v4.1-flash").kv_dtype == "fp4"
    assert cache("llama-3.1-8b", kv_dtype="q8_0").kv_dtype_reason == "as asked"
    assert cache("gpt-oss-120b-derived").kv_dtype_reason.startswith("assumed")


def test_a_declared_dtype_wins_over_the_models_and_loses_to_the_users() -> None:
    declared = ("FP8", "hf_quant_config.json: quantization.kv_cache_quant_algo")
    found = cache("llama-3.1-8b", declared_kv=declared)
    assert (found.kv_dtype, found.bytes_per_token) == ("fp8", Fraction(65_536))
    assert "hf_quant_config.json" in found.kv_dtype_reason
    assert cache("llama-3.1-8b", declared_kv=declared, kv_dtype="bf16").kv_dtype == "bf16"
    scheme = {"quantization_config": {"kv_cache_scheme": {"num_bits": 8, "type": "float"}}}
    inside = cache_of({**CASES["llama-3.1-8b"], **scheme})
    assert isinstance(inside, Cache)
    assert inside.kv_dtype == "fp8"


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ({"quantization": {"kv_cache_quant_algo": "FP8"}}, "fp8"),
        ({"quantization_config": {"kv_cache_scheme": {"num_bits": 8, "type": "int"}}}, "int8"),
        ({"compression_config": {"kv_cache_scheme": {"num_bits": 8, "type": "float"}}}, "fp8"),
        ({"quantization_config": {"kv_cache_scheme": None, "kv_cache_quant_algo": None}}, None),
        ({"quantization_config": {"kv_cache_scheme": {"num_bits": True, "type": "float"}}}, None),
        ({}, None),
    ],
)
def test_declarations(document: dict[str, Any], name: str | None) -> None:
    found = declared_dtype(document, "config.json")
    assert (found and found[0]) == name


def test_kv_heads_split_and_are_duplicated_beyond_their_number() -> None:
    whole = cache("llama-3.1-8b")
    per_rank = [whole.bytes_at(8192, ranks) for ranks in (1, 2, 8, 16)]
    assert per_rank == [2**30, 2**29, 2**27, 2**27]


def test_latents_rows_and_index_keys_are_whole_on_every_rank() -> None:
    for name in ("deepseek-v3", "deepseek-v3.2-bf16", "v4-flash-default", "v4.1-flash"):
        whole = cache(name)
        assert whole.bytes_at(100_000, 8) == whole.bytes_at(100_000)


def test_recurrent_state_splits_by_head() -> None:
    state = cache("qwen3.5-27b").layers[0]
    assert state.parts[0].sharding == "heads"
    assert state.bytes_at(5, 2) * 2 == state.bytes_at(5)
    sparse = cache("minimax-m3").layers[1]
    assert sparse.bytes_at(1, 2) == 2048 / 2 + 256


def test_what_the_answer_needs_beside_bytes() -> None:
    found = cache("deepseek-v3", with_draft=True)
    assert (found.max_positions, found.num_attention_heads) == (163_840, 128)
    assert [x.draft for x in found.layers] == [False] * 61 + [True]
    assert cache("gemma-2-9b").layers[0].window == 4096
    assert cache("gemma-2-9b").layers[1].window is None
    assert cache("gemma-3n-e4b-shared").families == (("window", 16), ("full attention", 4), ("shared kv", 15))
    assert (cache("qwen3.5-27b").state_dtype, cache("qwen3.5-27b").conv_dtype) == ("fp32", "bf16")


def test_a_window_that_no_layer_is_said_to_have_leaves_the_cache_unknown() -> None:
    # original/config.json of gpt-oss: half of its layers have the window, and only its code says which.
    shape = {"num_hidden_layers": 24, "head_dim": 64, "num_attention_heads": 64, "num_key_value_heads": 8}
    found = cache_of({**shape, "hidden_size": 2880, "sliding_window": 128})
    assert isinstance(found, UnknownCache)
    assert "which layers" in found.reason
    assert found.where == "sliding_window"
    assert isinstance(cache_of({**shape, "hidden_size": 2880}), Cache)
