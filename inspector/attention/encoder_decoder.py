"""Encoder-decoders: the decoder's own K and V grow; K and V over the encoder's output are written once.

The encoder's length is taken at its longest: Whisper `max_source_positions` (1,500), else the config's bound on
positions. Source: vLLM CrossAttentionSpec; transformers t5, bart and whisper configurations.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields, UnknownAttention
from inspector.kv.kv_dtypes import CacheFormats
from inspector.kv.kv_shape import KvShape
from inspector.model.cache_model import CachePart, LayerCache

NAME = "decoder with cross attention"
KINDS = frozenset({"decoder"})
PLAIN = False
DEFAULT_KV: str | None = None

_LENGTHS = ("max_source_positions", "max_encoder_position_embeddings", "max_position_embeddings", "n_positions")


def claims(fields: Fields) -> bool:
    """Every decoder layer: layer kinds decide."""
    return True


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """Self attention per decoder token, cross attention per encoder position."""
    heads = fields.integer("decoder_attention_heads", "num_heads", "num_attention_heads")
    if fields.first("d_kv") is not None:
        size = fields.integer("d_kv")
    else:
        hidden = fields.integer("d_model", "hidden_size")
        if hidden % heads:
            where = fields.where("d_model")
            raise UnknownAttention(f"{where} {hidden:,} is no multiple of {heads:,} heads", where)
        size = hidden // heads
    shape = KvShape(heads, size, size)
    cross = shape.row(formats.kv) * fields.integer(*_LENGTHS)
    return LayerCache(
        NAME,
        (shape.part("kv", formats.kv), CachePart("cross kv", state_bytes=cross, sharding="kv_heads", heads=heads)),
    )
