"""One ordered table: the name of a module to the component it belongs to.

First match wins, so a part that holds everything inside it (draft, vision, memory) stands before roles, and roles
that are told by one word stand before `attention` and `mlp`. Hugging Face, DeepSeek, diffusers and GGUF spellings.
"""

from __future__ import annotations

import re
from typing import Final

_TABLE: Final = tuple(
    (component, re.compile(pattern))
    for component, pattern in (
        ("embedding", r"(^|\.)image_(start|newline|end)$"),
        ("draft", r"(^|\.)(mtp\w*|nextn\w*|eagle\w*|medusa\w*|dspark\w*|draft\w*|speculator\w*)(\.|$)"),
        ("audio", r"^mm\.a\.|^a\.(blk|conv\w*|\w+_embd\w*|\w*norm\w*|\w*_ln)(\.|$)"),
        (
            "vision",
            r"(^|\.)(vision\w*|visual|vit|vpm|resampler|image_encoder|img_encoder|mm_projector|multi_modal_projector"
            r"|aligner|image_newline|vision_embed_tokens|patch_merger|pre_mm_projector_norm|mlp1|v\.(blk|\w+)|mm)(\.|$)",
        ),
        ("audio", r"(^|\.)(audio\w*|speech\w*|sound\w*|embed_audio|code_predictor|token2wav)(\.|$)"),
        ("other", r"(^|\.)(hc_\w+|hyper_connection\w*|mhc\w*)(\.|$)"),
        ("memory", r"(^|\.)engram\w*(\.|$)"),
        ("shared_experts", r"(^|\.)(shared_experts?|shared_mlp|share_expert|(?!ffn_gate_inp_)\w+_shexp)(\.|$)"),
        ("router", r"(^|\.)(shared_expert_gate|ffn_gate_inp(_shexp)?)(\.|$)"),
        (
            "routed_experts",
            r"(^|\.)((experts?|switch_mlp|local_experts|moe_experts)\.|(experts?|switch_mlp)$)|(?<!norm)_(ch)?exps(\.|$)",
        ),
        (
            "router",
            r"(^|\.)(router|gate|gate_inp|exp_probs_b|moe_gate|routing_gate|gating)(\.(weight|bias\w*|tid2eid"
            r"|e_score_correction_bias|wg|layer|proj|scale|per_expert_scale|linear))?$"
            r"|e_score_correction_bias$|tid2eid$|(^|\.)router\.",
        ),
        (
            "recurrent",
            r"(^|\.)(linear_attn|mamba\w*|ssm\w*|time_mix\w*|time_mixer|delta_net|gated_delta\w*|kda|rwkv\w*|shortconv"
            r"|short_conv|conv1d|recurrent|lightning_attn|lru)(\.|_|$)|^(?!blk\.\d+\.).*\.@recurrent\.|^blk\.\d+\.@recurrent\.attn_(?!norm)|(^|\.)conv\.(conv|in_proj|out_proj)$",
        ),
        (
            "attention",
            r"(^|\.)(indexer\w*|compressor|attn_sinks?|sinks|index_\w+|attn_compressor\w*)(\.|$)|(^|\.)attn_sink",
        ),
        (
            "norm",
            r"(^|\.)(\w*norm\w*|\w*layernorm\w*|ln_\w+|ln\d?|enorm|hnorm|\w*_ln|rms\w*)(\.(weight|bias|scale))?$",
        ),
        (
            "embedding",
            r"(^|\.)(embed|embed_tokens\w*|embed_in|wte|wpe|word_embeddings\w*|word_embedding|tok_embeddings|token_embd\w*"
            r"|position_embd|position_embeddings|token_type_embeddings|token_types|embed_positions|embeddings?|shared"
            r"|per_layer_token_embd|per_layer_model_proj|embedding_table|time_embed\w*|context_embedder|x_embedder|pos_embed\w*)(\.|$)",
        ),
        (
            "head",
            r"(^|\.)(lm_head\w*|head|embed_out|output|output_layer|classifier|score|cls|pooler)(\.(weight|bias))?$|^proj_out$",
        ),
        (
            "attention",
            r"(^|\.)(\w*attn\w*|\w*attention\w*|att|q_proj|k_proj|v_proj|o_proj|qkv\w*|qkv_proj|query|key|value|wq\w*|wk\w*"
            r"|wv\w*|wo\w*|c_attn|to_[qkv]|to_out|q_lora|kv_lora|relative_attention_bias|[qkv]_b_proj|selfattention"
            r"|encdecattention|crossattention|kv_a_\w+|q_a_\w+)(\.|$)",
        ),
        (
            "mlp",
            r"(^|\.)(mlp\w*|ffn\w*|ff|feed_forward|feedforward|fc\d?|fc_in|fc_out|intermediate|dense_h_to_4h|dense_4h_to_h"
            r"|gate_proj|up_proj|down_proj|gate_up_proj|w\d|linear_fc\d|densereludense|wi_\d|wi|ff_context|img_mlp|txt_mlp"
            r"|dense|channel_mix_\w*)(\.|$)",
        ),
    )
)

_NEVER_DRAFT: Final = frozenset({"vision", "audio"})
_LAYER: Final = re.compile(
    r"^(?:model\.|language_model\.|text_model\.|backbone\.|transformer\.)*(?:layers|blk)\.(\d{1,9})\."
)
STATE: Final = frozenset(
    {"A_log", "dt_bias", "conv1d", "q_conv1d", "time_decay", "ssm_ba", "ssm_beta", "ssm_f_a", "f_a_proj"}
)
"""Names that only what belongs to a recurrent state has."""


def component(module: str) -> str:
    """The component of a module name; `other` where no row matches."""
    module = module.lower()
    for name, pattern in _TABLE:
        if pattern.search(module) is not None:
            return name
    return "other"


def draft_layer(base: str, layers: int | None) -> bool:
    """True for a module of a main-model layer at or past `layers` (num_hidden_layers): MTP of V3, GLM."""
    if layers is None:
        return False
    found = _LAYER.match(base)
    return found is not None and int(found[1]) >= layers


def as_draft(name: str) -> str:
    """The component of a draft layer's module: draft, but a tower that merely has as many layers stays itself."""
    return name if name in _NEVER_DRAFT else "draft"


def recurrent_parent(base: str) -> str | None:
    """The mixer that owns recurrent state: `...self_attn` of `...self_attn.A_log`; None for other modules.

    KDA layers (GLM-5.3-Flash, Kimi Linear) name their projections as softmax attention does; the state
    beside them tells. In GGUF the owner is the whole layer `blk.N`, of which only `attn_*` belongs to the mixer; the
    names that delta-net layers alone have (`ssm_beta`) tell them from layers with attention and Mamba side by side.
    """
    parent, _, leaf = base.rpartition(".")
    return parent if parent and leaf in STATE else None
