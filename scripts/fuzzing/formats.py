"""The readers of headers and of shard indexes. An input's first byte says how the rest is given to them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any, Final

from inspector.agreement import agreed
from inspector.errors import InspectorError
from inspector.formats import gguf, safetensors, shard_index
from inspector.formats import reader as reader_of
from inspector.gguf_cache import cache_of_gguf
from inspector.model import Header, ShardIndex
from inspector.storing.dtypes import BITS
from inspector.twins import Twins
from scripts.fuzzing import reports
from scripts.fuzzing.target import FOUR, Target, tried
from tests.formats.gguf.build import build
from tests.memory import header
from tests.snapshot import cases

_RAW: Final = 1
"""The whole file is given, and not its JSON alone."""
_SHORT: Final = 2
_LONG: Final = 4
_PIECES: Final = 8
_COMPARED: Final = 1 << 16
"""Bytes of data up to which the reference implementation is asked for its opinion: it wants all of them."""
_WORDS: Final = (
    *('"dtype"', '"shape"', '"data_offsets"', '"__metadata__"', '{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'),
    *(f'"{name}"' for name in BITS),
    *("model.layers.0.", ".weight_scale", ".weight_packed", ".qweight", ".qzeros", ".scales", ".weight", "experts.1."),
)


def _safetensors(data: bytes) -> None:
    how, body = data[0] if data else 0, data[1:]
    raw = body if how & _RAW else len(body).to_bytes(8, "little") + body
    found = tried(lambda: safetensors.parse(raw, "model.safetensors", None))
    if found is None:
        _refused(lambda: safetensors.parse(raw, "model.safetensors", len(raw)))
        return
    for before, after in pairwise(found.tensors):
        assert before.end == after.start, "tensors do not tile"
    if found.tensor_bytes <= _COMPARED:
        _compared(raw, found)
    if how & _PIECES:
        _in_pieces("safetensors", raw, found)
    size = max(0, found.tensor_bytes + (-1 if how & _SHORT else 1 if how & _LONG else 0))
    reports.whole({"model.safetensors": (raw[: found.length], size), "config.json": cases.CONFIG}, data)


def _compared(raw: bytes, found: Header) -> None:
    """What the reference implementation reads must be read alike; it knows fewer dtypes and takes no short file."""
    from safetensors import SafetensorError, deserialize

    whole = raw[: found.length] + bytes(found.tensor_bytes)
    try:
        theirs = deserialize(whole)  # type: ignore[no-untyped-call]
    except SafetensorError:
        return
    ours = {t.name: (t.nbytes, list(t.shape)) for t in found.tensors}
    assert {name: (len(t["data"]), t["shape"]) for name, t in theirs} == ours


def _refused(read: Callable[[], object]) -> None:
    """What is refused without the file's size is refused with it."""
    try:
        read()
    except InspectorError:
        return
    raise AssertionError("refused without the file's size, and read with it")


def _in_pieces(form: str, raw: bytes, found: Header, size: int | None = None) -> None:
    """A header fed in pieces of growing length is the header read at once."""
    kind = reader_of(form)
    assert kind is not None
    reader = kind(found.file, size)
    at, width = 0, 1
    while at < len(raw) and not reader.feed(raw[at : at + width]):
        at, width = at + width, width + 1 + width // 8
    again = reader.header()
    # NaN in metadata is not equal to itself, and its text is.
    assert repr((again.length, tuple(again.tensors), again.metadata)) == repr(
        (found.length, tuple(found.tensors), found.metadata)
    ), "pieces give another header"


def _gguf(data: bytes) -> None:
    how, raw = data[0] if data else 0, data[1:]
    found = tried(lambda: gguf.parse(raw, "m.gguf", None))
    end = found.tensors[-1].end if found is not None and found.tensors else 0
    size = (len(raw) if found is None else found.length + end) + (-1 if how & _SHORT else 1 if how & _LONG else 0)
    sized = tried(lambda: gguf.parse(raw, "m.gguf", max(size, 0)))
    if sized is not None and how & _PIECES:
        _in_pieces("gguf", raw, sized, max(size, 0))
    if found is None:
        return
    reports.sound(cache_of_gguf(found.metadata, with_draft=True))
    if found.length >= len(raw):
        head = raw + bytes(min(found.length - len(raw), 1 << 16))
        reports.whole({"m.gguf": (head, max(size - len(head), 0))}, data)


def _agreeing(data: bytes, found: ShardIndex) -> None:
    """Headers that say what an index says: where it is not decoded for that, it says the same."""
    files: dict[str, dict[str, tuple[str, tuple[int, ...], int]]] = {}
    for name, shard in found.weight_map.items():
        if name == "__metadata__":
            return
        files.setdefault(shard, {})[name] = ("U8", (1,), 1)
    twins, headers = Twins(), []
    for shard, tensors in files.items():
        try:
            head, size = header(tensors)
        except UnicodeEncodeError:
            return
        reader = safetensors.Reader(shard, len(head) + size)
        reader.feed(head)
        read = tried(lambda reader=reader: twins.header(reader))  # type: ignore[misc]
        if read is None:
            return
        headers.append(read)
    index = agreed(data, "model.safetensors.index.json", headers)
    if index is not None:
        assert dict(index.weight_map) == dict(found.weight_map), "an index that agrees says something else"
        assert index.total_size == found.total_size


