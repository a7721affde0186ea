"""Whatever is mixed, dropped or misshapen: every byte is in one cell, and a number is the right one or there is none.

Layouts are those of the case folders and, where they are, the handed ones; each is taken through headers in memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.experts import Pile
from inspector.grouping import classify, group
from inspector.measure import measure
from inspector.model import Declared, Footprint, Header, TensorInfo
from inspector.schemes import splitter
from inspector.storing.dtypes import BITS
from inspector.witness.declaration import Declaration, Rules
from tests import shared
from tests.memory import MemorySource, header
from tests.schemes.layout import nbytes
from tests.schemes.test_cases import handed
from tests.waiting import load

Case = Mapping[str, Any]

FOLDERS = (
    "dense",
    "buffers",
    "fake_quantized",
    "fp8",
    "fp4_in_int8",
    "mxfp4",
    "mxfp4_blocks",
    "mxfp6",
    "mxfp8",
    "native_narrow",
    "nvfp4",
    "compressed_tensors",
    "int8",
    "modelopt_int4",
    "quark_words",
    "quark_bytes",
    "w4afp8",
    "marlin_24",
    "sparse_bitmask",
)
CASES = {
    f"{p.parent.name}/{p.stem}": json.loads(p.read_text())
    for folder in FOLDERS
    for p in sorted((Path(__file__).parent / "cases" / folder).glob("*.json"))
}
KNOWN = {name: case for name, case in CASES.items() if case["expect"]["parameters"]}
SELF_EVIDENT = sorted(
    name
    for name in KNOWN
    if name.partition("/")[0] in ("fp8", "fp4_in_int8", "mxfp4", "mxfp6", "nvfp4", "modelopt_int4", "native_narrow")
)
"""Cases whose numbers lie in the payload and its ratio to one companion."""


def measured(case: Case, tensors: Mapping[str, Any]) -> Footprint:
    stored = {n: (t["dtype"], tuple(t["shape"]), nbytes(t["dtype"], t["shape"])) for n, t in tensors.items()}
    metadata = {k: v if isinstance(v, str) else json.dumps(v) for k, v in (case.get("metadata") or {}).items()}
    files: dict[str, bytes | tuple[bytes, int]] = {"model.safetensors": header(stored, metadata)}
    if case.get("config") is not None:
        files["config.json"] = json.dumps(case["config"]).encode()
    for name, content in (case.get("extra_files") or {}).items():
        files[name] = json.dumps(content).encode()
    return measure(load(MemorySource(files)).checkpoint)[0]


def companions(case: Case) -> list[str]:
    """Names of tensors that hold no parameter, by the handed cases' own roles."""
    return [n for n, t in case["expect"]["per_tensor"].items() if t["role"] not in ("weight", "param", "bias")]


def test_there_are_cases_in_every_folder() -> None:
    assert {n.partition("/")[0] for n in CASES} == set(FOLDERS)


@pytest.mark.parametrize("case", handed(), ids=lambda c: c["id"])
def test_a_dropped_companion_never_makes_a_wrong_number(case: Case) -> None:
    right = case["expect"]["logical_params"]
    for name in companions(case):
        rest = {n: t for n, t in case["tensors"].items() if n != name}
        if not rest:
            continue
        found = measured(case, rest)
        assert found.parameters in (right, None), f"without {name}"
        assert sum(c.bytes for c in found.cells) == sum(nbytes(t["dtype"], t["shape"]) for t in rest.values())


def test_the_handed_cases_were_there() -> None:
    shared.folder("cases")
    assert sum(len(companions(c)) for c in handed()) > 80


shapes = st.lists(st.sampled_from((1, 2, 3, 4, 7, 8, 16, 32, 64, 96, 128, 256, 512)), max_size=4)
dtypes = st.sampled_from(("F32", "BF16", "U8", "I8", "I32", "F8_E4M3", "F8_E8M0"))


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(SELF_EVIDENT), data=st.data(), shape=shapes, dtype=dtypes)
def test_a_misshapen_companion_never_makes_a_wrong_number(
    name: str, data: st.DataObject, shape: Any, dtype: str
) -> None:
    """Any one companion gets any shape and dtype.

    Not drawn for packed bytes: scales that another format of bytes has, as the width lies in nothing else.
    """
    case = KNOWN[name]
    split, _ = splitter()
    victim = data.draw(st.sampled_from(sorted(n for n in case["tensors"] if "scale" in n or "lora" in n)))
    beside = {t["dtype"] for n, t in case["tensors"].items() if n != victim and split(n)[0] == split(victim)[0]}
    if beside & {"U8", "I8"} and dtype in ("U8", "F8_E8M0", "F8_E4M3"):
        return
    found = measured(case, {**case["tensors"], victim: {"dtype": dtype, "shape": shape}})
    assert found.parameters in (case["expect"]["parameters"], None), f"{victim} {dtype} {shape}"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(names=st.lists(st.sampled_from(sorted(CASES)), min_size=1, max_size=6))
