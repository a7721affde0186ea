"""Dimensions and config of GLM-5.3-Flash."""

from __future__ import annotations

from scripts.layouts.recording import Json

HIDDEN, VOCAB, LAYERS, EXPERTS, HEADS, EXPERT_INNER, DENSE_INNER = 4096, 154880, 45, 288, 64, 2048, 12288


def sparse(layer: int) -> bool:
    """Layers 3, 7, ... have latent attention with an indexer; so has the draft layer."""
    return layer % 4 == 3 or layer == LAYERS


def config(quantised: Json) -> dict[str, Json]:
    """The whole config; `quantised` is its quantization_config, or None."""
    kinds = ["deepseek_sparse_attention" if sparse(i) else "linear_attention" for i in range(LAYERS)]
    text: dict[str, Json] = {
        "model_type": "glm5_next_text",
        "dtype": "bfloat16",
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "intermediate_size": DENSE_INNER,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": HEADS,
        "max_position_embeddings": 1048576,
        "first_k_dense_replace": 3,
        "moe_intermediate_size": EXPERT_INNER,
        "n_routed_experts": EXPERTS,
        "n_shared_experts": 1,
        "num_experts_per_tok": 8,
        "routed_scaling_factor": 2.5,
        "scoring_func": "sigmoid",
        "topk_method": "noaux_tc",
        "norm_topk_prob": True,
        "n_group": 1,
        "topk_group": 1,
        "moe_router_dtype": "float32",
        "num_nextn_predict_layers": 1,
        "mhc": True,
        "hc_mult": 4,
        "hc_eps": 1e-6,
        "hc_sinkhorn_iters": 20,
        "mla_use_nope": True,
        "q_lora_rank": 1536,
        "kv_lora_rank": 512,
        "head_dim": 0,
        "qk_head_dim": 256,
        "qk_nope_head_dim": 256,
        "qk_rope_head_dim": 0,
        "v_head_dim": 256,
        "index_n_heads": 32,
        "index_head_dim": 128,
        "index_topk": 2048,
        "index_kpool": 4,
        "index_kpool_compress": True,
        "index_kpool_always_select_tail": True,
        "indexer_rope_interleave": True,
        "index_share_for_mtp_iteration": True,
        "indexer_types": ["full"] * LAYERS,
        "layer_types": kinds,
        "mlp_layer_types": ["dense"] * 3 + ["sparse"] * (LAYERS - 3),
        "linear_attn_config": {
            "num_heads": HEADS,
            "head_dim": 128,
            "short_conv_kernel_size": 4,
            "gate_lower_bound": -5.0,
            "kda_layers": [i + 1 for i in range(LAYERS) if not sparse(i)],
            "full_attn_layers": [i + 1 for i in range(LAYERS) if sparse(i)],
        },
        "swiglu_limit": 10.0,
        "hidden_act": "silu",
        "attention_bias": False,
        "rms_norm_eps": 1e-5,
    }
    vision: dict[str, Json] = {
        "model_type": "glm5_next_vision",
        "depth": 24,
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_heads": 16,
        "image_size": 448,
        "patch_size": 14,
        "temporal_patch_size": 2,
        "spatial_merge_size": 2,
        "out_hidden_size": HIDDEN,
        "projection_intermediate_size": 10240,
        "in_channels": 3,
        "attention_bias": True,
        "hidden_act": "silu",
        "swiglu_limit": 10,
        "rms_norm_eps": 1e-5,
    }
    out: dict[str, Json] = {
        "architectures": ["Glm5NextForConditionalGeneration"],
        "model_type": "glm5_next",
        "tie_word_embeddings": False,
        "image_token_id": 154854,
        "video_token_id": 154855,
        "image_start_token_id": 154830,
        "image_end_token_id": 154831,
        "video_start_token_id": 154832,
        "video_end_token_id": 154833,
        "text_config": text,
        "vision_config": vision,
    }
    return out | ({"quantization_config": quantised} if quantised else {})
