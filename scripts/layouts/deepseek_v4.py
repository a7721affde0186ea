"""deepseek-ai/DeepSeek-V4-Flash-0731 and -V4-Pro: FP8 in 128x128 tiles, FP4 routed experts, compressed KV."""

from __future__ import annotations

from scripts.layouts import plain
from scripts.layouts.deepseek_v4_shape import (
    FLASH,
    HASHED,
    HEAD,
    INDEX_DIM,
    INDEX_HEADS,
    PRO,
    RANK,
    VOCAB,
    Shape,
    config,
)
from scripts.layouts.recording import Recording, shard_names
from scripts.layouts.tensors import Rows, Tensor, by_dtype

DTYPE_ORDER = ("I64", "F32", "BF16", "F8_E8M0", "F8_E4M3", "I8")


class Shard(Rows):
    """Tensors of one shard."""

    def fp8(self, base: str, out: int, inn: int) -> None:
        """A dense linear: one E8M0 scale per 128 x 128."""
        self.tiled(base, out, inn, tile=128, scale="scale", scale_dtype="F8_E8M0")

    def mixing(self, at: str, hidden: int) -> None:
        """The three hyper-connection tensors that end a stack."""
        self.f32(f"{at}hc_head_fn", 4, 4 * hidden)
        self.f32(f"{at}hc_head_base", 4)
        self.f32(f"{at}hc_head_scale", 1)


