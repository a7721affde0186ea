"""How many K and V vectors a layer stores per token, and how long they are.

Order of the spellings: sglang 0.5.23 model_config.get_total_num_kv_heads; class defaults: transformers 5.24.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType

from inspector.kv.config_fields import Fields, UnknownAttention, whole
from inspector.kv.kv_dtypes import KvDtype
from inspector.model.cache_model import CachePart
from inspector.records import dataclass

HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads")
HIDDEN = ("hidden_size", "n_embd", "d_model", "n_embed", "model_dim")
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels", "d_kv")
KV_HEADS = (
    "n_head_kv",
    "num_kv_heads",
    "num_key_value_heads",
    "multi_query_group_num",
    "num_attention_groups",
    "head_num_kv",
)

CLASS_DEFAULTS: Mapping[str, Mapping[str, int]] = MappingProxyType(
    {
        "gemma": MappingProxyType({"head_dim": 256}),
        "gemma2": MappingProxyType({"heads": 8, "kv": 4, "head_dim": 256, "window": 4096}),
        "gemma3": MappingProxyType({"heads": 8, "kv": 4, "head_dim": 256, "window": 4096}),
        "gemma3_text": MappingProxyType({"heads": 8, "kv": 4, "head_dim": 256, "window": 4096}),
        "gemma3n_text": MappingProxyType({"heads": 8, "kv": 2, "head_dim": 256, "window": 512}),
        "gemma4_text": MappingProxyType({"head_dim": 256, "window": 512}),
        "qwen3": MappingProxyType({"head_dim": 128}),
        "qwen3_5_text": MappingProxyType({"head_dim": 256}),
        "qwen3_5_moe_text": MappingProxyType({"head_dim": 256}),
        "qwen3_next": MappingProxyType({"head_dim": 256}),
        "nemotron_h": MappingProxyType({"head_dim": 128}),
    }
)
"""What the architecture's class uses where its published configs leave a field out."""


@dataclass(frozen=True, slots=True)
class KvShape:
    """K vectors of `key` numbers and V vectors of `value` numbers, for `heads` KV heads."""

    heads: int
    key: int
    value: int

    def row(self, dtype: KvDtype) -> Fraction:
        """Bytes of one token's keys and values."""
        return self.heads * ((self.key + self.value) * dtype.element + 2 * dtype.vector)

    def part(self, name: str, dtype: KvDtype, window: int | None = None) -> CachePart:
        """These vectors as a part of a cache that splits by KV head."""
        return CachePart(name, self.row(dtype), window=window, sharding="kv_heads", heads=self.heads)


def class_default(fields: Fields, name: str) -> int | None:
    """The architecture's default of `heads`, `kv`, `head_dim` or `window`; None where it has none."""
    return CLASS_DEFAULTS.get(fields.model_type, MappingProxyType({})).get(name)


def attention_heads(fields: Fields) -> int:
    """Query heads. Raises where missing."""
    return fields.integer(*HEADS, default=class_default(fields, "heads"))


def kv_shape(fields: Fields, layer: int) -> KvShape:
    """The shape of a layer's K and V. Raises naming the key that is missing or unfit."""
    heads = kv_heads(fields, layer)
    key = head_dim(fields)
    return KvShape(heads, key, fields.integer("v_head_dim", default=key))


def head_dim(fields: Fields) -> int:
    """Numbers per head: as written, else the class default, else hidden size over heads."""
    name = fields.first(*HEAD_DIM)
    if name is not None:
        return fields.integer(name)
    default = class_default(fields, "head_dim")
    if default is not None:
        return default
    heads, hidden = attention_heads(fields), fields.integer(*HIDDEN)
    if hidden % heads:
        where = fields.where(fields.first(*HIDDEN) or HIDDEN[0])
        raise UnknownAttention(f"{where} {hidden:,} is no multiple of {heads:,} heads and head_dim is missing", where)
    return hidden // heads


def kv_heads(fields: Fields, layer: int) -> int:
    """KV heads of a layer. Falls back to the query heads, as every engine does."""
    falcon = fields.model_type in ("falcon", "RefinedWeb", "RefinedWebModel")
    if falcon and fields.get("new_decoder_architecture") is not True:
        # The class default of `multi_query` is true for the old Falcon (transformers falcon configuration).
        return 1 if fields.get("multi_query") is not False else attention_heads(fields)
    if not falcon and fields.get("multi_query") is True:
        return 1
    attention = fields.get("attn_config")
    if isinstance(attention, Mapping) and attention.get("kv_n_heads") is not None:
        return whole(attention["kv_n_heads"], fields.where("attn_config") + ".kv_n_heads")
    blocks = fields.sequence("block_configs")
    if blocks is not None:
        return _grouped(fields, blocks, layer)
    # ChatGLM writes a group number even where it does not use one.
    grouped = fields.get("multi_query_attention") is not False
    name = fields.first(*(k for k in KV_HEADS if grouped or k != "multi_query_group_num"))
    if name is None:
        default = class_default(fields, "kv")
        return attention_heads(fields) if default is None else default
    value = fields.get(name)
    if isinstance(value, list | tuple):
        if layer >= len(value):
            raise UnknownAttention(f"{name} has {len(value):,} entries and no layer {layer:,}", fields.where(name))
        return whole(value[layer], f"{fields.where(name)}[{layer}]")
    return fields.integer(name)


def _grouped(fields: Fields, blocks: tuple[object, ...], layer: int) -> int:
    """Nemotron-NAS: query heads over the group size of this layer's block."""
    where = f"{fields.where('block_configs')}[{layer}].attention.n_heads_in_group"
    block = blocks[layer] if layer < len(blocks) else None
    attention = block.get("attention") if isinstance(block, Mapping) else None
    value = attention.get("n_heads_in_group") if isinstance(attention, Mapping) else None
    heads, group = attention_heads(fields), whole(value, where)
    if heads % group:
        raise UnknownAttention(f"{heads:,} heads are no multiple of a group of {group:,}", where)
    return heads // group
