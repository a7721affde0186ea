"""A config that says otherwise than the tensors: both sides in one note, the tensors win."""

from __future__ import annotations

from typing import Any

from inspector.model import Note
from tests.test_measure import footprint

FP8 = {
    f"model.layers.{i}.mlp.up_proj{suffix}": tensor
    for i in range(3)
    for suffix, tensor in ((".weight", ("F8_E4M3", (64, 64), 4096)), (".weight_scale_inv", ("F32", (2, 2), 16)))
}
INT4 = {
    f"model.layers.{i}.mlp.up_proj{suffix}": tensor
    for i in range(3)
    for suffix, tensor in (
        (".weight_packed", ("I32", (64, 32), 8192)),
        (".weight_scale", ("BF16", (64, 8), 1024)),
        (".weight_shape", ("I64", (2,), 16)),
    )
}


def notes(tensors: Any, body: dict[str, Any], code: str = "config_contradicts_headers") -> list[Note]:
    found = footprint(tensors, {"quantization_config": body})
    assert found.tensor_bytes == sum(t[2] for t in tensors.values())
    return [n for n in found.notes if n.code == code]


def packed(bits: int, group: int, **more: Any) -> dict[str, Any]:
    weights = {"num_bits": bits, "type": "int", "strategy": "group", "group_size": group}
    groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
    return {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": groups, **more}


def test_what_agrees_makes_no_note() -> None:
    assert notes(FP8, {"quant_method": "fp8", "weight_block_size": [32, 32]}) == []
    assert notes(INT4, packed(4, 32)) == []


def test_a_module_declared_as_left_alone_is_stored_quantised() -> None:
    (note,) = notes(FP8, {"quant_method": "fp8", "modules_to_not_convert": ["model.layers.1", "model.layers.2"]})
    assert "declared as not quantised, stored as fp8_e4m3" in note.message
    assert "2 modules such as model.layers.1.mlp.up_proj" in note.message
    assert note.where == "config.json:quantization_config.modules_to_not_convert"


def test_the_tile_is_another() -> None:
    (note,) = notes(FP8, {"quant_method": "fp8", "weight_block_size": [128, 16]})
    assert "128x16 declared" in note.message and "32x32 stored" in note.message and "3 modules" in note.message


def test_the_group_or_the_bits_are_others() -> None:
    for body, words in ((packed(4, 64), ("64", "32")), (packed(8, 32), ("8", "4"))):
        found = footprint(INT4, {"quantization_config": body})
        told = [n for n in found.notes if n.code == "config_contradicts_headers"]
        unknown = found.parameters is None
        assert unknown or (told and all(w in told[0].message for w in words))


def test_scales_of_a_declared_cache_are_missing() -> None:
    scheme = {"num_bits": 8, "type": "float", "dynamic": False}
    (note,) = notes(INT4, packed(4, 32, kv_cache_scheme=scheme), "kv_scales_missing")
    assert "fp8" in note.message and note.where == "config.json:quantization_config.kv_cache_scheme"
    scale = {"model.layers.0.self_attn.k_scale": ("F32", (), 4)}
    assert notes({**INT4, **scale}, packed(4, 32, kv_cache_scheme=scheme), "kv_scales_missing") == []
    assert notes(INT4, packed(4, 32, kv_cache_scheme={**scheme, "dynamic": True}), "kv_scales_missing") == []


def test_notes_of_the_declaration_are_in_the_footprint() -> None:
    assert notes(FP8, {"quant_method": "who-knows"}, "unknown_quant_method")


def test_modules_of_one_template_are_told_apart_by_their_rule() -> None:
    """Two layers of equal tensors, one declared in 8 bits: kinds are per rule, not per name."""
    from inspector.declared import read
    from inspector.experts import Pile
    from inspector.grouping import classify, group
    from inspector.model import Header, TensorInfo

    names = [f"model.layers.{i}.mlp.up_proj.weight" for i in range(400)]
    header = Header("f", 8, None, tuple(TensorInfo(n, "BF16", (2, 2), "f", 0, 8) for n in names))
    layers = {f"model.layers.{i}.mlp.up_proj": {"quant_algo": "FP8"} for i in range(0, 400, 2)}
    body = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers}
    declaration = read({"config.json": {"quantization_config": body}})
    groups = group([Pile(header.tensors, 1)])
    assert groups is not None
    kinds, of = classify(groups, declaration, None)
    assert len(kinds) == 2 and {k.count for k in kinds} == {200}
    assert [k.declared.excluded for k in of[:4]] == [False, True, False, True]
