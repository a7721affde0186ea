"""When a config may be read as ordinary attention: what is known to be, what is known not to be, what hints at more.

An architecture that is not understood must never be priced with the dense formula, so every doubt ends in "unknown".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from inspector.kv.config_fields import Fields, UnknownAttention

_PLAIN = """
aquila arcee apertus baichuan bloom chameleon chatglm codegen cohere cohere2 cwm dbrx deepseek dots1 ernie4_5
ernie4_5_moe exaone exaone4 falcon flex_olmo gemma gemma2 gemma3 gemma3_text glm glm4 glm4_moe glm4v gpt2
gpt_bigcode gpt_neox gpt_oss gptj granite granitemoe helium hunyuan_v1_dense internlm internlm2 internlm3 jais
llama llama4 llama4_text minicpm minimax_m2 mistral mistral3 ministral mixtral molmo mpt nanochat nemotron olmo
olmo2 olmo3 olmoe openelm opt persimmon phi phi3 phimoe qwen qwen2 qwen2_5_vl qwen2_5_vl_text qwen2_moe qwen2_vl
qwen2_vl_text qwen3 qwen3_moe qwen3_vl qwen3_vl_moe qwen3_vl_moe_text qwen3_vl_text seed_oss smollm3 stablelm
starcoder2 xglm yi
"""
PLAIN = frozenset(_PLAIN.split())
"""Architectures of plain attention: other keys in their configs are not read as hints."""

UNRESOLVED: Mapping[str, str] = MappingProxyType(
    {
        "qwen4_exp": "its block-compressed index keys and per-layer state",
        "qwen4_exp_text": "its block-compressed index keys and per-layer state",
        "dots3_note": "its latent windows with their own rank",
        "hy_v4": "its latent attention with windows",
        "hy_v4_vl": "its latent attention with windows",
        "inkling": "its convolution state beside attention",
        "inkling2": "its convolution state beside attention",
        "inkling2_loop": "its looped layers",
        "zamba": "attention blocks shared between layers",
        "zamba2": "attention blocks shared between layers",
        "zaya": "its convolution state beside attention",
        "recurrent_gemma": "its linear recurrent units",
        "xlstm": "its matrix memories",
        "dory": "its looped layers",
        "blt": "its byte patcher and local models",
        "t5gemma": "its encoder-decoder with windows",
        "t5gemma2": "its encoder-decoder with windows",
        "muse_spark": "its convolution state beside attention",
        "modernbert_decoder": "its half windows",
        "modernbert-decoder": "its half windows",
        "gpt_neo": "its local attention, which engines cache differently",
        "doge": "its selected keys",
        "reformer": "its hashed attention",
        "longformer": "its local and global attention",
        "big_bird": "its local and global attention",
        "xlnet": "its permutation memory",
        "transfo-xl": "its segment memory",
        "phi4flash": "its cross-decoder",
        "hrm_text": "its looped layers",
        "rwkv": "the state of version 4",
    }
)
"""Architectures that have been met and are not worked out, with what is missing."""

_ENCODERS = """
albert bert camembert clip_text_model deberta deberta-v2 distilbert electra ernie esm eurobert gte ibert
layoutlm mobilebert modernbert mpnet mra nomic_bert new roberta roberta-prelayernorm roformer siglip_text_model
squeezebert xlm-roberta xlm-roberta-xl xlm_roberta xmod
"""
ENCODER_ONLY = frozenset(_ENCODERS.split())
"""Architectures that read their whole input at once."""

_ENCODER_CLASS = r"ForMaskedLM$|EncoderModel$|^CLIPText|^(Bert|Roberta|XLMRoberta|NomicBert)Model$"

_GROWTH = """
kv_lora_rank swa_kv_lora_rank compress_ratios compress_rates kv_source_layer_ids index_topk index_head_dim
index_n_heads index_kpool indexer_types indexer_head_dim indexer_compress_ratio sparse_attention_config
sparse_attn_config cross_attention_layers use_cla cla_share_factor attention_types attn_types global_config
loop_layer_index_start n_recurrent_layers recurrent_depth mb_per_layer dual_chunk_attention_compress nsa_config
moba_config
"""
GROWTH_KEYS = tuple(_GROWTH.split())
"""Keys of designs whose growing cache is not K and V per head; present and set, they bar the dense formula."""

STATE_WORDS = (
    "mamba|ssm|conv|kda|gdn|delta|linear_(attn|attention|num|key|value|head|conv)|rwkv|wkv|lru|lightning|retention"
)
_HINTS = (
    r"(^|_)(latents?|compress\w*|recurrent|recurrence|loops?|index_(topk|head|n|num|dim|block|compress|rope|kpool|local)|indexer|hyena|cla|yoco|hybrid|nsa|moba"
    r"|sparse_att\w*|block_sparse|attn_types?|attention_types?|kv_shar\w*|shared_kv|kv_rank|landmark|infini\w*)(_|$)"
)
_STATE_HINTS = rf"(^|_)({STATE_WORDS})(_|$)"
_KNOWN = """
moe_latent_size index_share_for_mtp_iteration num_kv_shared_layers attn_type_list attn_layer_indices conv_bias
hybrid_override_pattern hybrid_layer_pattern decoder_sparse_step image_token_index pad_token_index
"""
_HARMLESS = frozenset(_KNOWN.split())


def is_encoder_only(fields: Fields) -> bool:
    """True for a model that reads its whole input at once and keeps nothing."""
    if fields.get("is_decoder") is True:
        return False
    if fields.get("use_bidirectional_attention") in (True, "all") or fields.get("is_causal") is False:
        return True
    if any(re.search(_ENCODER_CLASS, a) for a in fields.architectures):
        return True
    return fields.model_type in ENCODER_ONLY


def require_resolved(fields: Fields) -> None:
    """Raise for an architecture that is known and not worked out."""
    for kind in (fields.model_type, fields.top.get("model_type")):
        if isinstance(kind, str) and kind in UNRESOLVED:
            raise UnknownAttention(f"{kind} is not worked out here: {UNRESOLVED[kind]}", "model_type")


def growth_sign(fields: Fields) -> str | None:
    """The first key that speaks of another growing cache than K and V per head, or None."""
    return next((k for k in GROWTH_KEYS if fields.has(k)), None)


def require_plain(fields: Fields, recurrent: bool) -> None:
    """Raise where an unlisted architecture has keys that plain attention does not have.

    `recurrent` is true where the layers already show recurrent kinds, which explain keys of state.
    """
    sign = growth_sign(fields)
    if sign is not None:
        where = fields.where(sign)
        raise UnknownAttention(f"{where} belongs to another attention design than its layers show", where)
    if fields.model_type in PLAIN:
        return
    for key in fields.text:
        # Objects are vision or quantisation; `mtp_` describes draft layers.
        if not isinstance(key, str) or key in _HARMLESS or key.startswith("mtp_"):
            continue
        if not fields.has(key) or isinstance(fields.get(key), Mapping):
            continue
        if re.search(_HINTS, key) or (not recurrent and re.search(_STATE_HINTS, key)):
            kind = fields.model_type or "an architecture without model_type"
            raise UnknownAttention(
                f"{kind} is not known here and has {key}, which plain attention has not", fields.where(key)
            )
