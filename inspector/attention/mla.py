"""Multi-head latent attention, with or without a sparse indexer: one latent row per token, no heads, no K/V pair.

Row: kv_lora_rank + qk_rope_head_dim numbers; `fp8_ds_mla` keeps the latent in FP8 with one F32 scale per 128 and
the rope part in BF16 (656 bytes for 512 + 64). Indexed layers add one index key per token, pooled over
`index_kpool` tokens; "shared" indexers reuse an earlier layer's. Latent and index keys are whole on every rank.
Source: vLLM MLAAttentionSpec; sglang calculate_mla_kv_cache_dim, _compute_dsa_indexer_cell_size,
get_dsa_index_kpool, dsa_layer_skips_topk; transformers glm_moe_dsa configuration.
"""

from __future__ import annotations

import math
from fractions import Fraction

from inspector.kv.config_fields import Fields, UnknownAttention, layer_count
from inspector.kv.kv_dtypes import CacheFormats, KvDtype
from inspector.model import Json
from inspector.model.cache_model import CachePart, LayerCache

NAME = "latent attention"
KINDS = frozenset({"full", "sparse"})
PLAIN = False
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """A latent rank."""
    return fields.has("kv_lora_rank")


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """The latent row, and the index key where this layer's indexer is its own."""
    latent = CachePart("latent", _row(fields, formats.kv))
    if not fields.has("index_topk", "index_head_dim"):
        if kind == "sparse":
            where = fields.where("index_head_dim")
            raise UnknownAttention(f"{where} is missing for a layer with an indexer", where)
        return LayerCache(NAME, (latent,))
    if not _own_indexer(fields, index):
        return LayerCache("latent attention, shared indexer", (latent,))
    key = formats.kv.index_key(fields.integer("index_head_dim"))
    return LayerCache("latent attention with indexer", (latent, CachePart("index keys", _pooled(fields, key))))


def _row(fields: Fields, dtype: KvDtype) -> Fraction:
    rank = fields.integer("kv_lora_rank")
    rope = fields.integer("qk_rope_head_dim", least=0)
    if dtype.name == "fp8_ds_mla":
        return Fraction(rank + 4 * math.ceil(Fraction(rank, 128)) + 2 * rope)
    return (rank + rope) * dtype.element + dtype.vector


def _pooled(fields: Fields, key: Fraction) -> Fraction:
    if fields.get("index_kpool") is None and fields.model_type.startswith("glm5_next"):
        where = fields.where("index_kpool")
        raise UnknownAttention(f"{where} is missing: how many tokens share an index key", where)
    pool = fields.integer("index_kpool", default=1)
    if fields.get("index_kpool_compress") is False:
        pool = 1
    return Fraction(math.ceil(key / pool))


def _own_indexer(fields: Fields, index: int) -> bool:
    listed = fields.sequence("indexer_types")
    pattern: Json = fields.get("index_topk_pattern")
    if listed is None and isinstance(pattern, str | list | tuple) and pattern:
        listed = tuple({"F": "full", "S": "shared"}.get(x, x) if isinstance(x, str) else x for x in pattern)
    if listed is not None:
        # A list that is too short leaves the indexer full (sglang dsa_layer_skips_topk).
        kind = listed[index] if index < len(listed) else "full"
        if kind not in ("full", "shared"):
            where = f"{fields.where('indexer_types')}[{index}]"
            raise UnknownAttention(f"{where} is neither full nor shared", where)
        return bool(kind == "full")
    every = max(fields.integer("index_topk_freq", default=1, least=0), 1)
    skip = fields.integer("index_skip_topk_offset", default=2, least=0)
    return index >= layer_count(fields) or max(index - skip + 1, 0) % every == 0
