"""Lightning attention (MiniMax-Text-01, Bailing linear v2): one square matrix per head, no convolution.

Source: vLLM mamba_utils linear_attention_state_shape.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.kv.kv_shape import attention_heads, head_dim
from inspector.model.cache_model import CachePart, LayerCache

NAME = "lightning attention"
KINDS = frozenset({"linear"})
PLAIN = False
DEFAULT_KV: str | None = None

_TYPES = frozenset({"minimax", "minimax_text_01", "MiniMaxText01", "minimax_m1", "MiniMaxM1", "bailing_moe_linear"})


def claims(fields: Fields) -> bool:
    """MiniMax-Text and Bailing linear, by name or by their layer lists; not Bailing with delta attention."""
    named = fields.model_type in _TYPES or fields.has("attn_type_list", "layer_group_size")
    return named and not fields.has("kda_safe_gate", "kda_lower_bound", "short_conv_kernel_size", "linear_attn_config")


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """State heads x dim x dim."""
    heads, size = attention_heads(fields), head_dim(fields)
    state = heads * size * size * formats.state
    return LayerCache(NAME, (CachePart("state", state_bytes=state, sharding="heads", heads=heads),))
