"""Real files, and headers rebuilt from what others recorded of real files, against what reference readers say."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from inspector.errors import MalformedFile
from inspector.formats.gguf import Reader, parse
from inspector.gguf.ggml_types import READINGS
from inspector.model import Header
from tests import shared
from tests.formats.gguf.build import build, by_type, padded
from tests.formats.gguf.engine import footprint

CORPUS = shared.ROOT / "corpus"
IDS = {kinds[0].name: number for number, kinds in READINGS.items()}
IDS["I2_S"] = 36


def answers() -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((shared.folder("corpus") / "answers.json").read_text())
    return loaded


def name(path: Path) -> str:
    return str(path.relative_to(CORPUS))


def read(path: Path, chunk: int = 1 << 16) -> Header:
    reader = Reader(path.name, path.stat().st_size)
    with path.open("rb") as file:
        while piece := file.read(chunk):
            if reader.feed(piece):
                break
    return reader.header()


FILES = [*shared.listed("corpus", "gguf/*.gguf"), *shared.listed("corpus", "derived/*.gguf")]
MAPS = shared.listed("corpus", "dumps/thireus_maps/*.map")
DUMPS = shared.listed("corpus", "dumps/gguf_headers/*.json")


def test_the_corpus_was_there() -> None:
    shared.folder("corpus")
    assert (len(FILES), len(MAPS), len(DUMPS)) == (18, 39, 2)


@pytest.mark.parametrize("path", FILES, ids=name)
def test_file_equals_the_reference_readers_answer(path: Path) -> None:
    answer = answers()[name(path)]
    header = read(path)
    assert len(header.tensors) == answer["tensors"]
    assert by_type(header) == answer["bytes_by_dtype"]
    assert header.tensor_bytes == answer["tensor_bytes"]
    assert header.length == answer["data_offset"]
    assert len(header.metadata) == answer["kv"]
    assert header.metadata.get("general.architecture") == answer["arch"]
    assert header.metadata.get("general.file_type") == answer["file_type"]
    assert footprint(header).parameters == answer["params"]
    assert {n.code for n in header.notes} == ({"big_endian"} if path.parent.name == "derived" else set())


def test_a_twin_of_the_other_byte_order_says_the_same() -> None:
    corpus = shared.folder("corpus")
    little = read(corpus / "gguf/ggerganov_llama.cpp__@3dad13a8__ggml-vocab-bert-bge.gguf")
    assert read(corpus / "derived/bert-bge.BE.gguf").metadata == little.metadata
    assert len(little.metadata["tokenizer.ggml.tokens"]["head"]) == 8
    assert little.metadata["tokenizer.ggml.tokens"]["count"] == 30522


def test_malformed_files_of_the_corpus() -> None:
    folder = shared.folder("corpus") / "malformed"
    with pytest.raises(MalformedFile, match="Git LFS pointer"):
        read(folder / "ggerganov_llama.cpp__@1d28649d__ggml-vocab-aquila.gguf")
    old = read(folder / "ggerganov_llama.cpp__@63bfaf67__ggml-vocab-llama.gguf")
    assert (len(old.tensors), len(old.metadata)) == (0, 13)
    assert [n.code for n in old.notes] == ["old_version"]
    for file, key in (
        ("640ee63d__ggml-vocab-deepseek-coder", "llama.attention.head_count"),
        ("ae6d2c32__ggml-vocab-dbrx", "general.file_type"),
    ):
        double = read(folder / f"ggerganov_llama.cpp__@{file}.gguf")
        assert [n.code for n in double.notes] == ["duplicate_key"]
        assert key in double.notes[0].message


@pytest.mark.parametrize("path", shared.listed("corpus", "legacy/*.bin"), ids=name)
def test_files_from_before_gguf_are_named(path: Path) -> None:
    with pytest.raises(MalformedFile, match=r"GG(ML|JT) file, from before GGUF"):
        read(path)


def rows(path: Path) -> list[tuple[str, tuple[int, ...], str, int]]:
    found = []
    for line in path.read_text().splitlines():
        m = re.search(r":([^:]+):shape=\(([^)]*)\):dtype=([^:]+):elements=\d+:bytes=(\d+)", line)
        assert m is not None, line
        found.append((m[1], tuple(int(d) for d in re.findall(r"\d+", m[2])), m[3].upper(), int(m[4])))
    return found


@pytest.mark.parametrize("path", MAPS, ids=lambda p: p.stem)
def test_header_built_from_a_tensor_map_gives_its_figures(path: Path) -> None:
    """Maps hold what a block count gives; the offsets built from it decide, so bytes per row are not added."""
    answer = answers()[name(path)]
    head, size = build([(n, ne, IDS[kind], nbytes) for n, ne, kind, nbytes in rows(path)])
    header = parse(head, path.name, size)
    assert header.notes == ()
    assert len(header.tensors) == answer["tensors"]
    assert header.tensor_bytes == answer["tensor_bytes"]
    assert {k.lower(): v for k, v in by_type(header).items()} == answer["bytes_by_dtype"]
    found = footprint(header)
    assert found.parameters == answer["params"]
    assert sum(c.bytes for c in found.cells) == answer["tensor_bytes"]


@pytest.mark.parametrize("stem,meta", [("Qwen3.5-0.8B.iq1_bn", 2), ("GLM-5.2.iq3_ks", 2), ("Qwen3.5-0.8B.iq2_kt", 4)])
def test_bytes_per_row_as_ik_llama_cpp_stores_them(stem: str, meta: int) -> None:
    kind = stem.rpartition(".")[2].upper()
    tensors, extra = [], 0
    for n, ne, dtype, nbytes in rows(shared.folder("corpus") / f"dumps/thireus_maps/{stem}.map"):
        more = meta if dtype == kind else 0
        for d in ne[1:]:
            more *= d
        extra += more
        tensors.append((n, ne, IDS[dtype], nbytes + more))
    head, size = build(tensors)
    header = parse(head, stem, size)
    assert extra > 0
    assert header.tensor_bytes == answers()[f"dumps/thireus_maps/{stem}.map"]["tensor_bytes"] + extra


@pytest.mark.parametrize("path", DUMPS, ids=lambda p: p.stem)
def test_header_built_from_a_dump_gives_its_figures(path: Path) -> None:
    dump = json.loads(path.read_text())
    parts: list[list[dict[str, Any]]] = []
    for info in dump["tensorInfos"]:
        if info["offset"] == 0:
            parts.append([])
        parts[-1].append(info)
    keys = [
        (k["key"], k["valueType"], k["value"]) for k in dump["header"]["metadataKV"] if k["valueType"] not in (6, 9)
    ]
    headers = []
    for number, part in enumerate(parts):
        data = dump["splitSizes"][number] - dump["splitTensorDataStartOffsets"][number]
        tensors = [(i["name"], tuple(i["dimensions"]), i["type"], 0) for i in part]
        ends = [i["offset"] for i in part[1:]] + [data]
        sized = [(n, ne, kind, end - i["offset"]) for (n, ne, kind, _), i, end in zip(tensors, part, ends, strict=True)]
        head, size = build(sized, keys if number == 0 else ())
        headers.append(parse(head, f"{number}.gguf", size))
        assert [t.start for t in headers[-1].tensors] == [i["offset"] for i in part]
    answer = answers()[name(path)]
    assert sum(len(h.tensors) for h in headers) == answer["tensors"]
    assert sum(h.tensor_bytes for h in headers) == answer["tensor_bytes"] == dump["modelSize"]
    tables = [t for h in headers for t in h.tensors if t.name == "rope_freqs.weight"]
    elements = sum(t.shape[0] for t in tables)
    assert footprint(*headers).parameters == answer["params"] - elements
    assert headers[0].metadata["general.architecture"] in ("llama", "deepseek2")


@pytest.mark.parametrize(
    "case", ["gguf-q4_k-q6_k", "gguf-mxfp4-experts", "gguf-q2_0-unknown-to-gguf-py", "gguf-q1_0", "gguf-bitnet-i2_s"]
)
def test_handed_case(case: str) -> None:
    cases = json.loads((shared.folder("cases") / "quant_cases.json").read_text())["cases"]
    found = next(c for c in cases if c["id"] == case)
    tensors = []
    for n, t in found["gguf_tensors"].items():
        size = READINGS[t["ggml_type"]][0].nbytes(t["ne"])
        assert size is not None
        tensors.append((n, tuple(t["ne"]), t["ggml_type"], size))
    head, size = build(tensors, alignment=found["alignment"])
    expect = found["expect"]
    assert sum(padded(t[3], found["alignment"]) for t in tensors) == expect["padded_section_bytes"]
    header = parse(head, "m.gguf", size)
    seen = footprint(header)
    assert header.tensor_bytes == expect["tensor_bytes"]
    assert seen.parameters == expect["logical_params"]
    assert seen.prequantised.verdict == "yes"
    if "routed_experts_bits" in expect:
        assert {c.bits for c in seen.cells if c.component == "routed_experts"} == {expect["routed_experts_bits"]}
