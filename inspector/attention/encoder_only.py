"""Encoders and embedding models: the whole input is read at once and nothing is kept.

Source: vLLM v1/kv_cache_interface.py EncoderOnlyAttentionSpec.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields
from inspector.kv.kv_dtypes import CacheFormats
from inspector.model.cache_model import LayerCache

NAME = "encoder"
KINDS = frozenset({"encoder"})
PLAIN = False
DEFAULT_KV: str | None = None


def claims(fields: Fields) -> bool:
    """Every encoder layer: layer kinds decide."""
    return True


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """No parts."""
    return LayerCache(NAME)
