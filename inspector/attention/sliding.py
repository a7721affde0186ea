"""Sliding and chunked windows: K and V of at most W tokens; layers that slide may have a shape of their own.

Source: sglang pool_configurator.py HybridSWAPoolConfigurator (swa_num_key_value_heads, swa_head_dim,
swa_v_head_dim), Step-3.5 `attention_other_setting`, transformers cache_utils DynamicSlidingWindowLayer and
configuration_llama4 (attention_chunk_size), configuration_mimo_v2_flash (window + 1).
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.kv.kv_shape import KvShape, class_default, kv_shape
from inspector.model.cache_model import LayerCache

NAME = "window"
KINDS = frozenset({"sliding", "chunked"})
PLAIN = True
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """Windows over K and V per head; windows over a latent are another design."""
    return not fields.has("kv_lora_rank", "swa_kv_lora_rank")


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """K and V of the last W tokens."""
    if kind == "chunked":
        window = fields.integer("attention_chunk_size")
    else:
        window = fields.integer("sliding_window_size", "sliding_window", default=class_default(fields, "window"))
        if fields.model_type.startswith("mimo_v2"):
            window += 1
    return LayerCache(NAME, (_shape(fields, index).part("kv", formats.kv, window=window),))


def _shape(fields: Fields, index: int) -> KvShape:
    other = fields.inner("attention_other_setting")
    if other is not None:
        key = other.integer("head_dim")
        return KvShape(other.integer("num_attention_groups", "num_key_value_heads"), key, key)
    if not fields.has("swa_num_key_value_heads", "swa_head_dim"):
        return kv_shape(fields, index)
    full = kv_shape(fields, index)
    key = fields.integer("swa_head_dim", default=full.key)
    value = fields.integer("swa_v_head_dim", default=key if fields.has("swa_head_dim") else full.value)
    return KvShape(fields.integer("swa_num_key_value_heads", default=full.heads), key, value)
