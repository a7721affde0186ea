"""What holds for any config: no exception, and more tokens never take fewer bytes."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.attention import FAMILIES
from inspector.cache import cache_of
from inspector.gguf_cache import cache_of_gguf
from inspector.model.cache_model import Cache, UnknownCache

CASES = [c for p in sorted((Path(__file__).parent / "cases").glob("*.json")) for c in json.loads(p.read_text())]
KEYS = sorted({k for c in CASES for k in [*c["config"], *c["config"].get("text_config", {})]})
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 200)
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["full_attention", "linear_attention", "sliding_attention", "hybrid", "mamba", "llama", "jamba"])
)
values = st.recursive(
    scalars, lambda x: st.lists(x, max_size=4) | st.dictionaries(st.sampled_from(KEYS), x, max_size=4), max_leaves=8
)
configs = st.dictionaries(st.sampled_from(KEYS), values, max_size=14)


def sound(answer: Cache | UnknownCache) -> None:
    if isinstance(answer, UnknownCache):
        assert answer.reason
        assert isinstance(answer.where, str)
    else:
        assert answer.bytes_per_token >= 0
        assert answer.fixed_bytes >= 0


@given(values | configs)
def test_any_json_is_answered(config: Any) -> None:
    sound(cache_of(config, with_draft=True))


@settings(max_examples=300)
@given(st.sampled_from(CASES), st.sampled_from(KEYS), values, st.booleans())
def test_a_spoilt_config_is_answered(case: dict[str, Any], key: str, value: Any, nested: bool) -> None:
    config = json.loads(json.dumps(case["config"]))
    inner = config.get("text_config") if nested else config
    (inner if isinstance(inner, dict) else config)[key] = value
    sound(cache_of(config, with_draft=True))


@given(st.sampled_from(CASES), st.integers(0, 2**21), st.integers(0, 2**21), st.integers(1, 64))
def test_more_tokens_never_take_fewer_bytes(case: dict[str, Any], a: int, b: int, ranks: int) -> None:
    cache = cache_of(case["config"], with_draft=True)
    if isinstance(cache, UnknownCache):
        return
    low, high = sorted((a, b))
    assert cache.bytes_at(low) <= cache.bytes_at(high)
    assert cache.bytes_at(high, ranks) <= cache.bytes_at(high)
    assert cache.bytes_at(high) <= math.ceil(cache.bytes_per_token * high) + cache.fixed_bytes
    assert cache.bytes_at(high) <= ranks * cache.bytes_at(high, ranks)


_KEYS = """
block_count nextn_predict_layers context_length embedding_length attention.head_count attention.head_count_kv
attention.key_length attention.value_length attention.sliding_window attention.sliding_window_pattern
attention.kv_lora_rank attention.key_length_mla rope.dimension_count attention.compress_ratios
attention.indexer.key_length ssm.inner_size ssm.state_size ssm.conv_kernel ssm.group_count kda.head_dim
shortconv.l_cache wkv.head_size attention.shared_kv_layers full_attention_interval attention.causal
"""
GGUF_KEYS = ["x." + k for k in _KEYS.split()]


@given(st.dictionaries(st.sampled_from(GGUF_KEYS), values | st.integers(1, 64), max_size=16))
def test_any_metadata_is_answered(metadata: dict[str, Any]) -> None:
    sound(cache_of_gguf({**metadata, "general.architecture": "x"}, with_draft=True))


@pytest.mark.parametrize("thing", [None, 3, "config", [], [{"num_hidden_layers": 3}]])
def test_what_is_no_object_is_answered(thing: Any) -> None:
    assert isinstance(cache_of(thing), UnknownCache)


def test_family_names_differ() -> None:
    assert len({f.NAME for f in FAMILIES}) == len(FAMILIES)
