"""Gated delta net (Qwen3-Next, 3.5, 3.6): a matrix per value head and a short convolution, whatever the length.

Source: vLLM mamba_utils gated_delta_net_state_shape.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.model.cache_model import CachePart, LayerCache

NAME = "gated delta net"
KINDS = frozenset({"linear"})
PLAIN = False
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """Its own head counts."""
    return fields.has("linear_num_value_heads")


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """State value_heads x value_dim x key_dim, convolution over 2 x keys + values, kernel - 1 steps."""
    heads = fields.integer("linear_num_value_heads")
    value = fields.integer("linear_value_head_dim")
    key = fields.integer("linear_key_head_dim")
    keys = fields.integer("linear_num_key_heads") * key
    steps = fields.integer("linear_conv_kernel_dim") - 1
    state = heads * value * key * formats.state
    conv = (2 * keys + heads * value) * steps * formats.conv
    return LayerCache(NAME, (CachePart("state", state_bytes=state + conv, sharding="heads", heads=heads),))
