"""What a GGUF header says, against the `gguf` package's writer and reader and against the specification."""

from __future__ import annotations

import random
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFEndian, GGUFReader, GGUFWriter

from inspector.errors import UnsupportedFile
from inspector.formats import READERS, reader
from inspector.formats.gguf import Reader, parse
from inspector.gguf.ggml_types import READINGS
from inspector.model import Header
from scripts.fuzzing.bounds import within
from tests.formats.gguf.build import Tensor, Writer, build, by_type
from tests.formats.gguf.engine import footprint


def written(path: Path, endian: GGUFEndian = GGUFEndian.LITTLE, alignment: int = 32) -> Path:
    """A small model by the `gguf` package: two quantised weights, a norm, keys of every kind."""
    w = GGUFWriter(path, "llama", endianess=endian)
    if alignment != 32:
        w.add_custom_alignment(alignment)
    w.add_block_count(2)
    w.add_head_count_kv([8, 0])
    w.add_float32("llama.rope.freq_base", 10_000.0)
    w.add_bool("general.flag", True)
    w.add_int64("general.negative", -5)
    w.add_tags(["chat", "ünïcode"])
    w.add_token_list([f"t{i}" for i in range(1000)])
    w.add_token_scores([float(-i) for i in range(5000)])
    w.add_tensor("blk.0.attn_norm.weight", np.ones(7, dtype=np.float32))
    for name, kind, rows, row in (("ffn_up", "Q4_K", 3, 288), ("ffn_gate", "Q6_K", 5, 210), ("attn_q", "Q8_0", 2, 68)):
        data = np.zeros((rows, row), dtype=np.uint8)
        w.add_tensor(f"blk.0.{name}.weight", data, raw_dtype=GGMLQuantizationType[kind])
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_tensors_to_file()
    w.close()
    return path


def through(path: Path, chunk: int = 100) -> Header:
    reader = Reader(path.name, path.stat().st_size)
    data = path.read_bytes()
    for start in range(0, len(data), chunk):
        if reader.feed(data[start : start + chunk]):
            break
    return reader.header()


@pytest.mark.parametrize("alignment", [32, 64, 8])
@pytest.mark.parametrize("endian", list(GGUFEndian))
def test_equals_the_packages_reader(tmp_path: Path, endian: GGUFEndian, alignment: int) -> None:
    path = written(tmp_path / "m.gguf", endian, alignment)
    ours, theirs = through(path), GGUFReader(path)
    assert ours.length == theirs.data_offset
    assert [(t.name, t.dtype, t.nbytes) for t in ours.tensors] == [
        (t.name, t.tensor_type.name, int(t.n_bytes)) for t in theirs.tensors
    ]
    assert [t.shape for t in ours.tensors] == [tuple(int(d) for d in reversed(t.shape)) for t in theirs.tensors]
    assert [ours.length + t.start for t in ours.tensors] == [int(t.data_offset) for t in theirs.tensors]
    assert list(ours.metadata) == [k for k in theirs.fields if not k.startswith("GGUF.")]
    assert [n.code for n in ours.notes] == (["big_endian"] if endian is GGUFEndian.BIG else [])


def test_values_are_kept_and_long_ones_shortened(tmp_path: Path) -> None:
    keys = through(written(tmp_path / "m.gguf")).metadata
    assert keys["general.architecture"] == "llama"
    assert keys["llama.attention.head_count_kv"] == (8, 0)
    assert keys["llama.rope.freq_base"] == 10_000.0
    assert keys["general.flag"] is True
    assert keys["general.negative"] == -5
    assert keys["general.tags"] == ("chat", "ünïcode")
    assert keys["tokenizer.ggml.tokens"] == {"type": "string", "count": 1000, "head": tuple(f"t{i}" for i in range(8))}
    assert keys["tokenizer.ggml.scores"] == {"type": "f32", "count": 5000, "head": tuple(float(-i) for i in range(8))}


