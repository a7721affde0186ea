"""zai-org/GLM-5.3-Flash (FP8 in 128x128 tiles) and zai-org/GLM-5.3-Flash-BF16."""

from __future__ import annotations

from scripts.layouts import plain
from scripts.layouts.glm53_config import (
    DENSE_INNER,
    EXPERT_INNER,
    EXPERTS,
    HEADS,
    HIDDEN,
    LAYERS,
    VOCAB,
    config,
    sparse,
)
from scripts.layouts.glm53_published import FP8_FILES
from scripts.layouts.recording import Json, Recording, shard_names
from scripts.layouts.tensors import Rows, Tensor, by_dtype, greedy

PREFIX = "model.language_model"
DTYPE_ORDER = ("F32", "BF16", "F8_E4M3")
LIMIT = 5 * 2**30


class Layout(Rows):
    """All tensors of one release."""

    def __init__(self, *, fp8: bool) -> None:
        super().__init__()
        self._fp8 = fp8
        self.bf16(f"{PREFIX}.embed_tokens.weight", VOCAB, HIDDEN)
        for layer in range(LAYERS + 1):
            self._layer(layer)
        self.bf16(f"{PREFIX}.norm.weight", HIDDEN)
        self.bf16("lm_head.weight", VOCAB, HIDDEN)
        self._vision()

    def linear(self, base: str, out: int, inn: int) -> None:
        """A linear that the FP8 release quantises."""
        if self._fp8:
            self.tiled(base, out, inn, tile=128, scale="weight_scale_inv", scale_dtype="F32")
        else:
            self.bf16(f"{base}.weight", out, inn)

    def mlp(self, base: str, inner: int) -> None:
        """A gated feed-forward layer."""
        self.linear(f"{base}.gate_proj", inner, HIDDEN)
        self.linear(f"{base}.up_proj", inner, HIDDEN)
        self.linear(f"{base}.down_proj", HIDDEN, inner)

    def _layer(self, layer: int) -> None:
        at = f"{PREFIX}.layers.{layer}"
        self.bf16(f"{at}.input_layernorm.weight", HIDDEN)
        self.bf16(f"{at}.post_attention_layernorm.weight", HIDDEN)
        if sparse(layer):
            self._latent(f"{at}.self_attn")
        else:
            self._delta(f"{at}.self_attn")
        if layer < LAYERS:
            for side in ("attn", "ffn"):
                self.bf16(f"{at}.hc_{side}_fn", 24, 4 * HIDDEN)
                self.f32(f"{at}.hc_{side}_base", 24)
                self.f32(f"{at}.hc_{side}_scale", 3)
        else:
            self.bf16(f"{at}.eh_proj.weight", HIDDEN, 2 * HIDDEN)
            for name in ("enorm", "hnorm", "shared_head.norm"):
                self.bf16(f"{at}.{name}.weight", HIDDEN)
        if layer < 3:
            self.mlp(f"{at}.mlp", DENSE_INNER)
            return
        self.bf16(f"{at}.mlp.gate.weight", EXPERTS, HIDDEN)
        self.f32(f"{at}.mlp.gate.e_score_correction_bias", EXPERTS)
        self.mlp(f"{at}.mlp.shared_experts", EXPERT_INNER)
        for expert in range(EXPERTS):
            self.mlp(f"{at}.mlp.experts.{expert}", EXPERT_INNER)

    def _latent(self, at: str) -> None:
        self.linear(f"{at}.q_a_proj", 1536, HIDDEN)
        self.linear(f"{at}.q_b_proj", HEADS * 256, 1536)
        self.linear(f"{at}.kv_a_proj_with_mqa", 512, HIDDEN)
        self.linear(f"{at}.o_proj", HIDDEN, HEADS * 256)
        for name, *shape in (
            ("q_a_layernorm.weight", 1536),
            ("kv_a_layernorm.weight", 512),
            ("kv_b_proj.weight", HEADS * 512, 512),
            ("indexer.wq_b.weight", 32 * 128, 1536),
            ("indexer.wk.weight", 128, HIDDEN),
            ("indexer.weights_proj.weight", 32, HIDDEN),
            ("indexer.k_norm.weight", 128),
            ("indexer.k_norm.bias", 128),
            ("indexer.index_kpool_compress_ape", 4, 128),
            ("indexer.index_kpool_compress_gate", 128, HIDDEN),
        ):
            self.bf16(f"{at}.{name}", *shape)

    def _delta(self, at: str) -> None:
        """Kimi-style delta attention: never quantised."""
        width = HEADS * 128
        for name in "qkv":
            self.bf16(f"{at}.{name}_proj.weight", width, HIDDEN)
            self.bf16(f"{at}.{name}_conv1d.weight", width, 1, 4)
        for name in "fg":
            self.bf16(f"{at}.{name}_a_proj.weight", 128, HIDDEN)
            self.bf16(f"{at}.{name}_b_proj.weight", width, 128)
        self.bf16(f"{at}.b_proj.weight", HEADS, HIDDEN)
        self.f32(f"{at}.A_log", HEADS)
        self.f32(f"{at}.dt_bias", width)
        self.bf16(f"{at}.o_norm.weight", 128)
        self.bf16(f"{at}.o_proj.weight", HIDDEN, width)

    def _vision(self) -> None:
        width, inner, out, projected = 1024, 4096, HIDDEN, 10240
        block: tuple[tuple[str, tuple[int, ...]], ...] = (
            ("norm1.weight", (width,)),
            ("norm2.weight", (width,)),
            ("attn.q_norm.weight", (64,)),
            ("attn.k_norm.weight", (64,)),
            ("attn.qkv.weight", (3 * width, width)),
            ("attn.qkv.bias", (3 * width,)),
            ("attn.proj.weight", (width, width)),
            ("attn.proj.bias", (width,)),
            ("mlp.gate_proj.weight", (inner, width)),
            ("mlp.gate_proj.bias", (inner,)),
            ("mlp.up_proj.weight", (inner, width)),
            ("mlp.up_proj.bias", (inner,)),
            ("mlp.down_proj.weight", (width, inner)),
            ("mlp.down_proj.bias", (width,)),
        )
        ends: tuple[tuple[str, tuple[int, ...]], ...] = (
            ("patch_embed.proj.weight", (width, 3, 2, 14, 14)),
            ("patch_embed.proj.bias", (width,)),
            ("post_layernorm.weight", (width,)),
            ("downsample.weight", (out, width, 2, 2)),
            ("downsample.bias", (out,)),
            ("merger.proj.weight", (out, out)),
            ("merger.post_projection_norm.weight", (out,)),
            ("merger.post_projection_norm.bias", (out,)),
            ("merger.gate_proj.weight", (projected, out)),
            ("merger.up_proj.weight", (projected, out)),
            ("merger.down_proj.weight", (out, projected)),
        )
        for name, shape in ends:
            self.bf16(f"model.visual.{name}", *shape)
        for number in range(24):
            for name, shape in block:
                self.bf16(f"model.visual.blocks.{number}.{name}", *shape)


