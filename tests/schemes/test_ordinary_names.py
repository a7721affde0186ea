"""Names that quantisers use for their tensors are names of ordinary parameters elsewhere."""

from __future__ import annotations

import pytest

from inspector.model import Declared, Group, Stored
from inspector.schemes import read


def stored(dtype: str, *shape: int) -> Stored:
    size = {"BF16": 2, "F16": 2, "F32": 4, "I32": 4, "U8": 1}[dtype]
    for d in shape:
        size *= d
    return Stored(dtype, shape, size)


@pytest.mark.parametrize(
    ("role", "shape"),
    [
        (".q_weight", (64, 48)),
        (".B", (64, 48)),
        (".s", (64,)),
        (".theta", (8, 48)),
        (".codebooks", (4, 48)),
        (".zero", (48,)),
        (".tables", (16, 48)),
        (".centroids.weight", (16, 48)),
        (".su", (48,)),
        (".suh", (48,)),
        (".proj_up", (64, 8)),
        (".lora_down", (8, 48)),
        (".biases", (64, 3)),
        (".global_scale", ()),
    ],
)
def test_a_lone_float_is_a_parameter_whatever_it_is_called(role: str, shape: tuple[int, ...]) -> None:
    tensor = stored("BF16", *shape)
    (claim,) = read(Group("layers.3.block", {role: tensor}, Declared("fp8"))).claims
    assert (claim.scheme, claim.parameters, claim.payload) == ("dense", tensor.elements, (role,))


@pytest.mark.parametrize(
    ("role", "method"),
    [
        (".s", "gptq"),
        (".codebooks", "aqlm"),
        (".zero", "hqq"),
        (".tables", "higgs"),
        (".centroids.weight", "vptq"),
        (".SU", "quip"),
        (".suh", "exl3"),
        (".smooth_factor", "svdq"),
        (".svd_up", "sdnq"),
        (".biases", "mlx"),
    ],
)
def test_a_companion_without_its_weight_is_no_parameter(role: str, method: str) -> None:
    reading = read(Group("layers.3.block", {role: stored("F16", 64, 48)}, Declared(method)))
    assert sum(c.parameters for c in reading.claims) == 0
    assert reading.unknown == (role,)


def test_floats_of_such_names_beside_a_float_weight_are_parameters() -> None:
    tensors = {".weight": stored("BF16", 64, 48), ".lora_up": stored("BF16", 64, 8)}
    (claim,) = read(Group("layers.3.block", tensors, Declared())).claims
    assert claim.parameters == 64 * 48 + 64 * 8


def test_an_integer_of_such_a_name_is_unknown() -> None:
    reading = read(Group("layers.3.block", {".codes": stored("I32", 64, 48)}, Declared()))
    assert reading.claims == ()
    assert reading.unknown == (".codes",)
