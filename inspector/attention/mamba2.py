"""Mamba-2 (Nemotron-H, Granite 4, Bamba, Falcon-H1): a matrix per head and a convolution over heads and groups.

Source: vLLM mamba_utils mamba2_state_shape. Groups are not padded here; an engine may pad them to its ranks.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields, UnknownAttention
from inspector.kv.kv_dtypes import CacheFormats
from inspector.model.cache_model import CachePart, LayerCache

NAME = "Mamba-2"
KINDS = frozenset({"linear"})
PLAIN = False
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """Mamba heads."""
    return fields.has("mamba_num_heads", "mamba_n_heads") or fields.model_type == "mamba2"


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """State heads x dim x state size, convolution over heads x dim + 2 x groups x state size, kernel - 1 steps."""
    heads = fields.integer("mamba_num_heads", "mamba_n_heads", "num_heads")
    inner = heads * _head_dim(fields, heads)
    state = fields.integer("ssm_state_size", "mamba_d_state", "state_size")
    groups = fields.integer("n_groups", "mamba_n_groups", least=0)
    steps = fields.integer("conv_kernel", "mamba_d_conv") - 1
    size = inner * state * formats.state + (inner + 2 * groups * state) * steps * formats.conv
    return LayerCache(NAME, (CachePart("state", state_bytes=size, sharding="heads", heads=heads),))


def _head_dim(fields: Fields, heads: int) -> int:
    names = ("mamba_head_dim", "mamba_d_head", *(("head_dim",) if fields.model_type == "mamba2" else ()))
    name = fields.first(*names)
    if name is not None and fields.get(name) != "auto":
        return fields.integer(name)
    if fields.has("mamba_d_ssm"):
        inner = fields.integer("mamba_d_ssm")
    else:
        inner = fields.integer("mamba_expand", "expand") * fields.integer("hidden_size")
    if inner % heads:
        where = fields.where(names[1])
        raise UnknownAttention(f"{inner:,} inner channels are no multiple of {heads:,} Mamba heads", where)
    return inner // heads
