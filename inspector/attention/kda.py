"""Kimi delta attention (Kimi Linear, GLM-5.3-Flash): a square matrix per head, always F32, and three convolutions.

Source: vLLM mamba_utils kda_state_shape; config names in `linear_attn_config`, or as transformers saves them.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.model.cache_model import CachePart, LayerCache

NAME = "Kimi delta attention"
KINDS = frozenset({"linear"})
PLAIN = False
DEFAULT_KV: str | None = None

_STATE_BYTES = 4


def claims(fields: Fields) -> bool:
    """A `linear_attn_config`, or linear heads without key and value heads of their own."""
    return fields.has("linear_attn_config") or (
        fields.has("linear_num_heads") and not fields.has("linear_num_value_heads")
    )


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """State heads x dim x dim in F32, convolution 3 x heads x dim, kernel - 1 steps."""
    inner = fields.inner("linear_attn_config") or fields
    heads = inner.integer("num_heads", "linear_num_heads")
    size = inner.integer("head_dim", "linear_head_dim")
    steps = inner.integer("short_conv_kernel_size", "linear_conv_kernel_dim") - 1
    state = heads * size * size * _STATE_BYTES + 3 * heads * size * steps * formats.conv
    return LayerCache(NAME, (CachePart("state", state_bytes=state, sharding="heads", heads=heads),))
