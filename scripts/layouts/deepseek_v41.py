"""deepseek-ai/DeepSeek-V4.1-Flash: FP8 in 32x32 tiles, FP4 routed experts, Engram tables, DSpark draft, vision."""

from __future__ import annotations

import json

from scripts.layouts import plain
from scripts.layouts.deepseek_v41_config import CONFIG, TEXT
from scripts.layouts.recording import Recording, shard_names
from scripts.layouts.tensors import Rows, Tensor, by_dtype

DTYPE_ORDER = ("F32", "BF16", "F8_E8M0", "F8_E4M3", "I8")
H, M, KV, Q = 5120, 2304, 512, 1280
VOCAB, LAYERS, STAGES = 129280, 40, 3


class Shard(Rows):
    """Tensors of one shard."""

    def fp8(self, base: str, out: int, inn: int) -> None:
        """A dense linear: one E8M0 scale per 32 x 32."""
        self.tiled(base, out, inn, tile=32, scale="scale", scale_dtype="F8_E8M0")


def _block(rows: Shard, at: str, experts: int) -> None:
    """What a backbone layer and a draft stage share."""
    for side in ("attn", "ffn"):
        rows.bf16(f"{at}.{side}_norm.weight", H)
        rows.f32(f"{at}.hc_{side}_fn", 24, 4 * H)
        rows.f32(f"{at}.hc_{side}_base", 24)
        rows.f32(f"{at}.hc_{side}_scale", 3)
    attn, ffn = f"{at}.attn", f"{at}.ffn"
    rows.f32(f"{attn}.attn_sink", 64)
    rows.bf16(f"{attn}.q_norm.weight", Q)
    rows.bf16(f"{attn}.kv_norm.weight", KV)
    for name, out, inn in (
        ("wq_a", Q, H),
        ("wq_b", 64 * KV, Q),
        ("wkv", KV, H),
        ("wo_a", 8192, 4096),
        ("wo_b", H, 8192),
    ):
        rows.fp8(f"{attn}.{name}", out, inn)
    rows.bf16(f"{ffn}.gate.weight", experts, H)
    rows.f32(f"{ffn}.gate.bias", experts)
    rows.f32(f"{ffn}.gate.bias_vl", experts)
    sides = (("w1", M, H), ("w2", H, M), ("w3", M, H))
    for name, out, inn in sides:
        rows.fp8(f"{ffn}.shared_experts.{name}", out, inn)
        for expert in range(experts):
            rows.packed_fp4(f"{ffn}.experts.{expert}.{name}", out, inn)


def _layer(layer: int) -> Shard:
    rows, attn = Shard(), f"layers.{layer}.attn"
    _block(rows, f"layers.{layer}", 384)
    if layer in TEXT["index_source_layer_ids"]:
        rows.fp8(f"{attn}.indexer.wq_b", 32 * 128, Q)
        rows.bf16(f"{attn}.indexer.weights_proj.weight", 32, H)
    if layer in TEXT["kv_source_layer_ids"]:
        rows.bf16(f"{attn}.indexer.wk.weight", 128, KV)
        rows.bf16(f"{attn}.indexer.k_norm.weight", 128)
        rows.bf16(f"{attn}.compressor.wkv.weight", KV, H)
        rows.bf16(f"{attn}.compressor.norm.weight", KV)
        if TEXT["compress_ratios"][layer] > 1:
            rows.bf16(f"{attn}.compressor.wgate.weight", KV, H)
    return rows


def _stage(stage: int) -> Shard:
    rows, at = Shard(), f"mtp.{stage}"
    _block(rows, at, 128)
    if stage == 0:
        rows.bf16(f"{at}.main_norm.weight", H)
        rows.fp8(f"{at}.main_proj", H, 3 * H)
    if stage == STAGES - 1:
        rows.bf16(f"{at}.norm.weight", H)
        rows.bf16(f"{at}.markov_head.embed.weight", VOCAB, 256)
        rows.bf16(f"{at}.markov_head.head.weight", VOCAB, 256)
        rows.bf16(f"{at}.confidence_head.proj.weight", 1, H + 256)
    return rows


def _vision() -> Shard:
    rows, w, inner = Shard(), 1024, 2816
    rows.bf16("vision.patch_embed.proj.weight", w, 3 * 14 * 14)
    rows.bf16("vision.patch_embed.proj.bias", w)
    for block in range(32):
        at = f"vision.blocks.{block}"
        for name, *shape in (
            ("norm1.weight", w),
            ("attn.wqkv.weight", 3 * w, w),
            ("attn.wqkv.bias", 3 * w),
            ("attn.wo.weight", w, w),
            ("attn.wo.bias", w),
            ("norm2.weight", w),
            ("mlp.w1.weight", 2 * inner, w),
            ("mlp.w2.weight", w, inner),
        ):
            rows.bf16(f"{at}.{name}", *shape)
    rows.bf16("vision.norm.weight", w)
    for name, inn in (("w1", 9 * w), ("w2", H)):
        rows.bf16(f"aligner.{name}.weight", H, inn)
        rows.bf16(f"aligner.{name}.bias", H)
    return rows


def _engram(layer: int, table: int) -> Shard:
    """The one kind of shard whose order is not by dtype: hashes of shards 47 and 48 hold it."""
    rows, at = Shard(), f"layers.{layer}.engram"
    rows.add(f"{at}.embed.weight", "F8_E4M3", table, 256)
    rows.add(f"{at}.embed.scale", "F8_E8M0", table, 8)
    rows.bf16(f"{at}.q_weight", 4, H)
    rows.bf16(f"{at}.k_weight", 4, H)
    rows.fp8(f"{at}.wkv", 5 * H, 6144)
    return rows


