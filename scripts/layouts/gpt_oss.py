"""openai/gpt-oss-20b and -120b: MXFP4 experts in U8 blocks and scales, with the twins that both repos ship."""

from __future__ import annotations

from scripts.layouts import plain
from scripts.layouts.recording import Json, Recording
from scripts.layouts.tensors import Rows, Tensor, greedy

HIDDEN, INNER, VOCAB, HEADS, KV_HEADS, HEAD = 2880, 2880, 201088, 64, 8, 64
BLOCKS = HIDDEN // 32


def _rows(layers: int, experts: int) -> list[Tensor]:
    rows = Rows()
    rows.bf16("model.embed_tokens.weight", VOCAB, HIDDEN)
    for layer in range(layers):
        at = f"model.layers.{layer}"
        attn, moe = f"{at}.self_attn", f"{at}.mlp.experts"
        rows.bf16(f"{at}.input_layernorm.weight", HIDDEN)
        rows.bf16(f"{at}.post_attention_layernorm.weight", HIDDEN)
        rows.bf16(f"{attn}.sinks", HEADS)
        for name, out, inn in (
            ("q_proj", HEADS * HEAD, HIDDEN),
            ("k_proj", KV_HEADS * HEAD, HIDDEN),
            ("v_proj", KV_HEADS * HEAD, HIDDEN),
            ("o_proj", HIDDEN, HEADS * HEAD),
        ):
            rows.bf16(f"{attn}.{name}.weight", out, inn)
            rows.bf16(f"{attn}.{name}.bias", out)
        rows.bf16(f"{at}.mlp.router.weight", experts, HIDDEN)
        rows.bf16(f"{at}.mlp.router.bias", experts)
        for name, out in (("gate_up_proj", 2 * INNER), ("down_proj", HIDDEN)):
            rows.add(f"{moe}.{name}_blocks", "U8", experts, out, BLOCKS, 16)
            rows.add(f"{moe}.{name}_scales", "U8", experts, out, BLOCKS)
            rows.bf16(f"{moe}.{name}_bias", experts, out)
    rows.bf16("model.norm.weight", HIDDEN)
    rows.bf16("lm_head.weight", VOCAB, HIDDEN)
    return rows


def _original(layers: int, experts: int) -> list[Tensor]:
    """The same weights as the training code names them: fused QKV, `block.N`."""
    rows = Rows()
    rows.bf16("embedding.weight", VOCAB, HIDDEN)
    for layer in range(layers):
        attn, mlp = f"block.{layer}.attn", f"block.{layer}.mlp"
        fused = (HEADS + 2 * KV_HEADS) * HEAD
        rows.bf16(f"{attn}.norm.scale", HIDDEN)
        rows.bf16(f"{attn}.sinks", HEADS)
        for name, out, inn in (("qkv", fused, HIDDEN), ("out", HIDDEN, HEADS * HEAD)):
            rows.bf16(f"{attn}.{name}.weight", out, inn)
            rows.bf16(f"{attn}.{name}.bias", out)
        rows.bf16(f"{mlp}.norm.scale", HIDDEN)
        rows.bf16(f"{mlp}.gate.weight", experts, HIDDEN)
        rows.bf16(f"{mlp}.gate.bias", experts)
        for name, out in (("mlp1", 2 * INNER), ("mlp2", HIDDEN)):
            rows.add(f"{mlp}.{name}_weight.blocks", "U8", experts, out, BLOCKS, 16)
            rows.add(f"{mlp}.{name}_weight.scales", "U8", experts, out, BLOCKS)
            rows.bf16(f"{mlp}.{name}_bias", experts, out)
    rows.bf16("norm.scale", HIDDEN)
    rows.bf16("unembedding.weight", VOCAB, HIDDEN)
    return rows