@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_versions_and_byte_orders_say_the_same(version: int, big: bool) -> None:
    keys: list[tuple[str, int, Any]] = [
        ("long", 8, "x" * 70_000),
        ("per_layer", 9, (4, list(range(4096)))),
        ("nested", 9, (9, [(5, [-1, 2]), (8, ["a", "b"]), (9, [(7, [True, False])])])),
        ("many", 9, (9, [(0, [1])] * 70)),
        ("not utf-8", 8, b"\xff"),
        ("u64", 10, 2**64 - 1),
    ]
    head, size = build([("a", (256, 2), 12, 288), ("b", (3,), 0, 12)], keys, version=version, big=big)
    header = parse(head, "m.gguf", size)
    assert header.length == len(head)
    assert by_type(header) == {"Q4_K": 288, "F32": 12}
    assert [t.shape for t in header.tensors] == [(2, 256), (3,)]
    assert header.metadata["long"] == {"type": "string", "count": 70_000, "head": "x" * 256}
    assert header.metadata["per_layer"] == tuple(range(4096))
    assert header.metadata["nested"] == ((-1, 2), ("a", "b"), ((True, False),))
    assert header.metadata["many"] == {"type": "array", "count": 70, "head": ((1,),) * 8}
    assert header.metadata["not utf-8"] == "\\xff"
    assert header.metadata["u64"] == 2**64 - 1
    codes = (["old_version"] if version == 1 else []) + (["big_endian"] if big else [])
    assert [n.code for n in header.notes] == codes


F32: Tensor = ("end", (8,), 0, 32)
OFFSETS: dict[str, tuple[list[Tensor], list[tuple[str, int]]]] = {
    # 131,072 weights: I2_S has numel / 4 + 32 bytes, the removed IQ4_NL_4_4 18 per 32
    "36-bitnet": ([("a", (512, 256), 36, 32_800), F32], [("I2_S", 32_800)]),
    "36-removed": ([("a", (512, 256), 36, 73_728), F32], [("IQ4_NL_4_4", 73_728)]),
    "39-mxfp4": ([("a", (64, 32, 4), 39, 4_352), F32], [("MXFP4", 4_352)]),
    "39-bitnet-tl2": ([("a", (1024, 32), 39, 6_848), F32], [("type 39", 6_848)]),
    "42-mainline": ([("a", (512, 256), 42, 36_864), F32], [("Q2_0", 36_864)]),
    "42-fork": ([("a", (512, 256), 42, 53_248), F32], [("type 42", 53_248)]),
    "per-row-bytes": ([("a", (256, 64), 144, 64 * 140), F32], [("IQ4_KS", 64 * 140)]),
    "per-row-left-out": ([("a", (256, 64), 144, 64 * 136), F32], [("IQ4_KS", 64 * 136)]),
    "unknown": ([("a", (100, 3), 187, 320), F32], [("type 187", 320)]),
    "unknown-last": ([F32, ("z", (100, 3), 187, 320)], [("F32", 32), ("type 187", 320)]),
    "removed-last": ([F32, ("z", (512, 256), 36, 32_800)], [("F32", 32), ("I2_S", 32_800)]),
    "fork-last": ([F32, ("z", (512, 256), 41, 53_248)], [("F32", 32), ("type 41", 53_248)]),
}


@pytest.mark.parametrize("case", OFFSETS)
def test_offsets_decide_what_an_id_means(case: str) -> None:
    tensors, expected = OFFSETS[case]
    head, size = build(tensors)
    header = parse(head, "m.gguf", size)
    assert [(t.dtype, t.nbytes) for t in header.tensors][: len(expected)] == expected
    unknown = sum(size for name, size in expected if name.startswith("type "))
    assert [n.code for n in header.notes] == (["unknown_type"] if unknown else [])
    assert not unknown or f"{unknown:,} bytes" in header.notes[0].message
    seen = footprint(header)
    assert sum(c.bytes for c in seen.cells) == header.tensor_bytes
    assert (seen.parameters is None) == bool(unknown)


def test_a_reading_borne_out_before_holds_for_the_last_tensor_of_a_cut_off_file() -> None:
    head, size = build([("a", (64, 32), 39, 1_088), F32, ("z", (64, 32), 39, 1_088)])
    header = parse(head, "m.gguf", size - 500)
    assert header.tensors[-1][1:2] == ("MXFP4",)
    assert [n.code for n in header.notes] == ["truncated"]


def test_an_unknown_last_tensor_without_a_file_size_is_said_to_be_untold() -> None:
    head, _ = build([("z", (100, 3), 187, 320)])
    with pytest.raises(UnsupportedFile, match="unknown type id 187 and the file's size is not known"):
        parse(head, "m.gguf", None)


def test_every_type_takes_its_bytes_and_is_counted() -> None:
    for number, kinds in READINGS.items():
        size = kinds[0].nbytes((512, 2))
        assert size is not None
        head, end = build([("blk.0.ffn_up.weight", (512, 2), number, size), F32])
        header = parse(head, "m.gguf", end)
        assert header.tensors[0][1:3] == (kinds[0].name, (2, 512))
        assert header.tensors[0].nbytes == size
        cells = [c for c in footprint(header).cells if c.component == "mlp"]
        whole = kinds[0].name in ("I8", "I16", "I32", "I64")
        assert [c.parameters for c in cells] == [None if whole else 1024]