def shards() -> dict[str, list[Tensor]]:
    """The 48 files with their tensors in file order."""
    ends = Shard(), Shard()
    ends[0].bf16("embed.weight", VOCAB, H)
    for name in ("image_start", "image_newline", "image_end"):
        ends[0].bf16(name, H)
    ends[1].bf16("norm.weight", H)
    ends[1].bf16("head.weight", VOCAB, H)
    sorted_shards = [_vision(), ends[0], *map(_layer, range(LAYERS)), ends[1], *map(_stage, range(STAGES))]
    tables = zip(TEXT["engram_layer_ids"], TEXT["engram_num_embeddings"], strict=True)
    rows = [by_dtype(sorted(s), DTYPE_ORDER) for s in sorted_shards] + [list(_engram(*t)) for t in tables]
    return dict(zip(shard_names(len(rows)), rows, strict=True))


def record() -> Recording:
    """The whole repo: 88 files, 510,313,353,565 bytes."""
    out = Recording(
        "deepseek-ai/DeepSeek-V4.1-Flash",
        commit="dba1be0a40aa45a94ab051997016db3960a90277",
        published=(
            "config.json (sha256), 96,085 tensors, index total_size, sum of the 48 weight files",
            "shards 47 and 48: size, and sha256 of length and header; shard 9: sha256 of the header's JSON",
            "index: length 7,470,294; whole repo: 88 files, 510,313,353,565 bytes; commit",
        ),
        inferred=(
            "headers of shards 1-8 and 10-46: layout rules, held only by the sum of all files",
            "index: order of weight_map (its sha256 is known and differs); content ids of the weight files",
            "names and sizes of the 38 files that are neither weights, config nor index: only their sum is known",
        ),
    )
    files = shards()
    for path, rows in files.items():
        out.shard(path, rows)
    total = sum(t.nbytes for t in out.tensors)
    out.text("config.json", json.dumps(CONFIG, indent=2) + "\n", content_inferred=False)
    index = out.index("model.safetensors.index.json", files, total, newline=False)
    names = shard_names(48)
    out.check("tensors", len(out.tensors), 96_085)
    out.check("total_size", total, 510_286_023_000)
    out.check("weight files", out.size(".safetensors"), 510_296_708_312)
    out.check("shard 47", out.size(names[46]), 101_535_150_936)
    out.check("shard 48", out.size(names[47]), 101_537_926_640)
    out.check("index bytes", len(index), 7_470_294)
    out.sha256(
        "config.json", out.stored("config.json"), "8be45ce0476004a3f529fd896115a4a2e800a129ad2d3ec05b16050f52e21879"
    )
    shard9 = out.stored(names[8])[8:]
    out.sha256("header of shard 9", shard9, "139eeea4664aba161a4b4cb82a60a86a2429467601ee6584a887825f8137adfd")
    for shard, digest in (
        (47, "9055d06658af74f431f6675f6880f187b24a3f648b3f70ae949edc328b7702fc"),
        (48, "ffc9da89096525ea191d967531f8063db66327b0880a9d2f4d7d73a42d641f28"),
    ):
        out.sha256(f"length and header of shard {shard}", out.stored(names[shard - 1]), digest)
    _rest(out)
    out.check("repo files", out.count(), 88)
    out.check("repo bytes", out.size(), 510_313_353_565)
    out.expected |= {
        "files": 48,
        "file_bytes": 510_296_708_312,
        "parameters": 763_205_315_794,
        "routed_expert_bytes": 288_777_830_400,
        "memory_bytes": 203_073_076_240,
        "draft_bytes": 7_932_874_632,
        "vision_bytes": 970_506_240,
        "verdict": "yes",
    }
    return out


def _rest(out: Recording) -> None:
    plain.repo_files(out, licence="mit", about="DeepSeek-V4.1-Flash")
    out.blank("tokenizer.json", 6_367_146)
    out.json("tokenizer_config.json", {"model_max_length": 1048576, "tokenizer_class": "PreTrainedTokenizerFast"})
    out.json("generation_config.json", {"_from_model_config": True, "bos_token_id": 0, "eos_token_id": 1})
    out.json("preprocessor_config.json", {"patch_size": 14, "downsample_ratio": 3, "max_image_tokens": 1024})
    for name, size in (("config.json", 2_011), ("README.md", 1_904), ("requirements.txt", 97)):
        out.blank(f"inference/{name}", size)
    for name, size in (
        ("convert.py", 8_811),
        ("engram.py", 21_407),
        ("generate.py", 9_302),
        ("kernel.py", 30_118),
        ("model.py", 71_903),
        ("vision.py", 18_220),
    ):
        out.blank(f"inference/{name}", size)
    for name, size in (("README.md", 5_120), ("encoding_dsv41.py", 33_010), ("test_encoding_dsv41.py", 4_302)):
        out.blank(f"encoding/{name}", size)
    for number in range(1, 17):
        out.blank(f"encoding/tests/test_case_{number:02d}.json", 2_000 + 317 * number)
    out.blank("assets/benchmark.png", 301_442)
    out.blank("assets/engram.png", 188_031)
    out.fill("DeepSeek_V4.1.pdf", 510_313_353_565, lfs=True)
