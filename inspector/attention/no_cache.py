"""Layers without a cache of their own: MLP and expert blocks of hybrids, and layers that read an earlier layer's KV.

Source: transformers cache_utils DummyLayer; gemma4 configuration kv_sharing_modes; llama.cpp has_kv.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.model.cache_model import LayerCache

NAME = "no cache"
KINDS = frozenset({"none", "shared"})
PLAIN = False
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """Every such layer: layer kinds decide."""
    return True


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """No parts."""
    return LayerCache("shared kv" if kind == "shared" else NAME)
