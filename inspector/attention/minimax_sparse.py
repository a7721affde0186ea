"""MiniMax block-sparse attention: K and V per head, and on sparse layers one index key (with a value unless disabled).

Source: sglang pool_configurator.py, branch is_minimax_sparse (index dtype follows the cache's elements).
"""

from __future__ import annotations

from fractions import Fraction

from inspector.kv.config_fields import Fields, whole
from inspector.kv.kv_dtypes import CacheFormats
from inspector.kv.kv_shape import kv_shape
from inspector.model.cache_model import CachePart, LayerCache

NAME = "block-sparse attention"
KINDS = frozenset({"full", "blocksparse"})
PLAIN = False
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """A `sparse_attention_config`, or MiniMax-M3 with its layers listed, as transformers writes it."""
    listed = fields.model_type.startswith("minimax_m3") and fields.has("layer_types")
    return not fields.has("kv_lora_rank") and (listed or fields.has("sparse_attention_config"))


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """K and V; index rows on sparse layers, whole on every rank."""
    parts = [kv_shape(fields, index).part("kv", formats.kv)]
    if kind == "full":
        return LayerCache("full attention", tuple(parts))
    inner = fields.inner("sparse_attention_config") or fields
    size = inner.integer("sparse_index_dim", "index_head_dim")
    flags = inner.sequence("sparse_disable_index_value")
    keys_only = inner is fields or (
        flags is not None
        and index < len(flags)
        and whole(flags[index], inner.where("sparse_disable_index_value"), 0) != 0
    )
    row = size * formats.kv.element * (1 if keys_only else 2)
    return LayerCache(NAME, (*parts, CachePart("index keys", Fraction(row))))
