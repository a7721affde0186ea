"""deepseek-ai/DeepSeek-V3, and the parts of its layout that Kimi-K2 shares."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass

from scripts.layouts import plain
from scripts.layouts.recording import Json, Recording
from scripts.layouts.tensors import Rows, Tensor, by_dtype, greedy, header

HIDDEN, QUERY_RANK, KV_RANK, ROPE, NOPE, VALUE, DENSE, INNER = 7168, 1536, 512, 64, 128, 128, 18432, 2048
LAYERS = 61


@dataclass(frozen=True)
class Shape:
    """What tells the releases apart."""

    vocab: int
    heads: int
    experts: int
    dense_layers: int


V3 = Shape(129280, 128, 256, 3)


class Layer(Rows):
    """Tensors of one layer; a linear is FP8 with F32 scales per 128 x 128, or BF16."""

    def __init__(self, *, fp8: bool) -> None:
        super().__init__()
        self._fp8 = fp8

    def linear(self, base: str, out: int, inn: int) -> None:
        """One linear layer."""
        if self._fp8:
            self.tiled(base, out, inn, tile=128, scale="weight_scale_inv", scale_dtype="F32")
        else:
            self.bf16(f"{base}.weight", out, inn)

    def mlp(self, base: str, inner: int) -> None:
        """A gated feed-forward layer."""
        self.linear(f"{base}.gate_proj", inner, HIDDEN)
        self.linear(f"{base}.up_proj", inner, HIDDEN)
        self.linear(f"{base}.down_proj", HIDDEN, inner)

    def norms_and_attention(self, at: str, heads: int) -> None:
        """Both norms and multi-head latent attention."""
        self.bf16(f"{at}.input_layernorm.weight", HIDDEN)
        self.bf16(f"{at}.post_attention_layernorm.weight", HIDDEN)
        attn = f"{at}.self_attn"
        self.linear(f"{attn}.q_a_proj", QUERY_RANK, HIDDEN)
        self.bf16(f"{attn}.q_a_layernorm.weight", QUERY_RANK)
        self.linear(f"{attn}.q_b_proj", heads * (NOPE + ROPE), QUERY_RANK)
        self.linear(f"{attn}.kv_a_proj_with_mqa", KV_RANK + ROPE, HIDDEN)
        self.bf16(f"{attn}.kv_a_layernorm.weight", KV_RANK)
        self.linear(f"{attn}.kv_b_proj", heads * (NOPE + VALUE), KV_RANK)
        self.linear(f"{attn}.o_proj", HIDDEN, heads * VALUE)

    def router(self, at: str, experts: int) -> None:
        """The gate with its F32 correction bias."""
        self.bf16(f"{at}.mlp.gate.weight", experts, HIDDEN)
        self.f32(f"{at}.mlp.gate.e_score_correction_bias", experts)


def _rows() -> list[Tensor]:
    ends = Rows()
    ends.bf16("model.embed_tokens.weight", V3.vocab, HIDDEN)
    out: list[Tensor] = list(ends)
    for number in range(LAYERS + 1):
        layer, at = Layer(fp8=True), f"model.layers.{number}"
        layer.norms_and_attention(at, V3.heads)
        if number < V3.dense_layers:
            layer.mlp(f"{at}.mlp", DENSE)
        else:
            layer.router(at, V3.experts)
            for expert in range(V3.experts):
                layer.mlp(f"{at}.mlp.experts.{expert}", INNER)
            layer.mlp(f"{at}.mlp.shared_experts", INNER)
        if number == LAYERS:
            for name in ("enorm", "hnorm", "shared_head.norm"):
                layer.bf16(f"{at}.{name}.weight", HIDDEN)
            layer.bf16(f"{at}.eh_proj.weight", HIDDEN, 2 * HIDDEN)
            layer.bf16(f"{at}.shared_head.head.weight", V3.vocab, HIDDEN)
            layer.bf16(f"{at}.embed_tokens.weight", V3.vocab, HIDDEN)
        out += layer
    tail = Rows()
    tail.bf16("model.norm.weight", HIDDEN)
    tail.bf16("lm_head.weight", V3.vocab, HIDDEN)
    return out + list(tail)


def config(shape: Shape) -> dict[str, Json]:
    """The fields that V3 and its relatives share."""
    return {
        "attention_bias": False,
        "attention_dropout": 0.0,
        "ep_size": 1,
        "first_k_dense_replace": shape.dense_layers,
        "hidden_act": "silu",
        "hidden_size": HIDDEN,
        "initializer_range": 0.02,
        "intermediate_size": DENSE,
        "kv_lora_rank": KV_RANK,
        "moe_intermediate_size": INNER,
        "moe_layer_freq": 1,
        "n_routed_experts": shape.experts,
        "n_shared_experts": 1,
        "norm_topk_prob": True,
        "num_attention_heads": shape.heads,
        "num_experts_per_tok": 8,
        "num_hidden_layers": LAYERS,
        "num_key_value_heads": shape.heads,
        "q_lora_rank": QUERY_RANK,
        "qk_nope_head_dim": NOPE,
        "qk_rope_head_dim": ROPE,
        "scoring_func": "sigmoid",
        "tie_word_embeddings": False,
        "topk_method": "noaux_tc",
        "torch_dtype": "bfloat16",
        "use_cache": True,
        "v_head_dim": VALUE,
        "vocab_size": shape.vocab,
    }


def _config() -> dict[str, Json]:
    return {
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "deepseek_v3",
        **config(V3),
        "bos_token_id": 0,
        "eos_token_id": 1,
        "max_position_embeddings": 163840,
        "n_group": 8,
        "topk_group": 4,
        "num_nextn_predict_layers": 1,
        "quantization_config": {
            "activation_scheme": "dynamic",
            "fmt": "e4m3",
            "quant_method": "fp8",
            "weight_block_size": [128, 128],
        },
        "rms_norm_eps": 1e-06,
        "rope_scaling": {
            "beta_fast": 32,
            "beta_slow": 1,
            "factor": 40,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 4096,
            "type": "yarn",
        },
        "rope_theta": 10000,
        "routed_scaling_factor": 2.5,
        "transformers_version": "4.33.1",
    }


def record() -> Recording:
    """163 shards; the index claims nearly twice the bytes there are."""
    out = Recording(
        "deepseek-ai/DeepSeek-V3",
        published=(
            "91,991 tensors, tensor bytes, counts by dtype, sum of the weight files, wrong total_size of the index",
        ),
        inferred=(
            "commit; names of the 163 files; which tensors share one (filled in order, to 163 files)",
            "spaces after the first shard's header: they make the sum of the files the published one",
            "small files",
        ),
        hub_safetensors={
            "parameters": {"BF16": 3_918_786_560, "F8_E4M3": 680_571_043_840, "F32": 41_555_600},
            "total": 684_531_386_000,
        },
    )
    rows = _rows()
    groups = greedy(rows, LIMIT)
    out.check("shards", len(groups), 163)
    names = [f"model-{i:05d}-of-000163.safetensors" for i in range(1, 164)]
    files = {n: by_dtype(g, ("F32", "BF16", "F8_E4M3")) for n, g in zip(names, groups, strict=True)}
    headers = {n: header(g) for n, g in files.items()}
    spaces = 688_586_727_753 - sum(len(h) + d for h, d in headers.values())
    for name, (head, data) in headers.items():
        if name == names[0]:
            text = head[8:] + b" " * spaces
            head = struct.pack("<Q", len(text)) + text
        out.blank(name, len(head) + data, lfs=True, stored=head, size_inferred=True)
    out.tensors += rows
    total = sum(t.nbytes for t in rows)
    weight_map = {t.name: n for n, g in files.items() for t in g}
    wrong = {"metadata": {"total_size": 1_369_062_772_000}, "weight_map": weight_map}
    out.text("model.safetensors.index.json", json.dumps(wrong, indent=2) + "\n")
    out.check("tensors", len(rows), 91_991)
    out.check("tensor bytes", total, 688_574_839_360)
    for dtype, elements in out.hub_safetensors["parameters"].items():
        out.check(f"{dtype} elements", sum(t.elements for t in rows if t.dtype == dtype), elements)
    out.check("weight files", out.size(".safetensors"), 688_586_727_753)
    out.json("config.json", _config())
    plain.repo_files(out, licence="mit", about="DeepSeek-V3")
    plain.tokenizer(out, 7_847_602, length=131072)
    for name, size in (("configuration_deepseek.py", 10_556), ("modeling_deepseek.py", 75_769)):
        out.blank(name, size)
    for name in ("fp8_cast_bf16.py", "convert.py", "generate.py", "kernel.py", "model.py"):
        out.blank(f"inference/{name}", 4_096)
    out.expected |= {
        "files": 163,
        "file_bytes": 688_586_727_753,
        "parameters": 684_489_845_504,
        "index_total_size": 1_369_062_772_000,
        "verdict": "yes",
    }
    return out


LIMIT = 4_250_000_000
"""Bytes per shard that give 163 shards when filled in order."""
