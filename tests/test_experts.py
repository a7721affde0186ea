"""Experts taken together give the figures of experts looked at one by one."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.experts import Pile, piles
from inspector.measure import measure
from inspector.model import Alike, Footprint, Header
from tests.memory import MemorySource, header
from tests.waiting import load

CONFIG = b'{"model_type": "x", "num_hidden_layers": 4, "quantization_config": {"quant_method": "fp8"}}'
STORED = {"F8_E4M3": 128 * 128, "BF16": 2 * 128 * 128, "F32": 4}
Table = dict[str, tuple[str, tuple[int, ...], int]]


def expert(base: str, dtype: str, scale: str | None) -> Table:
    found: Table = {f"{base}.w1.weight": (dtype, (128, 128), STORED[dtype])}
    if scale is not None:
        found[f"{base}.w1.{scale}"] = ("F32", (1, 1), 4)
    return found


def headers(files: dict[str, Table]) -> list[Header]:
    sources = MemorySource({"config.json": CONFIG, **{n: header(t) for n, t in files.items()}})
    return list(load(sources).checkpoint.headers)


def both(files: dict[str, Table]) -> tuple[Footprint, Footprint]:
    """Measured with experts taken together, and with each name looked at."""
    checkpoint = load(MemorySource({"config.json": CONFIG, **{n: header(t) for n, t in files.items()}})).checkpoint
    return measure(checkpoint)[0], measure(checkpoint, lambda name: True)[0]


def test_a_uniform_layer_is_one_expert_many_times() -> None:
    table: Table = {"layers.0.norm.weight": ("BF16", (8,), 16)}
    for n in range(40):
        table |= expert(f"layers.0.mlp.experts.{n}", "F8_E4M3", "weight_scale_inv")
    found = piles(headers({"model.safetensors": table}), [3])
    assert sorted((len(p.tensors), p.times) for p in found) == [(1, 3), (2, 120)]


def test_layers_that_lie_in_several_files_are_alike() -> None:
    """As in DeepSeek-V3: each layer is cut in the middle of an expert, and begins in the file of the one before."""
    files: dict[str, Table] = {}
    for layer in range(6):
        table: Table = {f"layers.{layer}.norm.weight": ("BF16", (8,), 16)}
        for n in range(10):
            table |= expert(f"layers.{layer}.mlp.experts.{n}", "F8_E4M3", "weight_scale_inv")
        items = list(table.items())
        for number, part in enumerate((items[:8], items[8:])):
            files[f"model-{2 * layer + number + 1:05d}-of-00012.safetensors"] = dict(part)
    read = headers(files)
    assert sum(isinstance(h.tensors, Alike) for h in read) == 10
    found = piles(read, [1] * len(read))
    assert sorted((len(p.tensors), p.times) for p in found) == [(0, 1)] * 6 + [(1, 1)] * 6 + [(2, 10)] * 6
    names = [t.name for p in found for t in p.tensors]
    assert len(set(names)) == len(names)
    together, apart = both(files)
    assert together == apart


def test_an_expert_that_is_stored_twice_counts_twice() -> None:
    table = expert("m.experts.0", "BF16", None) | expert("m.experts.1", "BF16", None)
    files = {"model-00001-of-00002.safetensors": table, "model-00002-of-00002.safetensors": table}
    together, apart = both(files)
    assert together == apart
    assert (together.tensor_bytes, together.parameters) == (4 * 2 * 128 * 128, 2 * 128 * 128)


def test_one_that_differs_and_a_layer_in_two_files_are_looked_at() -> None:
    one = expert("m.experts.0", "F8_E4M3", "weight_scale_inv") | expert("m.experts.1", "BF16", None)
    assert [(len(p.tensors), p.times) for p in piles(headers({"model.safetensors": one}), [1])] == [
        (0, 1),
        (2, 1),
        (1, 1),
    ]
    # All weights in one file and all scales in another belong together.
    weights: Table = {f"m.experts.{n}.w1.weight": ("F8_E4M3", (128, 128), 128 * 128) for n in range(4)}
    scales: Table = {f"m.experts.{n}.w1.weight_scale_inv": ("F32", (1, 1), 4) for n in range(4)}
    split: dict[str, Table] = {"model-00001-of-00002.safetensors": weights, "model-00002-of-00002.safetensors": scales}
    assert [(len(p.tensors), p.times) for p in piles(headers(split), [1, 1])] == [(0, 1), (0, 1), (2, 4)]
    together, apart = both(split)
    assert together == apart
    assert together.parameters == 4 * 128 * 128


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a.0", "a.1", "b"]),
            st.sampled_from(["0", "1", "2", "10", "x", ""]),
            st.sampled_from(["F8_E4M3", "BF16"]),
            st.sampled_from([None, "weight_scale_inv", "scale"]),
            st.booleans(),
        ),
        min_size=1,
        max_size=12,
    ),
    st.booleans(),
)
def test_figures_do_not_depend_on_it(drawn: list[tuple[str, str, str, str | None, bool]], twice: bool) -> None:
    files: dict[str, Table] = {"model-00001-of-00002.safetensors": {}, "model-00002-of-00002.safetensors": {}}
    first, second = files.values()
    for owner, number, dtype, scale, later in drawn:
        table = expert(f"{owner}.experts.{number}", dtype, scale)
        where = second if later else first
        where |= {n: t for n, t in table.items() if n not in where and (twice or (n not in first and n not in second))}
    files = {n: t for n, t in files.items() if t}
    together, apart = both(files)
    assert (together.cells, together.parameters, together.dtypes) == (apart.cells, apart.parameters, apart.dtypes)
    assert together.prequantised.verdict == apart.prequantised.verdict
    assert {n.code for n in together.notes} == {n.code for n in apart.notes}


def test_times_are_kept_without_experts() -> None:
    found = piles(headers({"model.safetensors": {"a": ("BF16", (1,), 2)}}), [7])
    assert [(next(iter(p.tensors)).name, p.times) for p in found] == [("a", 7)]
    assert isinstance(found[0], Pile)


@pytest.mark.parametrize("scaled", [range(4), range(1, 4), [2]])
def test_what_belongs_to_one_expert_by_another_spelling_is_not_lost(scaled: Sequence[int]) -> None:
    weights: Table = {f"layers.0.mlp.experts.{e}.weight": ("F8_E4M3", (128, 128), 128 * 128) for e in range(4)}
    scales: Table = {f"layers.0.mlp.experts.{e}_scale": ("F32", (1,), 4) for e in scaled}
    together, apart = both({"model.safetensors": {**weights, **scales}})
    assert (together.cells, together.parameters) == (apart.cells, apart.parameters)
    assert together.tensor_bytes == 4 * 128 * 128 + 4 * len(scales) == sum(d.bytes for d in together.dtypes)


def test_nor_is_what_belongs_to_a_header_that_is_alike() -> None:
    files: dict[str, Table] = {
        f"model-0000{i + 1}-of-00004.safetensors": {f"proj.{i}.weight": ("F8_E4M3", (128, 128), 128 * 128)}
        for i in range(3)
    }
    files["model-00004-of-00004.safetensors"] = {f"proj.{i}_scale": ("F32", (1,), 4) for i in range(3)}
    together, apart = both(files)
    assert (together.cells, together.parameters) == (apart.cells, apart.parameters)
    assert together.tensor_bytes == 3 * 128 * 128 + 12 == sum(d.bytes for d in together.dtypes)


def layer(prefix: str) -> Table:
    return {f"{prefix}{name}.weight": ("BF16", (8, 8), 128) for name in ("self_attn.q_proj", "mlp.up_proj")}


def experts(prefix: str, names: str, dtype: str, *numbers: int) -> Table:
    size = {"U8": 16, "F32": 64}[dtype]
    return {f"{prefix}mlp.experts.{n}.{names}": (dtype, (4, 4), size) for n in numbers}


@pytest.mark.parametrize(
    "tables",
    [
        [layer("model.layers.0."), layer("vision_tower.layers.0."), layer("mtp.0.")],
        [layer("model.layers.0."), layer("model.layers.1."), layer("mtp.0.")],
        [
            experts("encoder.layers.3.", "w1.weight", "U8", 0, 1, 2, 3),
            experts("decoder.layers.3.", "w1.weight", "U8", 0, 1, 2, 3),
            experts("encoder.layers.3.", "w1.weight_scale_inv", "F32", 2) | {"a.b": ("F32", (1,), 4)},
        ],
        [
            experts("m.experts.x.1.", "w1.weight_scale_inv", "F32", 1),
            experts("layers.3.", "w1.weight_scale_inv", "F32", 1),
            experts("layers.3.", "w1.weight", "U8", 0, 1, 2, 3) | {"z.w": ("F32", (1,), 4)},
        ],
    ],
    ids=["towers", "draft", "first of two stems", "experts in a prefix"],
)
def test_headers_that_differ_in_more_than_a_number(tables: list[Table]) -> None:
    """Headers of one text but for a prefix; what they are parts of, or what belongs to them, is not the same."""
    files = {f"model-{n:05d}-of-{len(tables):05d}.safetensors": table for n, table in enumerate(tables, 1)}
    together, apart = both(files)
    assert (together.cells, together.parameters) == (apart.cells, apart.parameters)
    assert {n.code for n in together.notes} == {n.code for n in apart.notes}


NAMES = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["layers.0.", "layers.", "mtp.", "vision.layers.", "proj.", "m.experts.", "a.0.experts."]),
    st.integers(0, 3),
    st.sampled_from(["", ".w", ".experts.0", ".experts.1.w", "_w"]),
    st.sampled_from(["", ".weight", "_scale", ".weight_scale", "_blocks", ".scales", ".bias", "_bias"]),
)


@given(st.lists(st.dictionaries(NAMES, st.sampled_from(["F8_E4M3", "F32", "BF16", "U8"]), max_size=8), max_size=4))
def test_whatever_the_names_the_sums_are_those_of_single_tensors(drawn: list[dict[str, str]]) -> None:
    files: dict[str, Table] = {}
    for number, names in enumerate(drawn, 1):
        size = {"F8_E4M3": 1, "U8": 1, "BF16": 2, "F32": 4}
        table: Table = {n: (d, (4, 4), 16 * size[d]) for n, d in names.items()}
        files[f"model-{number:05d}-of-{len(drawn):05d}.safetensors"] = table or {"z": ("U8", (1,), 1)}
    together, apart = both(files)
    assert (together.cells, together.parameters) == (apart.cells, apart.parameters)
    assert sum(c.bytes for c in together.cells) == together.tensor_bytes == sum(d.bytes for d in together.dtypes)
