"""Short convolutions (LFM2): the last L - 1 inputs of every channel.

Source: llama.cpp llama-hparams.cpp n_embd_r.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.kv.kv_shape import HIDDEN
from inspector.model.cache_model import CachePart, LayerCache

NAME = "short convolution"
KINDS = frozenset({"conv"})
PLAIN = False
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """A convolution length."""
    return fields.has("conv_L_cache")


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """Hidden channels x (L - 1) steps."""
    hidden = fields.integer(*HIDDEN)
    state = hidden * (fields.integer("conv_L_cache") - 1) * formats.conv
    return LayerCache(NAME, (CachePart("state", state_bytes=state, sharding="heads", heads=hidden),))
