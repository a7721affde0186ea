"""Which kind of cache each layer has, and each draft layer.

Kinds: full, sparse (with an indexer), sliding, chunked, linear (any recurrent mixer), conv, hybrid and hybrid_sliding
(state and KV in one layer), blocksparse, compressed, none, shared (reads an earlier layer's KV), encoder, decoder.
"""

from __future__ import annotations

from inspector.kv.config_fields import Fields, UnknownAttention, is_encoder_decoder
from inspector.kv.layer_rules import RULES, Kinds, kind_of, letter_kind
from inspector.kv.plain_attention import is_encoder_only

_STATE = """
linear_attn_config linear_num_value_heads linear_num_heads mamba_d_state mamba_num_heads mamba_n_heads
ssm_state_size ssm_cfg state_size conv_L_cache lru_width wkv_head_size attn_layer_period rwkv_version
"""
_STATE_KEYS = tuple(_STATE.split())


def layer_kinds(fields: Fields, count: int) -> Kinds:
    """One kind per layer. Raises `UnknownAttention` for a value, or a mixture, that no rule explains."""
    if is_encoder_only(fields):
        return ("encoder",) * count
    if is_encoder_decoder(fields):
        return ("decoder",) * count
    kinds = next((k for rule in RULES if (k := rule(fields, count)) is not None), None) or _plain(fields, count)
    if fields.get("use_sliding_window") is False:
        kinds = tuple("full" if k == "sliding" else k for k in kinds)
    if fields.get("compress_ratios") is not None or "compressed" in kinds:
        kinds = ("compressed",) * count
    elif fields.model_type.startswith("gemma4") and kinds and kinds[-1] == "sliding":
        kinds = (*kinds[:-1], "full")
    return _shared(fields, kinds)


def draft_kinds(fields: Fields, kinds: Kinds) -> Kinds:
    """Kinds of the draft (MTP) layers, in order; empty where there are none.

    Without a list of their own they are attention layers of the model's growing kind (DeepSeek-V3, GLM, Qwen3.5).
    """
    listed = fields.sequence("mtp_layers_block_type") or fields.sequence("mtp_layer_types")
    if listed is not None:
        return tuple(kind_of(fields, "mtp_layers_block_type", i, x) for i, x in enumerate(listed))
    pattern = fields.get("mtp_hybrid_override_pattern")
    if isinstance(pattern, str):
        return tuple(letter_kind(fields, "mtp_hybrid_override_pattern", x) for x in pattern)
    names = ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers")
    number = fields.integer(*names, default=0, least=0)
    if number > 64:
        raise UnknownAttention(f"{number:,} draft layers are more than is believed", fields.where(names[0]))
    growing = next((k for k in ("compressed", "sparse", "full", "sliding") if k in kinds), "full")
    return ("sliding" if fields.model_type.startswith("mimo_v2") else growing,) * number


def _plain(fields: Fields, count: int) -> Kinds:
    """Every layer alike: sliding where a window is in force, else full. Not where a key speaks of recurrent state."""
    sign = next((k for k in _STATE_KEYS if fields.has(k)), None)
    if sign is not None:
        where = fields.where(sign)
        raise UnknownAttention(f"{where} speaks of recurrent layers and nothing says which layers they are", where)
    name = fields.first("sliding_window", "sliding_window_size")
    if name is None or fields.get("use_sliding_window") is False or fields.has("kv_lora_rank"):
        return ("full",) * count
    if not fields.model_type and fields.get("use_sliding_window") is None:
        where = fields.where(name)
        message = f"{where} speaks of windows, and neither layer_types nor a model_type says which layers have one"
        raise UnknownAttention(message, where)
    start = 0
    if fields.get("use_sliding_window") is True:
        start = fields.integer("max_window_layers", default=0, least=0)
    return tuple("sliding" if i >= start else "full" for i in range(count))


def _shared(fields: Fields, kinds: Kinds) -> Kinds:
    """The last `num_kv_shared_layers` read an earlier layer's KV (Gemma 3n and 4; 3n's class default is 15)."""
    default = 15 if fields.model_type.startswith("gemma3n") else 0
    shared = fields.integer("num_kv_shared_layers", default=default, least=0)
    if shared > len(kinds):
        where = fields.where("num_kv_shared_layers")
        raise UnknownAttention(f"{where} is {shared:,} of {len(kinds):,} layers", where)
    return (*kinds[: len(kinds) - shared], *("shared",) * shared)
