"""Attention families: each turns a layer's config fields into bytes per token and bytes per sequence.

A family has `NAME`, `KINDS` (the layer kinds it can answer for), `PLAIN` (true: only for configs without a hint of
another design), `DEFAULT_KV` (the cache dtype that its reference code uses, or None for the model's own),
`claims(fields)` and `layer(fields, kind, index, formats) -> LayerCache`. Exactly one may claim a layer.
"""

from __future__ import annotations

from typing import Protocol

from inspector.attention import (
    deepseek_v4,
    deepseek_v41,
    dense,
    encoder_decoder,
    encoder_only,
    gated_delta_net,
    gemma_global,
    kda,
    lightning,
    mamba1,
    mamba2,
    minimax_sparse,
    mla,
    no_cache,
    rwkv,
    short_conv,
    sliding,
)
from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.model.cache_model import LayerCache


class Family(Protocol):
    """What every module of this folder offers."""

    NAME: str
    KINDS: frozenset[str]
    PLAIN: bool
    DEFAULT_KV: str | None

    def claims(self, fields: Fields) -> bool:
        """Whether the config has this family's own fields."""
        ...

    def layer(self, fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
        """One layer's cache. Raises `UnknownAttention` naming a missing or unfit key."""
        ...


FAMILIES: tuple[Family, ...] = (
    dense,
    sliding,
    gemma_global,
    mla,
    minimax_sparse,
    deepseek_v4,
    deepseek_v41,
    gated_delta_net,
    kda,
    mamba1,
    mamba2,
    lightning,
    short_conv,
    rwkv,
    encoder_decoder,
    encoder_only,
    no_cache,
)
