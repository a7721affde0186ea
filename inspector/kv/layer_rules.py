"""Rules that say which kind of cache each layer has: the config's own lists first, then architectures by name.

Sources: transformers 5.24 configuration_*.py (`layer_types` and its derivations), sglang 0.5.23 model_config.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from inspector.kv.config_fields import Fields, UnknownAttention, whole
from inspector.model import Json

Kinds = tuple[str, ...]

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "full_attention": "full",
        "attention": "full",
        "global_attention": "full",
        "indexed_attention": "sparse",
        "deepseek_sparse_attention": "sparse",
        "sliding_attention": "sliding",
        "chunked_attention": "chunked",
        "linear_attention": "linear",
        "mamba": "linear",
        "mamba2": "linear",
        "conv": "conv",
        "short_conv": "conv",
        "hybrid": "hybrid",
        "hybrid_sliding": "hybrid_sliding",
        "compressed_sparse_attention": "compressed",
        "heavily_compressed_attention": "compressed",
        "minimax_m3_sparse": "blocksparse",
        "moe": "none",
        "mlp": "none",
    }
)
_PATTERN: Mapping[str, str] = MappingProxyType({"M": "linear", "*": "full", "-": "none", "E": "none"})

EVERY: Mapping[str, int] = MappingProxyType(
    {
        "gemma2": 2,
        "gemma3": 6,
        "gemma3_text": 6,
        "gemma3n": 5,
        "gemma3n_text": 5,
        "gemma4": 6,
        "gemma4_text": 6,
        "gpt_oss": 2,
        "cohere2": 4,
        "olmo3": 4,
        "exaone4": 4,
        "afmoe": 4,
    }
)
"""Architectures whose every n-th layer is full and whose others slide, when the config does not list them."""

_EVERY_KEYS = ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers")


def kind_of(fields: Fields, name: str, index: int, value: Json) -> str:
    """The kind of a listed layer type. Raises naming the entry where it is not known."""
    kind = KINDS.get(value) if isinstance(value, str) else None
    if kind is None:
        shown = repr(value)[:60] if isinstance(value, str) else f"a {type(value).__name__}"
        where = f"{fields.where(name)}[{index}]"
        raise UnknownAttention(f"{where} is {shown}, a layer type that is not known here", where)
    return kind


def letter_kind(fields: Fields, name: str, letter: str) -> str:
    """The kind of a letter of Nemotron-H's pattern. Raises naming the key where it is not known."""
    if letter not in _PATTERN:
        raise UnknownAttention(f"{name} has {letter!r}, a layer type that is not known here", fields.where(name))
    return _PATTERN[letter]


def _listed(fields: Fields, count: int) -> Kinds | None:
    for name in ("layer_types", "layers_block_type"):
        values = fields.per_layer(name, count)
        if values is not None:
            return tuple(kind_of(fields, name, i, v) for i, v in enumerate(values))
    return None


def _nemotron_h(fields: Fields, count: int) -> Kinds | None:
    name = "hybrid_override_pattern"
    pattern = fields.get(name)
    if not isinstance(pattern, str):
        return None
    if len(pattern) < count:
        raise UnknownAttention(f"{name} has {len(pattern):,} letters for {count:,} layers", fields.where(name))
    return tuple(letter_kind(fields, name, x) for x in pattern[:count])


def _numbered(name: str, meaning: Mapping[int, str]) -> Callable[[Fields, int], Kinds | None]:
    """A list of small numbers, one per layer."""

    def rule(fields: Fields, count: int) -> Kinds | None:
        values = fields.per_layer(name, count)
        if values is None:
            return None
        numbers = [whole(v, f"{fields.where(name)}[{i}]", 0) for i, v in enumerate(values)]
        strange = next((n for n in numbers if n not in meaning), None)
        if strange is not None:
            raise UnknownAttention(f"{name} has {strange}, which is not known here", fields.where(name))
        return tuple(meaning[n] for n in numbers)

    return rule


def _block_sparse(fields: Fields, count: int) -> Kinds | None:
    inner = fields.inner("sparse_attention_config")
    if inner is None or inner.get("use_sparse_attention") is False:
        return None
    rule = _numbered("sparse_attention_freq", MappingProxyType({0: "full", 1: "blocksparse"}))
    return rule(inner, count)


def _kimi(fields: Fields, count: int) -> Kinds | None:
    inner = fields.inner("linear_attn_config")
    if inner is None:
        return None
    listed = inner.sequence("full_attn_layers")
    if listed is None:
        return tuple("full" if i % 4 == 3 else "linear" for i in range(count))
    # These layer numbers start at 1 (transformers kimi_linear configuration).
    full = {whole(v, inner.where("full_attn_layers")) - 1 for v in listed}
    return tuple("full" if i in full else "linear" for i in range(count))


