"""RWKV 5 to 7: shifted tokens and one square matrix per head.

Source: llama.cpp llama-hparams.cpp n_embd_r (token_shift_count x n_embd) and n_embd_s (n_embd x wkv_head_size).
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields, UnknownAttention
from inspector.kv.kv_dtypes import CacheFormats
from inspector.model.cache_model import CachePart, LayerCache

NAME = "RWKV"
KINDS = frozenset({"linear"})
PLAIN = False
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """By name."""
    return fields.model_type.startswith("rwkv")


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """Token shifts in the convolution's format, the matrices in the state's."""
    hidden = fields.integer("hidden_size", "n_embd")
    size = fields.integer("head_size", "head_dim", "wkv_head_size")
    if hidden % size:
        where = fields.where("head_size")
        raise UnknownAttention(f"hidden size {hidden:,} is no multiple of the head size {size:,}", where)
    shifts = fields.integer("token_shift_count", default=2)
    state = shifts * hidden * formats.conv + hidden * size * formats.state
    return LayerCache(NAME, (CachePart("state", state_bytes=state, sharding="heads", heads=hidden // size),))
