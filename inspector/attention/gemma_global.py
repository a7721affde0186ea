"""Gemma 4 global layers: a head size of their own, and fewer KV heads where K and V share a projection.

K and V are both cached even with `attention_k_eq_v`. Source: transformers gemma4 configuration (global_head_dim
512, num_global_key_value_heads only with attention_k_eq_v).
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.kv.kv_shape import KvShape, kv_heads
from inspector.model.cache_model import LayerCache

NAME = "global attention"
KINDS = frozenset({"full"})
PLAIN = False
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """Gemma 4's own fields."""
    return fields.model_type.startswith("gemma4") or fields.has("global_head_dim")


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """K and V in the global shape."""
    heads = kv_heads(fields, index)
    if fields.get("attention_k_eq_v") is not False:
        heads = fields.integer("num_global_key_value_heads", default=heads)
    size = fields.integer("global_head_dim", default=512)
    return LayerCache(NAME, (KvShape(heads, size, size).part("kv", formats.kv),))
