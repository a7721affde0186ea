"""A GGUF file's metadata -> the cache of one sequence: its keys are read as the config fields of the same meaning.

Rules: llama.cpp llama-hparams.cpp, llama-model.cpp (windows and recurrent layers by architecture), gguf-py
constants.py. `block_count` includes draft layers; `head_count_kv` 0 is a layer without attention.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from inspector.cache import cache_of
from inspector.kv.config_fields import MAX_LAYERS, Fields, UnknownAttention, whole
from inspector.model import Json
from inspector.model.cache_model import Cache, UnknownCache
from inspector.records import replace

SLIDING_EVERY: Mapping[str, int] = MappingProxyType(
    {
        "gemma2": 2,
        "gemma3": 6,
        "gemma3n": 5,
        "gpt-oss": 2,
        "cohere2": 4,
        "olmo2": 4,
        "exaone4": 4,
        "afmoe": 4,
        "phi3": 0,
    }
)
"""Architectures whose window pattern is in llama.cpp's code, not in the file: every n-th layer is full; 0: none."""

_INTERVAL = ("qwen3next", "qwen35", "qwen35moe")
_UNRESOLVED = frozenset({"qwen4exp", "plamo2", "rwkv6qwen2", "arwkv7", "t5", "t5encoder", "hunyuan-v4", "dots3"})
_HINT = re.compile(r"compress|index|sparse|latent|source|window|chunk|share|lora_rank|loop")
_KNOWN = """
sliding_window sliding_window_pattern shared_kv_layers kv_lora_rank q_lora_rank o_lora_rank output_lora_rank
compress_ratios kv_source_layers index_source_layers indexer.head_count indexer.key_length indexer.top_k indexer.types
indexer.kpool decay_lora_rank iclr_lora_rank value_residual_mix_lora_rank gate_lora_rank compress_rope_freq_base
"""
_READ = frozenset(_KNOWN.split())


def cache_of_gguf(
    metadata: Mapping[str, Json],
    *,
    kv_dtype: str | None = None,
    state_dtype: str | None = "f32",
    conv_dtype: str | None = "f32",
    with_draft: bool = False,
) -> Cache | UnknownCache:
    """The cache of one sequence of a GGUF model, in llama.cpp's formats unless told otherwise.

    Raises `UsageError` for an unknown dtype name. Where a key is missing or unfit the answer names it.
    """
    try:
        config = config_of_gguf(metadata)
    except UnknownAttention as unknown:
        return UnknownCache(unknown.reason, unknown.where)
    cache = cache_of(config, kv_dtype=kv_dtype, state_dtype=state_dtype, conv_dtype=conv_dtype, with_draft=with_draft)
    if isinstance(cache, Cache) and cache.kv_dtype_reason.startswith("the model's dtype"):
        return replace(cache, kv_dtype_reason="llama.cpp's default")
    return cache


def config_of_gguf(metadata: Mapping[str, Json]) -> dict[str, Json]:
    """The config fields that the metadata amounts to. Raises `UnknownAttention` naming the GGUF key."""
    arch = metadata.get("general.architecture") if isinstance(metadata, Mapping) else None
    if not isinstance(arch, str) or not arch:
        raise UnknownAttention("general.architecture is missing from the metadata", "general.architecture")
    start = arch + "."
    own = {k[len(start) :]: v for k, v in metadata.items() if isinstance(k, str) and k.startswith(start)}
    fields = Fields(own, prefix=start)
    if arch in _UNRESOLVED:
        raise UnknownAttention(f"the cache of {arch} is not worked out here", "general.architecture")
    for key in own:
        rest = key.removeprefix("attention.")
        if rest != key and rest not in _READ and _HINT.search(rest):
            raise UnknownAttention(f"{start}{key} is not known here and may change the cache", start + key)
    blocks = fields.integer("block_count")
    draft = fields.integer("nextn_predict_layers", default=0, least=0)
    if blocks > MAX_LAYERS or draft >= blocks:
        raise UnknownAttention(f"{start}block_count is {blocks:,} with {draft:,} draft layers", start + "block_count")
    count = blocks - draft
    config: dict[str, Json] = {
        "model_type": f"gguf {arch}",
        "num_hidden_layers": count,
        "num_nextn_predict_layers": draft,
        "torch_dtype": "float16",
        "max_position_embeddings": fields.get("context_length"),
    }
    if fields.get("attention.causal") is False:
        return {**config, "is_causal": False}
    if fields.get("attention.compress_ratios") is not None:
        return {**config, **_compressed(fields)}
    if fields.get("wkv.head_size") is not None:
        return {**config, **_rwkv(fields)}
    return {**config, **_shape(fields, blocks), **_state(fields), "layer_types": _kinds(fields, arch, count)}


