"""moonshotai/Kimi-K2.5: V3's layout with INT4 routed experts in I32 (compressed-tensors pack-quantized)."""

from __future__ import annotations

from scripts.layouts import plain
from scripts.layouts.deepseek_v3 import DENSE, HIDDEN, INNER, LAYERS, Layer, Shape, config
from scripts.layouts.recording import Json, Recording, shard_names
from scripts.layouts.tensors import Rows, Tensor, by_dtype

K2 = Shape(163840, 64, 384, 1)
GROUP = 32
UNKNOWN_VISION = 471_143_920
"""BF16 elements of vision tower and projector: what the Hub counts beyond the text model."""


def _packed(rows: Rows, base: str, out: int, inn: int) -> None:
    rows.add(f"{base}.weight_packed", "I32", out, inn // 8)
    rows.bf16(f"{base}.weight_scale", out, inn // GROUP)
    rows.add(f"{base}.weight_shape", "I32", 2)


def _layer(number: int) -> list[Tensor]:
    rows, at = Layer(fp8=False), f"language_model.model.layers.{number}"
    rows.norms_and_attention(at, K2.heads)
    if number < K2.dense_layers:
        rows.mlp(f"{at}.mlp", DENSE)
        return rows
    rows.router(at, K2.experts)
    rows.mlp(f"{at}.mlp.shared_experts", INNER)
    for expert in range(K2.experts):
        here = f"{at}.mlp.experts.{expert}"
        _packed(rows, f"{here}.gate_proj", INNER, HIDDEN)
        _packed(rows, f"{here}.up_proj", INNER, HIDDEN)
        _packed(rows, f"{here}.down_proj", HIDDEN, INNER)
    return rows


def _config() -> dict[str, Json]:
    weights = {
        "num_bits": 4,
        "type": "int",
        "symmetric": True,
        "strategy": "group",
        "group_size": GROUP,
        "dynamic": False,
        "actorder": None,
        "observer": "minmax",
    }
    group = {"targets": ["Linear"], "weights": weights, "input_activations": None, "output_activations": None}
    text = {
        "architectures": ["DeepseekV3ForCausalLM"],
        "model_type": "kimi_k2",
        **config(K2),
        "bos_token_id": 163584,
        "eos_token_id": 163585,
        "max_position_embeddings": 262144,
        "n_group": 1,
        "topk_group": 1,
        "num_nextn_predict_layers": 0,
        "rms_norm_eps": 1e-05,
        "rope_theta": 50000.0,
        "rope_scaling": {
            "beta_fast": 32.0,
            "beta_slow": 1.0,
            "factor": 64.0,
            "mscale": 1.0,
            "mscale_all_dim": 1.0,
            "original_max_position_embeddings": 4096,
            "type": "yarn",
        },
        "routed_scaling_factor": 2.827,
        "quantization_config": {
            "quant_method": "compressed-tensors",
            "format": "pack-quantized",
            "quantization_status": "compressed",
            "kv_cache_scheme": None,
            "config_groups": {"group_0": group},
            "ignore": [
                "lm_head",
                "re:.*self_attn.*",
                "re:.*shared_experts.*",
                "re:.*mlp\\.(gate|up|gate_up|down)_proj.*",
            ],
        },
    }
    vision = {
        "model_type": "kimi_k25_vision",
        "patch_size": 14,
        "vt_hidden_size": 1152,
        "vt_intermediate_size": 4304,
        "vt_num_attention_heads": 16,
        "vt_num_hidden_layers": 27,
        "merge_kernel_size": [2, 2],
        "text_hidden_size": HIDDEN,
    }
    return {
        "architectures": ["KimiK25ForConditionalGeneration"],
        "model_type": "kimi_k25",
        "dtype": "bfloat16",
        "bos_token_id": 163584,
        "eos_token_id": 163586,
        "pad_token_id": 163839,
        "ignore_index": -100,
        "media_placeholder_token_id": 163605,
        "tie_word_embeddings": False,
        "text_config": text,
        "vision_config": vision,
    }


def record() -> Recording:
    """The text model by layout, vision as one inferred tensor."""
    counts = {"I32": 1_014_686_023_680, "BF16": 12_193_329_648, "F32": 23_040}
    out = Recording(
        "moonshotai/Kimi-K2.5",
        published=("the Hub's counts by dtype, 1,026,879,376,368 in all; the storage scheme",),
        inferred=(
            "vision tower and projector: one tensor `vision_tower.inferred.weight` of the elements that remain",
            "commit; number of files and which tensors share one; config values; small files",
        ),
        hub_safetensors={"parameters": counts, "total": sum(counts.values())},
    )
    ends, vision = Rows(), Rows()
    ends.bf16("language_model.model.embed_tokens.weight", K2.vocab, HIDDEN)
    ends.bf16("language_model.model.norm.weight", HIDDEN)
    ends.bf16("language_model.lm_head.weight", K2.vocab, HIDDEN)
    vision.bf16("vision_tower.inferred.weight", UNKNOWN_VISION)
    groups = [*map(_layer, range(LAYERS)), list(ends), list(vision)]
    order = ("F32", "I32", "BF16")
    ordered = [by_dtype(sorted(g), order) for g in groups]
    files = dict(zip(shard_names(len(groups)), ordered, strict=True))
    for path, rows in files.items():
        out.shard(path, rows, {"format": "pt"})
    total = sum(t.nbytes for t in out.tensors)
    out.index("model.safetensors.index.json", files, total, newline=True)

    def elements(dtype: str, *, end: str = "", without: str = "\0") -> int:
        rows = (t for t in out.tensors if t.dtype == dtype and t.name.endswith(end))
        return sum(t.elements for t in rows if not t.name.endswith(without))

    out.check("I32 values", 8 * elements("I32", end="_packed"), counts["I32"])
    out.check("BF16 elements", elements("BF16", without="_scale"), counts["BF16"])
    out.check("F32 elements", elements("F32"), counts["F32"])
    out.json("config.json", _config())
    plain.repo_files(out, licence="other", about="Kimi-K2.5")
    out.blank("tiktoken.model", 2_795_286)
    out.json("tokenizer_config.json", {"model_max_length": 262144, "tokenizer_class": "TikTokenTokenizer"})
    out.json("generation_config.json", {"eos_token_id": 163586, "max_length": 262144})
    for name, size in (("configuration_kimi_k25.py", 4_703), ("modeling_kimi_k25.py", 51_206)):
        out.blank(name, size)
    out.expected |= {
        "files": len(files),
        "file_bytes": out.size(".safetensors"),
        "parameters": 1_026_879_376_368,
        "verdict": "yes",
    }
    return out