def _fp8_order(tensor: Tensor) -> tuple[int, str]:
    """Head and embedding, then the draft layer, then names as strings."""
    first = tensor.name in ("lm_head.weight", f"{PREFIX}.embed_tokens.weight")
    draft = tensor.name.startswith(f"{PREFIX}.layers.{LAYERS}.")
    return (0 if first else 1 if draft else 2), tensor.name


def _quantised(rows: list[Tensor]) -> dict[str, Json]:
    whole = {t.name.rpartition(".")[0] for t in rows if t.dtype == "F8_E4M3"}
    bases = {t.name.removesuffix(".weight").removesuffix(".bias") for t in rows if t.dtype != "F8_E4M3"}
    left = sorted(b for b in bases if b.removesuffix(".weight_scale_inv") not in whole)
    return {
        "quant_method": "fp8",
        "fmt": "e4m3",
        "activation_scheme": "dynamic",
        "weight_block_size": [128, 128],
        "modules_to_not_convert": left,
    }


def _record(out: Recording, *, fp8: bool) -> int:
    layout = Layout(fp8=fp8)
    groups = greedy(sorted(layout, key=_fp8_order if fp8 else None), LIMIT)
    names = shard_names(len(groups))
    for name, group in zip(names, groups, strict=True):
        out.shard(name, by_dtype(group, DTYPE_ORDER))
    total = sum(t.nbytes for t in out.tensors)
    index = "model.safetensors.index.json"
    out.index(index, dict(zip(names, groups, strict=True)), total, newline=fp8)
    out.json("config.json", config(_quantised(layout) if fp8 else None))
    plain.repo_files(out, licence="mit", about=out.repo.partition("/")[2])
    plain.tokenizer(out, 20_217_442, length=1048576, lfs=True)
    out.json("generation_config.json", {"_from_model_config": True, "eos_token_id": [154820, 154827]})
    out.json("preprocessor_config.json", {"patch_size": 14, "temporal_patch_size": 2, "merge_size": 2})
    out.expected |= {"files": len(groups), "file_bytes": out.size(".safetensors")}
    return total


def record_fp8() -> Recording:
    """The plain name is the FP8 release."""
    counts = {"F8_E4M3": 314_396_639_232, "BF16": 6_926_096_640, "F32": 295_518}
    out = Recording(
        "zai-org/GLM-5.3-Flash",
        published=(
            "index (sha256), 76,108 tensors, total_size, each of the 62 file sizes and their sum",
            "the Hub's counts by dtype",
        ),
        inferred=(
            "commit (published ones are known by their first eight digits only)",
            "config: order of keys, modules_to_not_convert (written from the layout), values not stated anywhere",
            "small files; the repo's 72 files and 328,366,172,315 bytes are not reproduced",
        ),
        hub_safetensors={"parameters": counts, "total": sum(counts.values())},
    )
    total = _record(out, fp8=True)
    names = shard_names(62)
    out.check("tensors", len(out.tensors), 76_108)
    out.check("total_size", total, 328_326_771_576)
    out.check("file sizes", tuple(out.size(n) for n in names), FP8_FILES)
    out.check("weight files", out.size(".safetensors"), 328_337_455_672)
    out.sha256(
        "index",
        out.stored("model.safetensors.index.json"),
        "3c3f40366a53c3fd7974b4eab7881a365a98c2a4329150befebab99fe7c18b05",
    )
    out.expected |= {"parameters": 321_323_031_390, "verdict": "yes"}
    return out


def record_bf16() -> Recording:
    """The same model unquantised."""
    out = Recording(
        "zai-org/GLM-5.3-Flash-BF16",
        published=("index (sha256), 38,770 tensors, total_size, 120 shards, size of shard 115",),
        inferred=(
            "commit; which tensors are F32 (from the total); sizes of the shards other than 115",
            "config: order of keys and values not stated anywhere; small files",
        ),
    )
    total = _record(out, fp8=False)
    out.check("tensors", len(out.tensors), 38_770)
    out.check("total_size", total, 642_646_653_816)
    out.check("shard 115", out.size(shard_names(120)[114]), 5_366_143_376)
    out.sha256(
        "index",
        out.stored("model.safetensors.index.json"),
        "e6007bd58fb7e07f9fe69544257ee2713f252ef5855bbf685b48c991d524ef0f",
    )
    out.expected |= {"parameters": 321_323_031_390, "verdict": "no"}
    return out