def _compressed(fields: Fields) -> dict[str, Json]:
    """DeepSeek V4 and V4.1."""
    return {
        "num_attention_heads": fields.get("attention.head_count"),
        "head_dim": fields.integer("attention.key_length"),
        "qk_rope_head_dim": fields.integer("rope.dimension_count"),
        "sliding_window": fields.integer("attention.sliding_window"),
        "compress_ratios": fields.sequence("attention.compress_ratios"),
        "kv_source_layer_ids": fields.sequence(fields.first("attention.kv_source_layers") or "kv_source_layers"),
        "index_head_dim": fields.integer("attention.indexer.key_length"),
    }


def _rwkv(fields: Fields) -> dict[str, Json]:
    return {
        "model_type": "rwkv7",
        "hidden_size": fields.integer("embedding_length"),
        "head_size": fields.integer("wkv.head_size"),
        "token_shift_count": fields.integer("token_shift_count", default=2),
    }


def _shape(fields: Fields, blocks: int) -> dict[str, Json]:
    """Heads and their sizes, or the latent where the file was made for it."""
    if fields.get("attention.head_count") is None:
        return {}
    heads = _per_layer(fields, "attention.head_count", blocks)
    shared = {
        "num_attention_heads": max(heads) or None,
        "num_kv_shared_layers": fields.integer("attention.shared_kv_layers", default=0, least=0),
    }
    if fields.get("attention.key_length_mla") is not None:
        # K holds latent and rope part, V is a view of it (llama.cpp MLA conversion).
        rank = fields.integer("attention.kv_lora_rank")
        return {
            **shared,
            "kv_lora_rank": rank,
            "qk_rope_head_dim": fields.integer("rope.dimension_count"),
            **_indexer(fields),
        }
    if fields.get("attention.indexer.key_length") is not None:
        where = fields.where("attention.indexer.key_length")
        raise UnknownAttention(f"{where} without latent attention is not worked out here", where)
    shape: dict[str, Json] = {**shared, "num_key_value_heads": _kv_heads(fields, blocks, heads)}
    embedding = fields.integer("embedding_length") if fields.get("attention.key_length") is None else 0
    key = fields.integer("attention.key_length", default=max(embedding // max(max(heads), 1), 1))
    shape["head_dim"] = key
    shape["v_head_dim"] = fields.integer("attention.value_length", default=key)
    if fields.get("attention.key_length_swa") is not None:
        shape["swa_head_dim"] = fields.integer("attention.key_length_swa")
        shape["swa_v_head_dim"] = fields.integer("attention.value_length_swa", "attention.key_length_swa")
    if fields.has("attention.sliding_window"):
        shape["sliding_window"] = fields.integer("attention.sliding_window")
    return shape


def _indexer(fields: Fields) -> dict[str, Json]:
    if fields.get("attention.indexer.key_length") is None:
        return {}
    return {
        "index_head_dim": fields.integer("attention.indexer.key_length"),
        "index_topk": fields.integer("attention.indexer.top_k", default=1),
        "index_kpool": fields.integer("attention.indexer.kpool", default=1),
    }


def _kv_heads(fields: Fields, blocks: int, heads: list[int]) -> list[int]:
    name = "attention.head_count_kv"
    return heads if fields.get(name) is None else _per_layer(fields, name, blocks)


def _per_layer(fields: Fields, name: str, blocks: int) -> list[int]:
    """A number for every block, written once or as an array."""
    value = fields.get(name)
    if not isinstance(value, list | tuple):
        return [fields.integer(name, least=0)] * blocks
    if len(value) < blocks:
        raise UnknownAttention(f"{name} has {len(value):,} entries for {blocks:,} blocks", fields.where(name))
    return [whole(v, f"{fields.where(name)}[{i}]", 0) for i, v in enumerate(value)]


def _state(fields: Fields) -> dict[str, Json]:
    """Recurrent state: R = (kernel - 1) x (inner + 2 x groups x state), S = state x inner, as in n_embd_r, n_embd_s."""
    if fields.get("shortconv.l_cache") is not None:
        return {"conv_L_cache": fields.integer("shortconv.l_cache"), "hidden_size": fields.integer("embedding_length")}
    if fields.get("kda.head_dim") is not None:
        return {
            "linear_num_heads": max(_per_layer(fields, "attention.head_count", 1)),
            "linear_head_dim": fields.integer("kda.head_dim"),
            "linear_conv_kernel_dim": fields.integer("ssm.conv_kernel"),
        }
    if fields.get("ssm.inner_size") is None:
        return {}
    inner = fields.integer("ssm.inner_size")
    rank = fields.integer("ssm.time_step_rank", default=1)
    groups = fields.integer("ssm.group_count", default=0, least=0)
    heads = rank if groups and inner % rank == 0 else 1
    return {
        "mamba_num_heads": heads,
        "mamba_head_dim": inner // heads,
        "ssm_state_size": fields.integer("ssm.state_size"),
        "n_groups": groups,
        "conv_kernel": fields.integer("ssm.conv_kernel"),
    }


def _kinds(fields: Fields, arch: str, count: int) -> list[str]:
    """One layer type per layer, in the config's words."""
    windows = _windows(fields, arch, count)
    mixer = "conv" if fields.get("shortconv.l_cache") is not None else "linear_attention"
    recurrent = any(fields.get(k) is not None for k in ("shortconv.l_cache", "kda.head_dim", "ssm.inner_size"))
    per_layer = isinstance(fields.get("attention.head_count_kv"), list | tuple)
    if recurrent and not per_layer:
        if arch in ("mamba", "mamba2"):
            return [mixer] * count
        if arch == "falcon-h1":
            return ["hybrid"] * count
        if arch not in _INTERVAL and fields.get("full_attention_interval") is None:
            where = fields.where("attention.head_count_kv")
            raise UnknownAttention(f"{where} is one number: which layers of {arch} are recurrent is not stated", where)
        every = fields.integer("full_attention_interval", default=4)
        return [mixer if (i + 1) % every else "full_attention" for i in range(count)]
    kv = _kv_heads(fields, count, [1] * count)
    empty = _mixers(fields, arch, count, mixer) if recurrent else ["moe"] * count
    return [empty[i] if kv[i] == 0 else windows[i] for i in range(count)]


def _mixers(fields: Fields, arch: str, count: int, mixer: str) -> list[str]:
    """What layers without KV heads are: Nemotron-H's blocks with a feed-forward part have no mixer."""
    if not arch.startswith("nemotron_h"):
        return [mixer] * count
    return ["moe" if n else mixer for n in _per_layer(fields, "feed_forward_length", count)]


def _windows(fields: Fields, arch: str, count: int) -> list[str]:
    if arch == "llama4":
        where = fields.where("attention.sliding_window")
        raise UnknownAttention("the chunked windows of llama4 are not in the file's metadata", where)
    if not fields.has("attention.sliding_window"):
        return ["full_attention"] * count
    pattern = fields.get("attention.sliding_window_pattern")
    if isinstance(pattern, list | tuple):
        slides = fields.per_layer("attention.sliding_window_pattern", count) or ()
        return ["sliding_attention" if x else "full_attention" for x in slides]
    if pattern is None and arch not in SLIDING_EVERY:
        where = fields.where("attention.sliding_window_pattern")
        raise UnknownAttention(f"{where} is missing: which layers of {arch} slide", where)
    every = fields.integer("attention.sliding_window_pattern", default=SLIDING_EVERY.get(arch), least=0)
    return ["sliding_attention" if every == 0 or (i + 1) % every else "full_attention" for i in range(count)]
