"""A GGUF repo of 20 quants in the shape of Qwen3-30B-A3B, written from the specification; tokens are invented.

Published: 48 blocks, 579 tensors, 30,532,122,624 parameters, 151,936 tokens (config.json of Qwen/Qwen3-30B-A3B). The
mixes of types follow llama.cpp's `llama-quant.cpp` in outline, so sizes are near those of real repos, not equal.
"""

from __future__ import annotations

import functools
import hashlib
import random
import struct
from collections.abc import Iterator, Sequence

from tests.loopback.content import Entry, entry, git_oid, pointer
from tests.loopback.repo import Repo

NAME = "example/Qwen3-30B-A3B-GGUF"
STEM = "Qwen3-30B-A3B"
PARAMETERS = 30_532_122_624
BLOCKS, TOKENS, HIDDEN, EXPERTS, EXPERT_WIDTH = 48, 151_936, 2048, 128, 768

TYPES = {
    "F32": (0, 1, 4),
    "Q4_0": (2, 32, 18),
    "Q4_1": (3, 32, 20),
    "Q8_0": (8, 32, 34),
    "Q2_K": (10, 256, 84),
    "Q3_K": (11, 256, 110),
    "Q4_K": (12, 256, 144),
    "Q5_K": (13, 256, 176),
    "Q6_K": (14, 256, 210),
    "IQ2_XXS": (16, 256, 66),
    "IQ1_S": (19, 256, 50),
    "IQ4_NL": (20, 32, 18),
    "IQ4_XS": (23, 256, 136),
    "BF16": (30, 1, 2),
}
"""Name -> (id, elements per block, bytes per block); ggml.h and ggml-common.h."""

QUANTS = {
    "Q2_K": (10, "Q2_K", "Q3_K", "Q4_K", "Q6_K"),
    "Q3_K_S": (11, "Q3_K", "Q3_K", "Q3_K", "Q6_K"),
    "Q3_K_M": (12, "Q3_K", "Q4_K", "Q5_K", "Q6_K"),
    "Q3_K_L": (13, "Q3_K", "Q5_K", "Q5_K", "Q6_K"),
    "IQ4_XS": (30, "IQ4_XS", "IQ4_XS", "Q5_K", "Q6_K"),
    "IQ4_NL": (25, "IQ4_NL", "IQ4_NL", "Q5_K", "Q6_K"),
    "Q4_0": (2, "Q4_0", "Q4_0", "Q4_0", "Q6_K"),
    "Q4_1": (3, "Q4_1", "Q4_1", "Q4_1", "Q6_K"),
    "Q4_K_S": (14, "Q4_K", "Q4_K", "Q5_K", "Q6_K"),
    "Q4_K_M": (15, "Q4_K", "Q6_K", "Q6_K", "Q6_K"),
    "Q5_K_S": (16, "Q5_K", "Q5_K", "Q5_K", "Q6_K"),
    "Q5_K_M": (17, "Q5_K", "Q6_K", "Q6_K", "Q6_K"),
    "Q6_K": (18, "Q6_K", "Q6_K", "Q6_K", "Q6_K"),
    "Q8_0": (7, "Q8_0", "Q8_0", "Q8_0", "Q8_0"),
    "UD-IQ1_S": (24, "IQ1_S", "IQ2_XXS", "Q4_K", "Q5_K"),
    "UD-IQ2_XXS": (19, "IQ2_XXS", "IQ2_XXS", "Q4_K", "Q5_K"),
    "UD-Q2_K_XL": (10, "Q2_K", "Q3_K", "Q6_K", "Q6_K"),
    "UD-Q4_K_XL": (15, "Q4_K", "Q5_K", "Q8_0", "Q6_K"),
    "UD-Q8_K_XL": (7, "Q8_0", "Q8_0", "BF16", "Q8_0"),
    "BF16": (32, "BF16", "BF16", "BF16", "BF16"),
}
"""Label -> (general.file_type, most tensors, ffn_down of every other block, attn_v, output)."""

Info = tuple[str, tuple[int, ...], str]


def tensors(label: str) -> Iterator[Info]:
    """(name, ne, type) of one quant, in llama.cpp's order."""
    _, most, down, value, output = QUANTS[label]
    yield "output.weight", (HIDDEN, TOKENS), output
    yield "token_embd.weight", (HIDDEN, TOKENS), most if label[:2] != "UD" else "Q4_K"
    yield "output_norm.weight", (HIDDEN,), "F32"
    for i in range(BLOCKS):
        for name, ne, kind in (
            ("attn_k", (HIDDEN, 512), most),
            ("attn_k_norm", (128,), "F32"),
            ("attn_norm", (HIDDEN,), "F32"),
            ("attn_output", (4096, HIDDEN), most),
            ("attn_q", (HIDDEN, 4096), most),
            ("attn_q_norm", (128,), "F32"),
            ("attn_v", (HIDDEN, 512), value),
            ("ffn_down_exps", (EXPERT_WIDTH, HIDDEN, EXPERTS), down if i % 2 else most),
            ("ffn_gate_exps", (HIDDEN, EXPERT_WIDTH, EXPERTS), most),
            ("ffn_gate_inp", (HIDDEN, EXPERTS), "F32"),
            ("ffn_norm", (HIDDEN,), "F32"),
            ("ffn_up_exps", (HIDDEN, EXPERT_WIDTH, EXPERTS), most),
        ):
            yield f"blk.{i}.{name}.weight", ne, kind


def nbytes(ne: Sequence[int], kind: str) -> int:
    """Bytes of a tensor."""
    _, block, size = TYPES[kind]
    elements = 1
    for n in ne:
        elements *= n
    return elements // block * size


def tensor_bytes(label: str) -> int:
    """Sum over all tensors of a quant."""
    return sum(nbytes(ne, kind) for _, ne, kind in tensors(label))