def _block(rows: Shard, at: str, s: Shape, *, hashed: bool) -> None:
    h = s.hidden
    for side in ("attn", "ffn"):
        rows.bf16(f"{at}.{side}_norm.weight", h)
        rows.f32(f"{at}.hc_{side}_fn", 24, 4 * h)
        rows.f32(f"{at}.hc_{side}_base", 24)
        rows.f32(f"{at}.hc_{side}_scale", 3)
    attn, ffn = f"{at}.attn", f"{at}.ffn"
    rows.f32(f"{attn}.attn_sink", s.heads)
    rows.bf16(f"{attn}.q_norm.weight", s.query_rank)
    rows.bf16(f"{attn}.kv_norm.weight", HEAD)
    rows.fp8(f"{attn}.wq_a", s.query_rank, h)
    rows.fp8(f"{attn}.wq_b", s.heads * HEAD, s.query_rank)
    rows.fp8(f"{attn}.wkv", HEAD, h)
    rows.fp8(f"{attn}.wo_a", s.groups * RANK, s.heads * HEAD // s.groups)
    rows.fp8(f"{attn}.wo_b", h, s.groups * RANK)
    rows.bf16(f"{ffn}.gate.weight", s.experts, h)
    if hashed:
        rows.add(f"{ffn}.gate.tid2eid", "I64", VOCAB, 6)
    else:
        rows.f32(f"{ffn}.gate.bias", s.experts)
    for name, out, inn in (("w1", s.inner, h), ("w2", h, s.inner), ("w3", s.inner, h)):
        rows.fp8(f"{ffn}.shared_experts.{name}", out, inn)
        for expert in range(s.experts):
            rows.packed_fp4(f"{ffn}.experts.{expert}.{name}", out, inn)


def _compressor(rows: Shard, at: str, ratio: int, dim: int, hidden: int) -> None:
    width = dim * (2 if ratio == 4 else 1)
    rows.f32(f"{at}.ape", ratio, width)
    rows.bf16(f"{at}.wkv.weight", width, hidden)
    rows.bf16(f"{at}.wgate.weight", width, hidden)
    rows.bf16(f"{at}.norm.weight", dim)


def _layer(layer: int, s: Shape) -> Shard:
    rows, attn = Shard(), f"layers.{layer}.attn"
    _block(rows, f"layers.{layer}", s, hashed=layer < HASHED)
    ratio = s.ratios[layer]
    if ratio:
        _compressor(rows, f"{attn}.compressor", ratio, HEAD, s.hidden)
    if ratio == 4:
        rows.fp8(f"{attn}.indexer.wq_b", INDEX_HEADS * INDEX_DIM, s.query_rank)
        rows.bf16(f"{attn}.indexer.weights_proj.weight", INDEX_HEADS, s.hidden)
        _compressor(rows, f"{attn}.indexer.compressor", ratio, INDEX_DIM, s.hidden)
    return rows


def _stage(stage: int, s: Shape) -> Shard:
    rows, at, h = Shard(), f"mtp.{stage}", s.hidden
    _block(rows, at, s, hashed=False)
    if s.dspark and stage == 0:
        rows.bf16(f"{at}.main_norm.weight", h)
        rows.fp8(f"{at}.main_proj", h, 3 * h)
    if s.dspark and stage == s.stages - 1:
        rows.bf16(f"{at}.norm.weight", h)
        rows.bf16(f"{at}.markov_head.markov_w1.weight", VOCAB, 256)
        rows.bf16(f"{at}.markov_head.markov_w2.weight", VOCAB, 256)
        rows.bf16(f"{at}.confidence_head.proj.weight", 1, h + 256)
        rows.mixing(f"{at}.", h)
    if not s.dspark:
        rows.fp8(f"{at}.e_proj", h, h)
        rows.fp8(f"{at}.h_proj", h, h)
        for name in ("enorm", "hnorm", "norm"):
            rows.bf16(f"{at}.{name}.weight", h)
        rows.mixing(f"{at}.", h)
    return rows


def shards(s: Shape) -> dict[str, list[Tensor]]:
    """One file per layer and stage, one each for the embedding and the head."""
    first, last = Shard(), Shard()
    first.bf16("embed.weight", VOCAB, s.hidden)
    last.bf16("norm.weight", s.hidden)
    last.bf16("head.weight", VOCAB, s.hidden)
    last.mixing("", s.hidden)
    rows = [first, *(_layer(i, s) for i in range(s.layers)), last, *(_stage(i, s) for i in range(s.stages))]
    ordered = [by_dtype(sorted(r), DTYPE_ORDER) for r in rows]
    return dict(zip(shard_names(len(ordered)), ordered, strict=True))


def _record(out: Recording, s: Shape) -> int:
    files = shards(s)
    for path, rows in files.items():
        out.shard(path, rows)
    total = sum(t.nbytes for t in out.tensors)
    out.index("model.safetensors.index.json", files, total, newline=False)
    out.json("config.json", config(s))
    plain.repo_files(out, licence="mit", about=out.repo.partition("/")[2])
    plain.tokenizer(out, 6_367_146, length=1048576)
    out.json("generation_config.json", {"_from_model_config": True, "bos_token_id": 0, "eos_token_id": 1})
    out.blank("inference/model.py", 41_210)
    out.expected |= {"files": len(files), "file_bytes": out.size(".safetensors"), "verdict": "yes"}
    return total


def record_flash() -> Recording:
    """V4-Flash-0731, with its three DSpark stages."""
    out = Recording(
        "deepseek-ai/DeepSeek-V4-Flash-0731",
        commit="7872f01b1d1fe23eabc4c98b48bffcef5a386062",
        published=(
            "72,317 tensors (4,705 of them mtp), total_size, 48 shards and their sum, index length",
            "the Hub's counts by dtype; commit",
        ),
        inferred=("which tensors share a shard", "config values outside the V4-Flash release", "small files"),
        hub_safetensors={
            "parameters": {
                "BF16": 1_483_567_488,
                "I64": 2_327_040,
                "F32": 37_741_630,
                "F8_E4M3": 6_304_038_912,
                "I8": 296_352_743_424,
            },
            "total": 304_180_418_494,
        },
    )
    total = _record(out, FLASH)
    out.check("tensors", len(out.tensors), 72_317)
    out.check("mtp tensors", sum(t.name.startswith("mtp.") for t in out.tensors), 4_705)
    out.check("total_size", total, 166_878_536_440)
    out.check("weight files", out.size(".safetensors"), 166_886_535_336)
    out.check("index bytes", len(out.stored("model.safetensors.index.json")), 5_602_871)
    return out


def record_pro() -> Recording:
    """V4-Pro, with one plain draft stage."""
    out = Recording(
        "deepseek-ai/DeepSeek-V4-Pro",
        published=("tensor bytes and parameters; counts by dtype",),
        inferred=(
            "commit; number of files and which tensors share one; names of the draft stage's own tensors",
            "config values other than those that fix shapes; small files",
        ),
    )
    total = _record(out, PRO)
    out.check("tensors", len(out.tensors), 145_116)
    out.check("total_size", total, 864_704_792_696)
    counts = {"BF16": 2_816_899_328, "F8_E4M3": 23_169_335_296, "I8": 786_381_668_352, "F32": 87_776_414}
    for dtype, elements in counts.items():
        out.check(f"{dtype} elements", sum(t.elements for t in out.tensors if t.dtype == dtype), elements)
    out.expected["parameters"] = 1_598_837_347_742
    return out
