"""Full attention with K and V per KV head (MHA, GQA, MQA): kv_heads x (key + value) numbers per token.

Source: vLLM v1/kv_cache_interface.py FullAttentionSpec; sglang model_executor/pool_configurator.py.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.kv.kv_shape import kv_shape
from inspector.model.cache_model import LayerCache

NAME = "full attention"
KINDS = frozenset({"full"})
PLAIN = True
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """No latent rank, no Gemma-4 global shape, no block-sparse index."""
    gemma = fields.model_type.startswith("gemma4") or fields.has("global_head_dim")
    sparse = fields.has("sparse_attention_config") or fields.model_type.startswith("minimax_m3")
    return not (gemma or sparse or fields.has("kv_lora_rank"))


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """K and V of this layer's shape."""
    return LayerCache(NAME, (kv_shape(fields, index).part("kv", formats.kv),))