def _index(data: bytes) -> None:
    found = tried(lambda: shard_index.parse(data, "model.safetensors.index.json"))
    if found is not None:
        assert found.weight_map.keys() == json.loads(data.decode("utf-8-sig"))["weight_map"].keys()
        assert found.total_size is None or found.total_size >= 0
        _agreeing(data, found)
        for shard in set(found.weight_map.values()):
            parts = shard.split("/")
            assert shard and ".." not in parts and "" not in parts and shard.isprintable(), f"a shard at {shard!r}"
    if reports.now_and_then(data):
        reports.whole({**cases.PLAIN, "model.safetensors.index.json": data}, data)


def _headers() -> Iterable[bytes]:
    plain, _ = header(cases.FIRST, {"format": "pt"})
    yield b"\0" + plain[8:]
    yield bytes([_RAW | _PIECES]) + plain
    for tables in _stored():
        yield bytes([_PIECES]) + json.dumps(tables).encode()
    every, at = {}, 0
    for name, bits in BITS.items():
        every[name] = {"dtype": name, "shape": [2, 4], "data_offsets": [at, at + bits]}
        at += bits
    yield b"\0" + json.dumps({"__metadata__": {"format": "pt"}, **every}).encode()
    yield b"\0{}"


def _stored() -> Iterable[Mapping[str, Any]]:
    """A weight stored in each of several quantised ways."""
    base = "model.layers.0.self_attn.q_proj."
    for parts in (
        {"weight": ("F8_E4M3", [128, 128]), "weight_scale_inv": ("F32", [1, 1])},
        {"weight_packed": ("U8", [64, 32]), "weight_scale": ("F8_E4M3", [64, 4]), "weight_global_scale": ("F32", [1])},
        {"qweight": ("I32", [16, 64]), "qzeros": ("I32", [1, 8]), "scales": ("F16", [1, 64]), "g_idx": ("I32", [128])},
        {"weight": ("I8", [64, 32]), "scale": ("F8_E8M0", [64, 2])},
        {"weight": ("U32", [64, 16]), "scales": ("BF16", [64, 2]), "biases": ("BF16", [64, 2])},
        {"weight": ("U8", [2048, 1]), "weight.absmax": ("U8", [64]), "weight.quant_map": ("F32", [16])},
    ):
        table, at = {}, 0
        for name, (dtype, shape) in parts.items():
            size = BITS[dtype] // 8
            for dim in shape:
                size *= dim
            table[base + name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
            at += size
        yield table


def _ggufs() -> Iterable[bytes]:
    keys: list[tuple[str, int, Any]] = [
        ("general.architecture", 8, "llama"),
        ("general.file_type", 4, 15),
        ("llama.block_count", 4, 2),
        ("llama.attention.head_count", 4, 4),
        ("llama.attention.head_count_kv", 9, (4, [2, 2])),
        ("llama.embedding_length", 4, 256),
        ("tokenizer.ggml.tokens", 9, (8, ["a", "b"] * 40)),
        ("scores", 9, (6, [0.5, 1.0])),
        ("nested", 9, (9, [(4, [1, 2]), (8, ["x"])])),
    ]
    tensors = [("token_embd.weight", (256, 8), 14, 1680), ("blk.0.attn_q.weight", (256, 2), 12, 288)]
    for version, big, alignment in ((3, False, 32), (2, False, 64), (1, False, 32), (3, True, 32)):
        head, _ = build(tensors, keys, version=version, big=big, alignment=alignment)
        yield bytes([_PIECES]) + head
    yield b"\0" + build([("x", (64, 2), 187, 96), ("last", (5,), 0, 20)], keys[:2])[0]
    yield b"\0" + build()[0]


def _indexes() -> Iterable[bytes]:
    yield cases.INDEX
    yield b'{"metadata":{"total_size":1e3},"weight_map":{"a":"./d//x.safetensors","b":"model-00009-of-00002"}}'


_KINDS: Final = tuple(kind.to_bytes(4, "little").decode("latin-1") for kind in range(13))
TARGETS: Final = (
    Target("safetensors", _safetensors, _headers, _WORDS, structured=1, seconds=FOUR),
    Target("index", _index, _indexes, ('"weight_map"', '"metadata"', '"total_size"'), structured=0, seconds=FOUR),
    Target(
        "gguf",
        _gguf,
        _ggufs,
        (*_KINDS, "GGUF", "general.alignment", "general.architecture", "llama.block_count", "split.count", "split.no"),
        seconds=FOUR,
    ),
)