def _nas(fields: Fields, count: int) -> Kinds | None:
    blocks = fields.per_layer("block_configs", count)
    if blocks is None:
        return None
    kinds = []
    for i, block in enumerate(blocks):
        attention = block.get("attention") if isinstance(block, Mapping) else None
        if not isinstance(attention, Mapping):
            where = f"{fields.where('block_configs')}[{i}].attention"
            raise UnknownAttention(f"{where} is missing", where)
        kinds.append("none" if attention.get("no_op") or attention.get("replace_with_linear") else "full")
    return tuple(kinds)


def _indices(name: str, others: str) -> Callable[[Fields, int], Kinds | None]:
    """A list of the layers with attention; `others` is the kind of the rest."""

    def rule(fields: Fields, count: int) -> Kinds | None:
        values = fields.sequence(name)
        if values is None:
            return None
        full = {whole(v, fields.where(name), 0) for v in values}
        return tuple("full" if i in full else others for i in range(count))

    return rule


def _jamba(fields: Fields, count: int) -> Kinds | None:
    if fields.get("attn_layer_period") is None:
        return None
    period = fields.integer("attn_layer_period")
    offset = fields.integer("attn_layer_offset", least=0)
    return tuple("full" if i % period == offset else "linear" for i in range(count))


def _interval(fields: Fields, count: int) -> Kinds | None:
    qwen = fields.model_type.startswith(("qwen3_next", "qwen3_5"))
    name = fields.first("full_attention_interval", "layer_group_size")
    if name is None and not qwen:
        return None
    if isinstance(fields.get("layer_group_size"), list | tuple):
        return _numbered("layer_group_size", MappingProxyType({0: "full", 1: "linear"}))(fields, count)
    every = fields.integer("full_attention_interval", "layer_group_size", default=4)
    return tuple("linear" if (i + 1) % every else "full" for i in range(count))


def _llama4(fields: Fields, count: int) -> Kinds | None:
    if fields.model_type not in ("llama4", "llama4_text"):
        return None
    if not fields.has("attention_chunk_size"):
        return ("full",) * count
    if fields.has("no_rope_layers"):
        return _numbered("no_rope_layers", MappingProxyType({0: "full", 1: "chunked"}))(fields, count)
    every = fields.integer("no_rope_layer_interval", default=4)
    return tuple("chunked" if (i + 1) % every else "full" for i in range(count))


def _every(fields: Fields, count: int) -> Kinds | None:
    if fields.model_type.startswith("mimo_v2"):
        return tuple("full" if i == 0 or (i + 1) % 6 == 0 else "sliding" for i in range(count))
    every = EVERY.get(fields.model_type)
    name = fields.first(*_EVERY_KEYS)
    if every is None or (name is not None and not fields.has(name)):
        return None
    pattern = fields.get(name) if name else None
    if isinstance(pattern, str) and pattern and set(pattern) <= {"L", "G"}:
        kinds = [("full" if pattern[i % len(pattern)] == "G" else "sliding") for i in range(count)]
        return (*kinds[:-1], "full")
    every = fields.integer(*_EVERY_KEYS, default=every)
    return tuple("sliding" if (i + 1) % every else "full" for i in range(count))


def _uniform(fields: Fields, count: int) -> Kinds | None:
    kind = fields.model_type
    if kind in ("mamba", "mamba2", "falcon_mamba") or kind.startswith("rwkv"):
        return ("linear",) * count
    if kind == "granitemoehybrid":
        return ("linear",) * count
    if kind == "falcon_h1":
        return ("hybrid",) * count
    if fields.has("kv_lora_rank") and fields.has("index_topk"):
        return ("sparse",) * count
    return None


RULES: tuple[Callable[[Fields, int], Kinds | None], ...] = (
    _listed,
    _nemotron_h,
    _numbered("hybrid_layer_pattern", MappingProxyType({0: "full", 1: "sliding"})),
    _numbered("attn_type_list", MappingProxyType({0: "linear", 1: "full"})),
    _block_sparse,
    _kimi,
    _nas,
    _jamba,
    _indices("attn_layer_indices", "linear"),
    _indices("full_attention_layers", "linear"),
    _indices("full_attn_idxs", "conv"),
    _interval,
    _llama4,
    _every,
    _uniform,
)
"""In this order; the first that answers wins."""
