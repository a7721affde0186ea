"""Mamba-1 (Jamba, Falcon-Mamba): d_state numbers per inner channel and a short convolution.

Source: vLLM mamba_utils mamba1_state_shape.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.model.cache_model import CachePart, LayerCache

NAME = "Mamba-1"
KINDS = frozenset({"linear"})
PLAIN = False
DEFAULT_KV: str | None = None

_TYPES = frozenset({"mamba", "falcon_mamba", "jamba"})


def claims(fields: Fields) -> bool:
    """By name, or a state size without Mamba-2's heads."""
    heads = fields.has("mamba_n_heads", "mamba_num_heads")
    return fields.model_type in _TYPES or (fields.has("mamba_d_state") and not heads)


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """Inner channels x (d_state numbers + kernel - 1 steps)."""
    if fields.model_type != "jamba" and fields.has("intermediate_size"):
        inner = fields.integer("intermediate_size")
    else:
        inner = fields.integer("mamba_expand", "expand") * fields.integer("hidden_size", "d_model")
    state = fields.integer("mamba_d_state", "state_size")
    steps = fields.integer("mamba_d_conv", "conv_kernel") - 1
    size = inner * (state * formats.state + steps * formats.conv)
    return LayerCache(NAME, (CachePart("state", state_bytes=size, sharding="heads", heads=inner),))
