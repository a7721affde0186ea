"""The header parser against the reference implementation's rules, real files and arbitrary bytes."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import MalformedFile
from inspector.formats.safetensors import MAX_HEADER, Reader, parse
from inspector.model import Header
from inspector.storing.dtypes import BITS
from tests import shared


def packed(table: Any, pad: bytes = b"") -> bytes:
    text = table if isinstance(table, bytes) else json.dumps(table, separators=(",", ":")).encode()
    return struct.pack("<Q", len(text + pad)) + text + pad


def entry(dtype: str, shape: list[int], start: int, end: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}


def read(table: Any, data: int, pad: bytes = b"") -> Header:
    raw = packed(table, pad)
    return parse(raw, "m.safetensors", len(raw) + data)


def test_all_22_reference_dtypes_are_known() -> None:
    assert len(BITS) == 22
    table, position = {}, 0
    for dtype, bits in BITS.items():
        table[dtype] = entry(dtype, [2, 4], position, position + bits)
        position += bits
    header = read(table, position)
    assert {t.name: t.nbytes for t in header.tensors} == dict(BITS)


def test_scalar_zero_size_and_padding() -> None:
    header = read({"e": entry("F32", [0, 4], 0, 0), "s": entry("F32", [], 0, 4)}, 4, pad=b"   \n")
    assert [(t.name, t.shape, t.nbytes) for t in header.tensors] == [("e", (0, 4), 0), ("s", (), 4)]
    assert header.tensor_bytes == 4
    assert header.length == header.file_size - 4 if header.file_size else False


def test_unknown_dtype_keeps_its_bytes() -> None:
    header = read({"a": entry("F2_NEW", [3, 5], 0, 7), "b": entry("U8", [1], 7, 8)}, 8)
    assert header.tensors[0].nbytes == 7
    assert header.tensors[0].dtype == "F2_NEW"


def test_metadata_is_kept() -> None:
    header = read({"__metadata__": {"format": "pt"}, "a": entry("U8", [1], 0, 1)}, 1)
    assert header.metadata == {"format": "pt"}
    assert len(header.tensors) == 1


def test_a_file_cut_off_in_its_data_gives_the_header_and_a_note() -> None:
    raw = packed({"a": entry("F32", [100], 0, 400)})
    header = parse(raw, "m.safetensors", len(raw) + 150)
    assert header.tensor_bytes == 400
    assert [n.code for n in header.notes] == ["truncated"]
    assert f"need {len(raw) + 400:,} bytes, the file has {len(raw) + 150:,}" in header.notes[0].message


A = '"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}'
BAD: dict[str, tuple[bytes, int, str]] = {
    "not-json": (packed(b"{nope"), 0, "not JSON"),
    "not-object": (packed(b"[1]"), 0, "starts with '['"),
    "leading-space": (packed(b' {"a":1}'), 0, "starts with ' '"),
    "not-utf8": (packed(b'{"\xff":1}'), 0, "not UTF-8"),
    "trailing-bytes": (packed(("{" + A + "}").encode()), 7, "cover"),
    "double-key": (packed(("{" + A + "," + A + "}").encode()), 4, "'a' twice"),
    "double-key-escaped": (packed(("{" + A + ',"\\u0061"' + A[3:] + "}").encode()), 4, "'a' twice"),
    "double-dtype": (packed(("{" + A.replace("{", '{"dtype":"I8",') + "}").encode()), 4, "'dtype' twice"),
    "double-zero-size": (
        packed(
            b'{"z":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"z":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}'
        ),
        0,
        "'z' twice",
    ),
    "double-metadata": (packed(b'{"__metadata__":{},"__metadata__":{}}'), 0, "twice"),
    "metadata-not-strings": (packed({"__metadata__": {"a": 1}}), 0, "__metadata__"),
    "hole": (packed({"a": entry("U8", [1], 0, 1), "b": entry("U8", [1], 2, 3)}), 3, "a hole"),
    "not-from-zero": (packed({"a": entry("U8", [1], 1, 2)}), 2, "expected 0"),
    "overlap": (packed({"a": entry("U8", [2], 0, 2), "b": entry("U8", [2], 1, 3)}), 3, "an overlap"),
    "wrong-size": (packed({"a": entry("F32", [2], 0, 4)}), 4, "needs 8 bytes, its offsets span 4"),
    "reversed": (packed({"a": entry("U8", [1], 1, 0)}), 1, "data_offsets [1, 0]"),
    "float-offset": (
        packed({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1.0]}}),
        1,
        "data_offsets [0, 1.0]",
    ),
    "negative-dim": (packed({"a": entry("U8", [-1], 0, 1)}), 1, "dimension -1"),
    "bool-dim": (packed({"a": {"dtype": "U8", "shape": [True], "data_offsets": [0, 1]}}), 1, "dimension True"),
    "string-shape": (packed({"a": {"dtype": "U8", "shape": "12", "data_offsets": [0, 1]}}), 1, "dimension"),
    "nested-shape": (packed({"a": {"dtype": "U8", "shape": [[1]], "data_offsets": [0, 1]}}), 1, "tensor 'a'"),
    "no-dtype": (packed({"a": {"shape": [1], "data_offsets": [0, 1]}}), 1, "tensor 'a' needs dtype"),
    "dtype-number": (packed({"a": {"dtype": 3, "shape": [1], "data_offsets": [0, 1]}}), 1, "tensor 'a' needs dtype"),
    "three-offsets": (packed({"a": {"dtype": "U8", "shape": [1], "data_offsets": [0, 1, 2]}}), 1, "tensor 'a' needs"),
    "entry-not-object": (packed({"a": 5}), 0, "tensor 'a' needs"),
    "huge-shape": (packed({"a": entry("U8", [2**40, 2**40], 0, 1)}), 1, "more than 2^63 elements"),
    "many-dims": (packed({"a": entry("U8", [2] * 10_000, 0, 1)}), 1, "more than 2^63 elements"),
    "huge-integer": (
        packed(b'{"a":{"dtype":"U8","shape":[' + b"9" * 5000 + b'],"data_offsets":[0,1]}}'),
        1,
        "not JSON",
    ),
    "nan": (packed(b'{"a":{"dtype":"U8","shape":[NaN],"data_offsets":[0,1]}}'), 1, "NaN"),
    "deep": (packed(b'{"a":' + b"[" * 200_000), 0, "nested too deeply"),
    "surrogate": (packed(b'{"\\ud800":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}'), 1, "not valid Unicode"),
    "f4-odd": (packed({"a": entry("F4", [3], 0, 2)}), 2, "12 bits, not a whole number of bytes"),
    "too-long": (struct.pack("<Q", MAX_HEADER + 1) + b"{}", 0, "the limit is 100,000,000"),
    "empty": (b"", 0, "has 0 bytes"),
    "seven-bytes": (b"\x02\0\0\0\0\0\0", 0, "has 7 bytes"),
    "lfs-pointer": (b"version https://git-lfs.github.com/spec/v1\n", 0, "Git LFS pointer"),
    "header-cut": (struct.pack("<Q", 500) + b"{", 0, "header says 508 bytes, file has 9"),
}


@pytest.mark.parametrize("name", BAD)
def test_malformed_headers_say_what_is_wrong(name: str) -> None:
    raw, data, words = BAD[name]
    with pytest.raises(MalformedFile) as caught:
        parse(raw, "m.safetensors", len(raw) + data)
    assert words in str(caught.value)
    assert str(caught.value).startswith("m.safetensors: ")
    assert "\n" not in str(caught.value)


def test_a_name_with_json_words_is_no_duplicate() -> None:
    """The duplicate check counts key words in the raw text; a tensor may be called like one."""
    table = {'"dtype"': entry("U8", [1], 0, 1), "data_offsets": entry("U8", [1], 1, 2)}
    assert len(read(table, 2).tensors) == 2


@given(st.binary(max_size=400), st.none() | st.integers(0, 1 << 40))
def test_any_bytes_give_a_header_or_our_error(data: bytes, size: int | None) -> None:
    try:
        parse(data, "x", size)
    except MalformedFile as e:
        assert str(e).startswith("x: ")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
entries = st.fixed_dictionaries(
    {"dtype": st.sampled_from([*BITS, "F2"]) | json_values, "shape": st.lists(st.integers(-1, 9)) | json_values},
    optional={"data_offsets": st.tuples(st.integers(-1, 99), st.integers(-1, 99)) | json_values, "x": json_values},
)


@given(st.dictionaries(st.text(max_size=9), entries | json_values, max_size=5), st.integers(0, 200))
def test_any_json_gives_a_header_or_our_error(table: dict[str, Any], data: int) -> None:
    raw = packed(json.dumps(table).encode())
    try:
        header = parse(raw, "x", len(raw) + data)
    except MalformedFile:
        return
    assert header.tensor_bytes >= data
    assert {t.name for t in header.tensors} == {k for k in table if k != "__metadata__"}


shapes = st.lists(st.integers(0, 4), max_size=3)


@given(st.lists(st.tuples(st.sampled_from(sorted(BITS)), shapes), max_size=12), st.integers(0, 8))
def test_what_is_written_is_read_back(tensors: list[tuple[str, list[int]]], pad: int) -> None:
    table, position = {}, 0
    for number, (dtype, shape) in enumerate(tensors):
        elements = 1
        for d in shape:
            elements *= d
        if elements * BITS[dtype] % 8:
            continue
        size = elements * BITS[dtype] // 8
        table[f"t{number}"] = entry(dtype, shape, position, position + size)
        position += size
    header = read(table, position, b" " * pad)
    assert header.tensor_bytes == position
    assert {t.name: (t.dtype, list(t.shape)) for t in header.tensors} == {
        k: (v["dtype"], v["shape"]) for k, v in table.items()
    }


@settings(max_examples=50)
@given(st.data())
def test_feeding_in_any_chunks_gives_the_same_header(data: st.DataObject) -> None:
    raw = packed({"__metadata__": {"a": "b"}, "a": entry("U8", [4], 0, 4), "b": entry("F16", [3, 2], 4, 16)})
    reader = Reader("m", len(raw) + 16)
    rest = raw + b"\0" * 16
    done = False
    while not done:
        assert rest, "the reader asks for more than there is"
        cut = data.draw(st.integers(1, len(rest)))
        done, rest = reader.feed(rest[:cut]), rest[cut:]
        assert done == (reader.missing == 0)
    assert reader.header() == parse(raw, "m", len(raw) + 16)


def answers() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = json.loads((shared.ROOT / "corpus" / "answers.json").read_text())
    return found


@pytest.mark.parametrize("path", shared.listed("corpus/safetensors", "*.safetensors"), ids=lambda p: p.name)
def test_real_files_equal_the_reference_readers(path: Path) -> None:
    expected = answers()[f"safetensors/{path.name}"]
    header = parse(path.read_bytes(), path.name, path.stat().st_size)
    by_dtype: dict[str, int] = {}
    for tensor in header.tensors:
        by_dtype[tensor.dtype] = by_dtype.get(tensor.dtype, 0) + tensor.nbytes
    assert len(header.tensors) == expected["tensors"]
    assert header.tensor_bytes == expected["tensor_bytes"]
    assert by_dtype == expected["bytes_by_dtype"]
    assert header.length == 8 + expected["header_len"]


@pytest.mark.parametrize("path", shared.listed("corpus/malformed", "*.safetensors"), ids=lambda p: p.name)
def test_real_malformed_files_are_refused(path: Path) -> None:
    with pytest.raises(MalformedFile):
        parse(path.read_bytes(), path.name, path.stat().st_size)


def test_a_real_truncated_file_gives_its_header() -> None:
    path = shared.folder("corpus/truncated") / "all-MiniLM-L6-v2.model.head.safetensors"
    expected = answers()[f"truncated/{path.name}"]
    header = parse(path.read_bytes(), path.name, path.stat().st_size)
    assert (len(header.tensors), header.tensor_bytes) == (expected["tensors"], expected["tensor_bytes"])
    assert [n.code for n in header.notes] == ["truncated"]


def test_the_corpus_was_there() -> None:
    shared.folder("corpus/safetensors")
    assert len(shared.listed("corpus/safetensors", "*.safetensors")) >= 41
    assert len(shared.listed("corpus/malformed", "*.safetensors")) >= 5


def test_the_container_cases() -> None:
    cases = json.loads((shared.folder("cases") / "quant_cases.json").read_text())["cases"]
    containers = [c for c in cases if c.get("kind") == "container"]
    assert len(containers) == 4
    for case in containers:
        raw = packed(case["header"])
        try:
            parse(raw, case["id"], len(raw) + case["data_len"])
            valid = True
        except MalformedFile:
            valid = False
        assert valid is case["expect"]["valid"], case["id"]