def test_nvfp4_scales_are_overhead_and_experts_have_one_each() -> None:
    scales = [(f"blk.0.ffn_up_exps.{n}", (4,), 0, 16) for n in ("scale", "input_scale")]
    query = [("blk.0.attn_q.weight", (64, 8), 40, 288), ("blk.0.attn_q.weight.scale", (1,), 0, 4)]
    tables = [("rope_freqs.weight", (64,), 0, 256), ("blk.0.ffn_gate_tid2eid.weight", (6, 9), 26, 216)]
    head, size = build([("blk.0.ffn_up_exps.weight", (64, 32, 4), 40, 4_608), *scales, *query, *tables])
    found = footprint(parse(head, "m.gguf", size))
    cells = {(c.component, c.precision): (c.parameters, c.weight_bytes, c.overhead_bytes, c.bits) for c in found.cells}
    assert cells == {
        ("routed_experts", "NVFP4"): (8192, 4_608, 32, 4),
        ("attention", "NVFP4"): (512, 288, 4, 4),
        ("other", None): (0, 0, 256, None),
        ("router", None): (0, 0, 216, None),
    }
    assert found.parameters == 8704
    assert found.prequantised.verdict == "yes"


def test_delta_net_layers_are_recurrent_and_their_mlp_is_not() -> None:
    names = ("ssm_a", "ssm_beta", "attn_qkv", "attn_gate", "ffn_up", "attn_norm")
    mixed = [(f"blk.0.{n}.weight", (32,), 0, 128) for n in names]
    plain = [(f"blk.1.{n}.weight", (32,), 0, 128) for n in ("attn_q", "ssm_in", "ssm_a", "ffn_up")]
    head, size = build([*mixed, *plain])
    found = {c.component: c.tensors for c in footprint(parse(head, "m.gguf", size)).cells}
    assert found == {"recurrent": 6, "mlp": 2, "norm": 1, "attention": 1}


def test_the_next_read_grows_and_stays_in_the_file() -> None:
    head, _ = build([F32], [("k", 9, (8, ["x" * 1000] * 30_000))])
    reader = Reader("m.gguf", None)
    taken = []
    position = 0
    while reader.missing:
        taken.append(reader.missing)
        reader.feed(head[position : position + taken[-1]])
        position += taken[-1]
    # 30 MB of strings of one length: seen once, their end is known; the first read sees none of them.
    assert taken[0] == 1 << 16
    assert len(taken) == 2
    assert sum(taken) < 1.15 * len(head)
    assert max(taken) <= 32 << 20
    assert reader.received >= reader.header().length - 31
    assert Reader("m.gguf", 500).missing == 500
    short = Reader("m.gguf", 2)
    short.feed(head[:2])
    assert short.missing == 0


def test_it_is_the_reader_of_its_format() -> None:
    assert reader("gguf") is Reader
    assert all(reader(name) is not None for name in READERS)
    assert reader("pickle") is None


def vocabulary() -> tuple[bytes, int]:
    """Qwen3's proportions: 151,936 tokens, their types and 151,387 merges, 963 tensors."""
    rnd = random.Random(1)
    words = [b"x" * rnd.randint(1, 14) for _ in range(151_936)]
    keys: list[tuple[str, int, Any]] = [(f"key.{i}", 4, i) for i in range(40)]
    keys += [("tokens", 9, (8, words)), ("types", 9, (5, [1] * 151_936)), ("merges", 9, (8, words[:151_387]))]
    return build([(f"blk.{i}.ffn_gate_exps.weight", (2048, 512), 12, 589_824) for i in range(963)], keys)


def test_a_large_vocabulary_is_quick_in_any_chunks_and_not_kept() -> None:
    head, size = vocabulary()
    assert len(head) > 5_000_000
    for chunk in (len(head), 1 << 16, 1 << 12):
        with within(0.5):
            reader = Reader("m.gguf", size)
            for start in range(0, len(head), chunk):
                if reader.feed(head[start : start + chunk]):
                    break
            assert len(reader.header().tensors) == 963
    tracemalloc.start()
    reader = Reader("m.gguf", size)
    for start in range(0, len(head), 1 << 16):
        reader.feed(head[start : start + (1 << 16)])
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


def test_many_tensors_are_read_in_linear_time() -> None:
    w = Writer()
    infos = b"".join(w.info(f"blk.{i}.x", (32,), 0, i * 128) for i in range(50_000))
    with within(3):
        assert len(parse(w.start(50_000, 0) + infos, "m.gguf").tensors) == 50_000