def _text(text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(raw)) + raw


def key(name: str, kind: int, packed: bytes) -> bytes:
    """One key-value; `packed` is the value as stored."""
    return _text(name) + struct.pack("<I", kind) + packed


@functools.cache
def words(count: int = TOKENS) -> tuple[bytes, ...]:
    """Invented tokens that grow slowly longer, as those of byte-level BPE do."""
    rnd = random.Random(count)
    return tuple(
        bytes(rnd.choices(b"abcdefghijklmnopqrstuvwxyz", k=rnd.randint(2, 7) + 5 * i // count)) for i in range(count)
    )


@functools.cache
def vocabulary(count: int = TOKENS) -> tuple[bytes, ...]:
    """The keys of a BPE vocabulary: model, tokens, types, merges."""
    tokens = words(count)
    return (
        key("tokenizer.ggml.model", 8, _text("gpt2")),
        key("tokenizer.ggml.pre", 8, _text("qwen2")),
        key("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, count) + b"".join(_text(t) for t in tokens)),
        key("tokenizer.ggml.token_type", 9, struct.pack(f"<IQ{count}i", 5, count, *[1] * count)),
        key(
            "tokenizer.ggml.merges",
            9,
            struct.pack("<IQ", 8, count) + b"".join(_text(t[:1] + b" " + t[1:]) for t in tokens),
        ),
        key("tokenizer.chat_template", 8, _text("{%- for m in messages %}" + " " * 4000)),
    )


def keys(label: str, split: tuple[int, int] | None = None, count: int = TOKENS) -> list[bytes]:
    """All key-values of a quant's first part, or of `split` (number from 0, parts)."""
    if split is not None and split[0]:
        return _split_keys(*split)
    number = struct.pack
    found = [
        key("general.architecture", 8, _text("qwen3moe")),
        key("general.type", 8, _text("model")),
        key("general.name", 8, _text(STEM)),
        key("general.file_type", 4, number("<I", QUANTS[label][0])),
        key("qwen3moe.block_count", 4, number("<I", BLOCKS)),
        key("qwen3moe.context_length", 4, number("<I", 40_960)),
        key("qwen3moe.embedding_length", 4, number("<I", HIDDEN)),
        key("qwen3moe.attention.head_count", 4, number("<I", 32)),
        key("qwen3moe.attention.head_count_kv", 4, number("<I", 4)),
        key("qwen3moe.attention.key_length", 4, number("<I", 128)),
        key("qwen3moe.attention.value_length", 4, number("<I", 128)),
        key("qwen3moe.expert_count", 4, number("<I", EXPERTS)),
        *vocabulary(count),
    ]
    if label != "BF16":
        found += [
            key("general.quantization_version", 4, number("<I", 2)),
            key("quantize.imatrix.file", 8, _text(f"{STEM}/imatrix.gguf")),
            key("quantize.imatrix.entries_count", 5, number("<i", 384)),
        ]
    return found + (_split_keys(*split) if split is not None else [])


def _split_keys(number: int, parts: int) -> list[bytes]:
    return [
        key("split.no", 2, struct.pack("<H", number)),
        key("split.count", 2, struct.pack("<H", parts)),
        key("split.tensors.count", 5, struct.pack("<i", 3 + 12 * BLOCKS)),
    ]


def header(pairs: Sequence[bytes], infos: Sequence[Info]) -> tuple[bytes, int]:
    """(bytes before the data, size of the file): version 3, aligned to 32."""
    out = [b"GGUF", struct.pack("<IQQ", 3, len(infos), len(pairs)), *pairs]
    offset = 0
    for name, ne, kind in infos:
        out.append(_text(name) + struct.pack(f"<I{len(ne)}QIQ", len(ne), *ne, TYPES[kind][0], offset))
        offset += -(-nbytes(ne, kind) // 32) * 32
    head = b"".join(out)
    return head + bytes(-len(head) % 32), len(head) + -len(head) % 32 + offset


def part(label: str, number: int = 0, parts: int = 1) -> tuple[bytes, int]:
    """One file of a quant."""
    infos = list(tensors(label))
    if parts == 1:
        return header(keys(label), infos)
    cut = -(-len(infos) // parts)
    return header(keys(label, (number, parts)), infos[number * cut : (number + 1) * cut])


@functools.cache
def repo() -> Repo:
    """The repo; headers are made when somebody reads them."""
    tree = [entry("README.md", b"# quants\n"), entry("config.json", b'{"model_type": "qwen3_moe"}\n')]
    tree.append(_lazy("imatrix.gguf", "imatrix", 0, 1, 118_374_528))
    for label in QUANTS:
        if label == "BF16":
            tree += [_lazy(f"BF16/{STEM}-BF16-{n + 1:05d}-of-00002.gguf", label, n, 2) for n in range(2)]
        else:
            tree.append(_lazy(f"{STEM}-{label}.gguf", label, 0, 1))
    files = {e.path: e for e in sorted(tree, key=lambda e: e.path)}
    sha = hashlib.sha1("".join(f"{e.path} {e.content_id}" for e in files.values()).encode()).hexdigest()
    return Repo(NAME, {sha: files}, {"main": sha})


def _lazy(path: str, label: str, number: int, parts: int, size: int | None = None) -> Entry:
    size = part(label, number, parts)[1] if size is None else size
    sha256 = hashlib.sha256(f"{path} {size}".encode()).hexdigest()
    return Entry(path, size, git_oid(pointer(sha256, size)), sha256, lambda: _stored(label, number, parts))


@functools.lru_cache(maxsize=2)
def _stored(label: str, number: int, parts: int) -> bytes:
    return b"GGUF" if label == "imatrix" else part(label, number, parts)[0]
