"""DeepSeek V4.1: only the layers of `kv_source_layer_ids` own a cache, in FP4; every layer keeps a window in FP8.

A source layer stores (row + index key) / ratio per token: 288 + 68 bytes in FP4 (512 E2M1 with one E4M3 scale per 16;
128 with one E8M0 scale per 32), so (1/2 + 1/2 + 1/2 + 1) x 356 = 890 bytes per token for V4.1-Flash. Other layers with
a ratio only read it. Window rows are 528 bytes (512 FP8 + 16 scales); 584 with `fp8_ds_mla`.
Source: arXiv 2609.19969 (890 bytes per token); sglang KVLayout.V41_FP4; vLLM models/deepseek_v41/attention.py.
"""

from __future__ import annotations

from fractions import Fraction

from inspector.kv.config_fields import Fields, UnknownAttention, layer_count, whole
from inspector.kv.kv_dtypes import CacheFormats, KvDtype
from inspector.model.cache_model import CachePart, LayerCache

NAME = "shared compressed attention"
KINDS = frozenset({"compressed"})
PLAIN = False
DEFAULT_KV: str | None = "fp4"


def claims(fields: Fields) -> bool:
    """KV sources, or the architecture by name."""
    return fields.get("kv_source_layer_ids") is not None or fields.model_type.startswith("deepseek_v41")


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """The window, and on a source layer its rows and index keys."""
    size = fields.integer("head_dim")
    window = CachePart("window", _window_row(fields, size, formats.kv), window=fields.integer("sliding_window"))
    if index not in _sources(fields):
        return LayerCache("window", (window,))
    ratio = _ratio(fields, index)
    row = _row(fields, size, formats.kv) / ratio
    key = formats.kv.index_key(fields.integer("index_head_dim")) / ratio
    return LayerCache(NAME, (window, CachePart("rows", row), CachePart("index keys", key)))


def _sources(fields: Fields) -> frozenset[int]:
    where = fields.where("kv_source_layer_ids")
    listed = fields.sequence("kv_source_layer_ids")
    if listed is None:
        raise UnknownAttention(f"{where} is missing: which layers own a cache", where)
    sources = frozenset(whole(v, where, 0) for v in listed)
    count = layer_count(fields)
    if any(s >= count for s in sources):
        raise UnknownAttention(f"{where} names layer {max(sources):,} of {count:,}", where)
    return sources


def _ratio(fields: Fields, index: int) -> int:
    ratios = fields.sequence("compress_ratios") or ()
    where = f"{fields.where('compress_ratios')}[{index}]"
    if index >= len(ratios):
        raise UnknownAttention(f"{where} is missing for a layer that owns a cache", where)
    return whole(ratios[index], where)


def _row(fields: Fields, size: int, dtype: KvDtype) -> Fraction:
    if dtype.name in ("fp8", "fp8_ds_mla"):
        return _window_row(fields, size, dtype)
    return size * dtype.element + dtype.vector


def _window_row(fields: Fields, size: int, dtype: KvDtype) -> Fraction:
    if dtype.name == "fp8_ds_mla":
        rope = fields.integer("qk_rope_head_dim")
        return Fraction(size + rope + 8 * -(-size // 512))
    if dtype.element <= 1:
        return Fraction(size + -(-size // 32))
    return size * dtype.element
