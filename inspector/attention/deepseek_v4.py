"""DeepSeek V4: compressed sparse (ratio 4) and heavily compressed (ratio 128) attention, and a window in every layer.

One row per `ratio` tokens; ratio 4 adds an index key; ratio 0 keeps the window only. A row of 512 numbers is 584
bytes in FP8 (448 FP8, 64 rope in BF16, 8 of scales), 1,024 in BF16, 384 in NVFP4. All of it is whole on every rank.
Source: sglang mem_cache KVLayout.V4 and DSV4PoolConfigurator; vLLM nvfp4_ds_mla. Compressor rings are not counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from inspector.kv.config_fields import Fields, UnknownAttention, layer_count, whole
from inspector.kv.kv_dtypes import CacheFormats, KvDtype
from inspector.model.cache_model import CachePart, LayerCache

NAME = "compressed attention"
KINDS = frozenset({"compressed"})
PLAIN = False
DEFAULT_KV: str | None = "fp8"

_SPARSE, _HEAVY = 4, 128


def claims(fields: Fields) -> bool:
    """Compression ratios without KV sources."""
    return fields.get("kv_source_layer_ids") is None and not fields.model_type.startswith("deepseek_v41")


def layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    """The window, and compressed rows by this layer's ratio."""
    row = _row(fields, formats.kv)
    window = CachePart("window", row, window=fields.integer("sliding_window"))
    ratio = _ratio(fields, index)
    if ratio == 0:
        return LayerCache("window", (window,))
    parts = (window, CachePart("rows", row / ratio))
    if ratio == _HEAVY:
        return LayerCache("heavily compressed attention", parts)
    if ratio != _SPARSE:
        where = f"{fields.where('compress_ratios')}[{index}]"
        raise UnknownAttention(f"{where} is {ratio:,}, a ratio that is not known here (0, 4 and 128 are)", where)
    key = formats.kv.index_key(fields.integer("index_head_dim"))
    return LayerCache("compressed sparse attention", (*parts, CachePart("index keys", key / ratio)))


def _ratio(fields: Fields, index: int) -> int:
    ratios = fields.sequence("compress_ratios")
    if ratios is None:
        return _named(fields, index)
    if index < len(ratios):
        return whole(ratios[index], f"{fields.where('compress_ratios')}[{index}]", 0)
    count = layer_count(fields)
    if index >= count:
        return 0
    where = fields.where("compress_ratios")
    raise UnknownAttention(f"compress_ratios has {len(ratios):,} entries for {count:,} layers", where)


def _named(fields: Fields, index: int) -> int:
    kinds = fields.sequence("layer_types") or ()
    kind = kinds[index] if index < len(kinds) else None
    if kind in (None, "sliding_attention"):
        return 0
    rates = fields.get("compress_rates")
    rate = rates.get(kind) if isinstance(rates, Mapping) else None
    if rate is None:
        return _SPARSE if kind == "compressed_sparse_attention" else _HEAVY
    return whole(rate, f"{fields.where('compress_rates')}.{kind}")


def _row(fields: Fields, dtype: KvDtype) -> Fraction:
    size = fields.integer("head_dim")
    rope = fields.integer("qk_rope_head_dim")
    plain = size - rope
    if plain < 0:
        where = fields.where("qk_rope_head_dim")
        raise UnknownAttention(f"{where} {rope:,} exceeds head_dim {size:,}", where)
    if dtype.name in ("fp8", "fp8_ds_mla"):
        return Fraction(plain + 2 * rope + 8 * -(-plain // 512))
    if dtype.name == "nvfp4":
        # 380 bytes of 448 FP4 numbers, their scales and 64 BF16 numbers are padded to 384.
        return Fraction(16 * -(-(9 * plain + 32 * rope) // 256))
    return size * dtype.element + dtype.vector
