"""Nothing lost, nothing twice: cells against headers for any mix of tensors."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.measure import measure
from inspector.model import Cell, Footprint
from inspector.storing.dtypes import BITS
from tests.memory import MemorySource, Tensors, header
from tests.waiting import load


def footprint(tensors: Tensors, config: object | None = None) -> Footprint:
    files: dict[str, bytes | tuple[bytes, int]] = {"model.safetensors": header(tensors)}
    if config is not None:
        files["config.json"] = json.dumps(config).encode()
    return measure(load(MemorySource(files)).checkpoint)[0]


def cell(found: Footprint, component: str, precision: str | None) -> Cell:
    (only,) = [c for c in found.cells if (c.component, c.precision) == (component, precision)]
    return only


def bf16(*shape: int) -> tuple[str, tuple[int, ...], int]:
    size = 2
    for d in shape:
        size *= d
    return "BF16", shape, size


def test_fp8_blocks_come_from_shapes_not_from_the_config() -> None:
    found = footprint(
        {
            "model.layers.0.self_attn.q_proj.weight": ("F8_E4M3", (96, 64), 96 * 64),
            "model.layers.0.self_attn.q_proj.weight_scale_inv": ("F32", (3, 2), 24),
        },
        {"quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]}},
    )
    attention = cell(found, "attention", "fp8_e4m3")
    assert attention.blocks == ((32, 32),)
    assert (attention.parameters, attention.weight_bytes, attention.overhead_bytes) == (6144, 6144, 24)
    assert found.prequantised.verdict == "yes"


def test_fp4_in_int8_counts_two_weights_a_byte() -> None:
    found = footprint(
        {
            "layers.0.ffn.experts.0.w1.weight": ("I8", (8, 64), 512),
            "layers.0.ffn.experts.0.w1.scale": ("F8_E8M0", (8, 4), 32),
        }
    )
    experts = cell(found, "routed_experts", "fp4_e2m1")
    assert (experts.parameters, experts.overhead_bytes, experts.bits) == (1024, 32, 4)


@pytest.mark.parametrize(
    "tensors",
    [
        {"a.weight": ("I8", (8, 64), 512)},
        {"a.weight": ("I8", (8, 64), 512), "a.scale": ("F8_E8M0", (8, 3), 24)},
        {"a.weight": ("U8", (8, 64), 512), "a.weight_scale": ("U8", (8, 64), 512)},
        {"a.weight_packed": ("I32", (8, 64), 2048), "a.weight_scale": bf16(8, 16)},
        {"a.weight": ("F8_E4M3", (128, 128), 128 * 128), "a.weight_scale_inv": ("F32", (7, 5), 140)},
        {"e_blocks": ("U8", (2, 4, 3, 16), 384), "e_scales": ("U8", (2, 4, 2), 16)},
        {"a.weight": ("F3_NEW", (8, 64), 192)},
    ],
    ids=["no-scale", "odd-scale", "two-u8", "packed-undeclared", "absurd-grid", "blocks-odd-scales", "new-dtype"],
)
def test_what_fits_no_scheme_is_unknown_with_its_bytes(tensors: Tensors) -> None:
    found = footprint(tensors)
    assert found.parameters is None
    assert found.tensor_bytes == sum(size for _, _, size in tensors.values())
    assert any(c.precision == "unknown" and c.parameters is None for c in found.cells)
    assert any(n.code == "unknown_precision" for n in found.notes)
    assert found.prequantised.verdict == "unknown"


def test_lookup_tables_are_no_parameters_and_learnable_scales_are() -> None:
    found = footprint(
        {
            "layers.0.ffn.gate.tid2eid": ("I64", (10, 6), 480),
            "layers.0.attn.q_norm.scale": ("BF16", (64,), 128),
            "hc_attn_scale": ("F32", (3,), 12),
        }
    )
    assert found.parameters == 67
    table = cell(found, "router", None)
    assert (table.parameters, table.overhead_bytes, table.weight_bytes) == (0, 480, 0)


def test_experts_dtype_of_config_loses_against_headers() -> None:
    tensors: Tensors = {
        "layers.0.ffn.experts.0.w1.weight": ("I8", (8, 64), 512),
        "layers.0.ffn.experts.0.w1.scale": ("F8_E8M0", (8, 4), 32),
    }
    base = {"quant_method": "fp8"}
    right = footprint(tensors, {"quantization_config": {**base, "expert_dtype": "fp4"}})
    top = footprint(tensors, {"expert_dtype": "fp4", "quantization_config": base})
    nested = footprint(tensors, {"text_config": {"expert_dtype": "fp4"}, "quantization_config": base})
    wrong = footprint(tensors, {"expert_dtype": "fp8", "quantization_config": base})
    silent = footprint(tensors, {"quantization_config": base})
    for found in (right, top, nested):
        assert [n.code for n in found.notes] == []
    assert [(n.code, n.where) for n in wrong.notes] == [("config_contradicts_headers", "config.json:expert_dtype")]
    assert [n.code for n in silent.notes] == ["expert_dtype_missing"]
    assert {cell(f, "routed_experts", "fp4_e2m1").parameters for f in (right, top, nested, wrong, silent)} == {1024}


def test_config_says_quantised_and_tensors_are_plain() -> None:
    found = footprint({"a.weight": bf16(4, 4)}, {"quantization_config": {"quant_method": "gptq", "bits": 4}})
    assert found.prequantised.verdict == "no"
    assert [n.code for n in found.notes] == ["config_contradicts_headers"]
    assert "'gptq'" in found.notes[0].message
    assert "BF16" in found.notes[0].message


def test_draft_layers_are_told_by_number_and_kda_by_its_state() -> None:
    found = footprint(
        {
            "model.layers.0.self_attn.A_log": ("F32", (4,), 16),
            "model.layers.0.self_attn.o_proj.weight": bf16(4, 4),
            "model.layers.1.self_attn.o_proj.weight": bf16(4, 8),
            "model.layers.2.self_attn.o_proj.weight": bf16(4, 2),
            "model.visual.blocks.7.attn.proj.weight": bf16(4, 1),
        },
        {"num_hidden_layers": 2},
    )
    assert cell(found, "recurrent", "bf16").parameters == 16
    assert cell(found, "attention", "bf16").parameters == 32
    assert cell(found, "draft", "bf16").parameters == 8
    assert cell(found, "vision", "bf16").parameters == 4


def test_a_tensor_stored_twice_counts_its_bytes_twice_and_its_parameters_once() -> None:
    shard = header({"a.weight": bf16(4, 4), "b.weight": bf16(2, 2)})
    again = header({"a.weight": bf16(4, 4)})
    source = MemorySource({"model-00001-of-00002.safetensors": shard, "model-00002-of-00002.safetensors": again})
    found, _ = measure(load(source).checkpoint)
    assert found.tensor_bytes == 32 + 8 + 32
    assert found.parameters == 20
    assert [n.code for n in found.notes] == ["stored_twice"]


names = st.sampled_from(
    [
        f"{prefix}{suffix}"
        for prefix in (
            "model.layers.0.mlp.experts.1.w1",
            "lm_head",
            "layers.3.attn.wq",
            "x",
            "mlp.experts.gate_up_proj",
        )
        for suffix in (
            *("", ".weight", ".scale", ".weight_scale", ".weight_scale_inv", "_blocks", "_scales", ".bias"),
            *(".weight_packed", ".weight_shape", ".input_scale", ".weight_zero_point", ".weight_g_idx"),
        )
    ]
)
shapes = st.lists(st.sampled_from([1, 2, 4, 16, 32, 64, 128]), max_size=4).map(tuple)
configs = st.sampled_from(
    [
        None,
        {"quantization_config": {"quant_method": "fp8", "weight_block_size": [32, 32]}},
        {
            "quantization_config": {
                "quant_method": "compressed-tensors",
                "config_groups": {"g": {"targets": ["Linear"], "weights": {"num_bits": 4, "group_size": 32}}},
            }
        },
    ]
)


@given(st.dictionaries(names, st.tuples(st.sampled_from([*BITS, "NEW"]), shapes), max_size=8), configs)
def test_cells_sum_to_the_stored_bytes(mix: dict[str, tuple[str, tuple[int, ...]]], config: object) -> None:
    tensors: dict[str, tuple[str, tuple[int, ...], int]] = {}
    for name, (dtype, shape) in mix.items():
        bits = BITS.get(dtype, 8)
        for d in shape:
            bits *= d
        if bits % 8 == 0:
            tensors[name] = dtype, shape, bits // 8
    found = footprint(tensors, config)
    assert found.tensor_bytes == sum(size for _, _, size in tensors.values())
    assert sum(c.tensors for c in found.cells) == len(tensors)
    assert sum(d.bytes for d in found.dtypes) == found.tensor_bytes