def test_any_mix_keeps_every_byte_in_one_cell(names: list[str]) -> None:
    tensors = {f"part{i}.{n}": t for i, name in enumerate(names) for n, t in CASES[name]["tensors"].items()}
    found = measured({}, tensors)
    assert sum(c.bytes for c in found.cells) == sum(nbytes(t["dtype"], t["shape"]) for t in tensors.values())
    assert sum(c.tensors for c in found.cells) == len(tensors)
    if all(CASES[n]["config"] in ({}, None) and CASES[n]["expect"]["parameters"] for n in names):
        undescribed = [n for n in names if "metadata" not in CASES[n] and "extra_files" not in CASES[n]]
        if undescribed == names:
            assert found.parameters == sum(CASES[n]["expect"]["parameters"] for n in names)


roles = st.sampled_from(
    (
        "",
        "_scale",
        "_weight_scale",
        "_scale_inv",
        ".weight",
        ".weight_packed",
        ".weight_scale",
        ".weight_scale_inv",
        ".weight_scale_2",
        ".weight_global_scale",
        ".weight_zero_point",
        ".weight_g_idx",
        ".scale",
        ".scales",
        ".zero_point",
        ".scale_packed",
        ".meta",
        ".compressed",
        ".bitmask",
        ".input_scale",
        ".pre_quant_scale",
    )
)


@settings(max_examples=500, deadline=None)
@given(stored=st.dictionaries(roles, st.tuples(dtypes, shapes), min_size=1, max_size=5))
def test_any_group_at_all_is_read_without_an_exception(stored: dict[str, tuple[str, list[int]]]) -> None:
    infos, position = [], 0
    for role, (dtype, shape) in stored.items():
        size = BITS[dtype] // 8
        for d in shape:
            size *= d
        infos.append(TensorInfo(f"m.x{role}", dtype, tuple(shape), "f", position, position + size))
        position += size
    groups = group([Pile(infos, 1)])
    assert groups is not None
    declaration = Declaration(None, "", {})
    kinds, _ = classify(groups, declaration, None)
    claimed = [r for kind in kinds for _, p, o in kind.claims() for r in (*p, *o)]
    assert sorted(claimed) == sorted(r for kind in kinds for r in kind.tensors)


METHODS = (None, "quark", "compressed-tensors", "modelopt", "w4afp8", "fp8", "gemma", "sdnq", "bitnet", "gptq", "awq")


def layouts() -> Iterator[tuple[str, Header]]:
    for path in sorted((Path(__file__).parent / "cases").glob("*/*.json")):
        stored = json.loads(path.read_text())["tensors"].items()
        infos = [
            TensorInfo(n, t["dtype"], tuple(t["shape"]), "f", 0, nbytes(t["dtype"], t["shape"])) for n, t in stored
        ]
        yield f"{path.parent.name}/{path.stem}", Header("f", 8, None, tuple(infos))


def always(said: Declared) -> Rules:
    return Rules(lambda name: said)


def test_no_layout_is_claimed_twice_whatever_is_declared() -> None:
    for layout, head in layouts():
        groups = group([Pile(head.tensors, 1)])
        assert groups is not None
        for method, (bits, size) in product(METHODS, ((None, None), (4, None), (4, 32), (8, 128), (2, 128))):
            said = Declared(method, bits=bits, group=size, where="config.json", entry={"dtype": f"int{bits}"})
            kinds, _ = classify(groups, Declaration(method, "", {}, rules=always(said)), None)
            notes = [n for kind in kinds for n in kind.reading.notes if n.code == "two_schemes"]
            assert not notes, f"{layout}: {notes[0]}"