def _config(layers: int, experts: int) -> dict[str, Json]:
    return {
        "architectures": ["GptOssForCausalLM"],
        "attention_bias": True,
        "attention_dropout": 0.0,
        "eos_token_id": 200002,
        "experts_per_token": 4,
        "head_dim": HEAD,
        "hidden_act": "silu",
        "hidden_size": HIDDEN,
        "initial_context_length": 4096,
        "initializer_range": 0.02,
        "intermediate_size": INNER,
        "layer_types": ["sliding_attention", "full_attention"] * (layers // 2),
        "max_position_embeddings": 131072,
        "model_type": "gpt_oss",
        "num_attention_heads": HEADS,
        "num_experts_per_tok": 4,
        "num_hidden_layers": layers,
        "num_key_value_heads": KV_HEADS,
        "num_local_experts": experts,
        "output_router_logits": False,
        "pad_token_id": 199999,
        "quantization_config": {
            "modules_to_not_convert": [
                "model.layers.*.self_attn",
                "model.layers.*.mlp.router",
                "model.embed_tokens",
                "lm_head",
            ],
            "quant_method": "mxfp4",
        },
        "rms_norm_eps": 1e-05,
        "rope_scaling": {
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "factor": 32.0,
            "original_max_position_embeddings": 4096,
            "rope_type": "yarn",
            "truncate": False,
        },
        "rope_theta": 150000,
        "router_aux_loss_coef": 0.9,
        "sliding_window": 128,
        "swiglu_limit": 7.0,
        "tie_word_embeddings": False,
        "transformers_version": "4.55.0.dev0",
        "use_cache": True,
        "vocab_size": VOCAB,
    }


def _original_config(layers: int, experts: int) -> dict[str, Json]:
    return {
        "num_hidden_layers": layers,
        "num_experts": experts,
        "experts_per_token": 4,
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "intermediate_size": INNER,
        "swiglu_limit": 7.0,
        "head_dim": HEAD,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "sliding_window": 128,
        "initial_context_length": 4096,
        "rope_theta": 150000,
        "rope_scaling_factor": 32.0,
        "rope_ntk_alpha": 1,
        "rope_ntk_beta": 32,
    }


def _record(out: Recording, layers: int, experts: int, limit: int, originals: int, metal: int) -> None:
    groups = greedy(sorted(_rows(layers, experts)), limit)
    last = len(groups) - 1
    files = {f"model-{i:05d}-of-{last:05d}.safetensors": g for i, g in enumerate(groups)}
    for path, rows in files.items():
        out.shard(path, _stored_order(rows))
    total = sum(t.nbytes for t in out.tensors)
    out.index("model.safetensors.index.json", files, total, newline=True)
    out.expected |= {"files": len(files), "file_bytes": out.size(".safetensors"), "verdict": "yes"}
    twin = _original(layers, experts)
    if originals == 1:
        out.shard("original/model.safetensors", _stored_order(twin), main=False)
    else:
        parts = greedy(twin, -(-total // originals))
        for number, rows in enumerate(parts, 1):
            path = f"original/model--{number:05d}-of-{len(parts):05d}.safetensors"
            out.shard(path, _stored_order(rows), main=False)
    out.json("original/config.json", _original_config(layers, experts))
    out.json("original/dtypes.json", {t.name: "FP4" if t.dtype == "U8" else "BF16" for t in twin})
    out.blank("metal/model.bin", metal, lfs=True)
    out.json("config.json", _config(layers, experts))
    plain.repo_files(out, licence="apache-2.0", about=out.repo.partition("/")[2])
    plain.tokenizer(out, 27_868_174, length=131072, lfs=True)
    out.json("generation_config.json", {"bos_token_id": 199998, "do_sample": True, "eos_token_id": [200002, 199999]})
    out.blank("chat_template.jinja", 16_738)
    out.blank("USAGE_POLICY", 200)
    out.expected["original_bytes"] = out.size(".safetensors", "original/")


def _stored_order(rows: list[Tensor]) -> list[Tensor]:
    return sorted(rows, key=lambda t: (t.dtype != "BF16", t.name))


_TWINS = (
    "original/ and metal/: names and sizes (the layout of the training code, total from the tensors)",
    "which tensors share a shard; small files",
)


def record_20b() -> Recording:
    """24 layers of 32 experts."""
    out = Recording(
        "openai/gpt-oss-20b",
        commit="bbf09307421df45099c1e7dcbd64e3106ce5b403",
        published=("459 tensors, total_size, 3 shards, the Hub's counts; commit",),
        inferred=_TWINS,
        hub_safetensors={
            "parameters": {"BF16": 1_804_459_584, "U8": 19_110_297_600},
            "total": 20_914_757_184,
        },
    )
    _record(out, 24, 32, 5_000_000_000, 1, 13_750_886_400)
    out.check("tensors", len(out.tensors), 459)
    out.check("total_size", out.tensor_bytes, 13_761_264_768)
    out.check("shards", out.expected["files"], 3)
    out.expected["parameters"] = 20_914_757_184
    return out


def record_120b() -> Recording:
    """36 layers of 128 experts."""
    out = Recording(
        "openai/gpt-oss-120b",
        published=("687 tensors, total_size, 15 shards, sum of their files, the Hub's counts",),
        inferred=(
            "commit",
            "each file's header: together 192 bytes longer than the published sum of the files allows",
            *_TWINS,
        ),
        hub_safetensors={
            "parameters": {"BF16": 2_167_371_072, "U8": 114_661_785_600},
            "total": 116_829_156_672,
        },
    )
    _record(out, 36, 128, 4_620_000_000, 7, 65_238_253_568)
    out.check("tensors", len(out.tensors), 687)
    out.check("total_size", out.tensor_bytes, 65_248_815_744)
    out.check("shards", out.expected["files"], 15)
    out.check("bytes beyond the published sum of files", out.expected["file_bytes"] - 65_248_893_184, 192)
    out.expected["parameters"] = 116_829_156_672
    return out
