"""Dimensions and config of the DeepSeek-V4 releases."""

from __future__ import annotations

from dataclasses import dataclass

from scripts.layouts.recording import Json

VOCAB, HEAD, RANK, INDEX_HEADS, INDEX_DIM = 129280, 512, 1024, 64, 128
HASHED = 3
"""The first layers route by a table from token id to expert instead of a bias."""


@dataclass(frozen=True)
class Shape:
    """What tells the releases apart. `stages` with `dspark` are DSpark draft stages, else plain ones."""

    hidden: int
    layers: int
    heads: int
    query_rank: int
    groups: int
    inner: int
    experts: int
    topk: int
    scaling: float
    ratios: tuple[int, ...]
    stages: int
    dspark: bool


FLASH = Shape(4096, 43, 64, 1024, 8, 2048, 256, 512, 1.5, (0, 0, *(4, 128) * 20, 4, 0, 0, 0), 3, True)
PRO = Shape(7168, 61, 128, 1536, 16, 3072, 384, 1024, 2.5, (128, 128, *(4, 128) * 29, 4, 0), 1, False)


def config(s: Shape) -> dict[str, Json]:
    """The release's config with the fields that its family has."""
    return {
        "architectures": ["DeepseekV4ForCausalLM"],
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": 0,
        "eos_token_id": 1,
        "expert_dtype": "fp4",
        "hc_eps": 1e-06,
        "hc_mult": 4,
        "hc_sinkhorn_iters": 20,
        "head_dim": HEAD,
        "hidden_act": "silu",
        "hidden_size": s.hidden,
        "index_head_dim": INDEX_DIM,
        "index_n_heads": INDEX_HEADS,
        "index_topk": s.topk,
        "initializer_range": 0.02,
        "max_position_embeddings": 1048576,
        "model_type": "deepseek_v4",
        "moe_intermediate_size": s.inner,
        "n_routed_experts": s.experts,
        "n_shared_experts": 1,
        "norm_topk_prob": True,
        "num_attention_heads": s.heads,
        "num_experts_per_tok": 6,
        "num_hidden_layers": s.layers,
        "num_hash_layers": HASHED,
        "num_key_value_heads": 1,
        "num_nextn_predict_layers": s.stages,
        "o_groups": s.groups,
        "o_lora_rank": RANK,
        "q_lora_rank": s.query_rank,
        "qk_rope_head_dim": 64,
        "quantization_config": {
            "activation_scheme": "dynamic",
            "fmt": "e4m3",
            "quant_method": "fp8",
            "scale_fmt": "ue8m0",
            "weight_block_size": [128, 128],
        },
        "rms_norm_eps": 1e-06,
        "rope_scaling": {
            "beta_fast": 32,
            "beta_slow": 1,
            "factor": 16,
            "original_max_position_embeddings": 65536,
            "type": "yarn",
        },
        "rope_theta": 10000,
        "routed_scaling_factor": s.scaling,
        "scoring_func": "sqrtsoftplus",
        "sliding_window": 128,
        "swiglu_limit": 10.0,
        "tie_word_embeddings": False,
        "topk_method": "noaux_tc",
        "torch_dtype": "bfloat16",
        "transformers_version": "4.57.1",
        "use_cache": True,
        "vocab_size": VOCAB,
        "compress_rope_theta": 160000,
        "compress_ratios": list(s.ratios),
    }
