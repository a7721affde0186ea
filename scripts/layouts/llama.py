"""meta-llama/Llama-3.1-8B in BF16, and an adapter for it."""

from __future__ import annotations

from scripts.layouts import plain
from scripts.layouts.recording import Json, Recording, shard_names
from scripts.layouts.tensors import Rows, Tensor, greedy

HIDDEN, INNER, VOCAB, LAYERS, KV = 4096, 14336, 128256, 32, 1024
PROJECTIONS = (
    ("self_attn.q_proj", HIDDEN, HIDDEN),
    ("self_attn.k_proj", KV, HIDDEN),
    ("self_attn.v_proj", KV, HIDDEN),
    ("self_attn.o_proj", HIDDEN, HIDDEN),
    ("mlp.gate_proj", INNER, HIDDEN),
    ("mlp.up_proj", INNER, HIDDEN),
    ("mlp.down_proj", HIDDEN, INNER),
)
RANK = 16


def _rows() -> list[Tensor]:
    rows = Rows()
    rows.bf16("model.embed_tokens.weight", VOCAB, HIDDEN)
    for layer in range(LAYERS):
        at = f"model.layers.{layer}"
        for name, out, inn in PROJECTIONS:
            rows.bf16(f"{at}.{name}.weight", out, inn)
        rows.bf16(f"{at}.input_layernorm.weight", HIDDEN)
        rows.bf16(f"{at}.post_attention_layernorm.weight", HIDDEN)
    rows.bf16("model.norm.weight", HIDDEN)
    rows.bf16("lm_head.weight", VOCAB, HIDDEN)
    return rows


def _config() -> dict[str, Json]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "attention_bias": False,
        "attention_dropout": 0.0,
        "bos_token_id": 128000,
        "eos_token_id": 128001,
        "hidden_act": "silu",
        "hidden_size": HIDDEN,
        "initializer_range": 0.02,
        "intermediate_size": INNER,
        "max_position_embeddings": 131072,
        "mlp_bias": False,
        "model_type": "llama",
        "num_attention_heads": 32,
        "num_hidden_layers": LAYERS,
        "num_key_value_heads": 8,
        "pretraining_tp": 1,
        "rms_norm_eps": 1e-05,
        "rope_scaling": {
            "factor": 8.0,
            "high_freq_factor": 4.0,
            "low_freq_factor": 1.0,
            "original_max_position_embeddings": 8192,
            "rope_type": "llama3",
        },
        "rope_theta": 500000.0,
        "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
        "transformers_version": "4.43.0.dev0",
        "use_cache": True,
        "vocab_size": VOCAB,
    }


def record() -> Recording:
    """Four shards and the original checkpoint as a pickle."""
    out = Recording(
        "meta-llama/Llama-3.1-8B",
        published=("parameters by the architecture: 8,030,261,248",),
        inferred=("commit; which tensors share a shard (5 GB, in order); original/; small files",),
        hub_safetensors={"parameters": {"BF16": 8_030_261_248}, "total": 8_030_261_248},
    )
    groups = greedy(_rows(), 5_000_000_000)
    files = dict(zip(shard_names(len(groups)), groups, strict=True))
    for path, rows in files.items():
        out.shard(path, sorted(rows), {"format": "pt"})
    out.index("model.safetensors.index.json", files, out.tensor_bytes, newline=True)
    out.check("shards", len(files), 4)
    out.check("parameters", out.tensor_bytes // 2, 8_030_261_248)
    out.json("config.json", _config())
    out.blank("original/consolidated.00.pth", 16_060_617_592, lfs=True)
    out.json("original/params.json", {"dim": HIDDEN, "n_layers": LAYERS, "n_heads": 32, "n_kv_heads": 8})
    out.blank("original/tokenizer.model", 2_183_982)
    plain.repo_files(out, licence="llama3.1", about="Llama-3.1-8B")
    plain.tokenizer(out, 9_085_658, length=131072)
    out.json("generation_config.json", {"bos_token_id": 128000, "eos_token_id": 128001})
    out.blank("USE_POLICY.md", 4_691)
    out.expected |= {
        "files": 4,
        "file_bytes": out.size(".safetensors"),
        "parameters": 8_030_261_248,
        "verdict": "no",
    }
    return out


def record_adapter() -> Recording:
    """A LoRA of rank 16 on all linear layers, with a training checkpoint beside it."""
    out = Recording(
        "example/llama-3.1-8b-lora",
        inferred=("everything: a repo in the shape that peft writes for this base",),
    )
    rows = Rows()
    for layer in range(LAYERS):
        for name, wide, inn in PROJECTIONS:
            at = f"base_model.model.model.layers.{layer}.{name}"
            rows.f32(f"{at}.lora_A.weight", RANK, inn)
            rows.f32(f"{at}.lora_B.weight", wide, RANK)
    out.shard("adapter_model.safetensors", sorted(rows), {"format": "pt"})
    out.json(
        "adapter_config.json",
        {
            "base_model_name_or_path": "meta-llama/Llama-3.1-8B",
            "bias": "none",
            "inference_mode": True,
            "lora_alpha": 32,
            "lora_dropout": 0.05,
            "modules_to_save": None,
            "peft_type": "LORA",
            "r": RANK,
            "target_modules": sorted(name.rpartition(".")[2] for name, _, _ in PROJECTIONS),
            "task_type": "CAUSAL_LM",
            "use_dora": False,
        },
    )
    out.shard("checkpoint-500/adapter_model.safetensors", sorted(rows), {"format": "pt"}, main=False)
    out.blank("checkpoint-500/optimizer.pt", 336_154_212, lfs=True)
    out.blank("checkpoint-500/rng_state.pth", 14_244, lfs=True)
    out.blank("checkpoint-500/scheduler.pt", 1_064, lfs=True)
    out.blank("training_args.bin", 5_368, lfs=True)
    plain.repo_files(out, licence="llama3.1", about="A LoRA adapter", base="meta-llama/Llama-3.1-8B")
    plain.tokenizer(out, 9_085_658, length=131072)
    # Per linear layer r * (in + out): 41,943,040 in all, the figure peft prints for this base at rank 16.
    out.check("parameters", out.tensor_bytes // 4, 41_943_040)
    out.expected |= {
        "files": 1,
        "file_bytes": out.size("adapter_model.safetensors", "adapter"),
        "parameters": 41_943_040,
        "base_model": "meta-llama/Llama-3.1-8B",
        "verdict": "no",
    }
    return out
