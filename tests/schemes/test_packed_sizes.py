"""Layouts made from N, K, group and bits are read back as N x K, or as unknown: never as another number.

Any subset of the companions may be missing and the config may state other bits and groups than the shapes have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.model import Declared, Group, Stored
from inspector.schemes import SCHEMES, read
from inspector.storing.dtypes import BITS

KEYS = (
    "_type",
    "_data",
    "mode",
    "weights_dtype",
    "modules_dtype_dict",
    "vector_lens",
    "num_centroids",
    "beta1",
    "weight",
)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 70000), st.floats(), st.sampled_from(("int5", "Int4Tensor"))
)

Layout = dict[str, tuple[str, tuple[int, ...]]]


def up(a: int, b: int) -> int:
    return -(-a // b)


def gptq(n: int, k: int, g: int, b: int) -> Layout:
    return {
        ".qweight": ("I32", (up(k * b, 32), n)),
        ".scales": ("F16", (up(k, g), n)),
        ".qzeros": ("I32", (up(k, g), up(n * b, 32))),
        ".g_idx": ("I32", (k,)),
    }


def gptq_in_bytes(n: int, k: int, g: int, b: int) -> Layout:
    return {**gptq(n, k, g, b), ".qweight": ("I8", (k * b // 8, n)), ".qzeros": ("I8", (up(k, g), up(n * b, 8)))}


def awq_gemm(n: int, k: int, g: int, b: int) -> Layout:
    words = n * b // 32
    return {
        ".qweight": ("I32", (k, words)),
        ".scales": ("F16", (up(k, g), n)),
        ".qzeros": ("I32", (up(k, g), words)),
    }


def padded(k: int, g: int) -> int:
    several = {64: 2, 32: 4}.get(g, 1)
    return up(up(k // g, 8), several) * several


def awq_gemv(n: int, k: int, g: int, b: int) -> Layout:
    w = padded(k, g)
    return {".qweight": ("I32", (n, k // 8)), ".scales": ("F16", (n, 8 * w)), ".qzeros": ("I32", (n, w))}


def awq_fast(n: int, k: int, g: int, b: int) -> Layout:
    w = padded(k, g)
    return {".qweight": ("I16", (n // 4, k)), ".scales": ("F16", (8 * w, n)), ".qzeros": ("F16", (8 * w, n))}


def marlin(n: int, k: int, g: int, b: int) -> Layout:
    return {".B": ("I32", (k // 16, n * b // 2)), ".s": ("F16", (up(k, g), n))}


def qqq(n: int, k: int, g: int, b: int) -> Layout:
    return {".B": ("I32", (k // 16, 2 * n)), ".s_channel": ("F32", (1, n)), ".s_group": ("F16", (up(k, g), n))}


def bnb(n: int, k: int, g: int, b: int) -> Layout:
    return {
        ".weight": ("U8", (n * k // 2, 1)),
        ".weight.absmax": ("U8", (n * k // 64,)),
        ".weight.nested_absmax": ("F32", (up(n * k // 64, 256),)),
        ".weight.quant_map": ("F32", (16,)),
        ".weight.quant_state.bitsandbytes__nf4": ("U8", (90,)),
    }


def hqq(n: int, k: int, g: int, b: int) -> Layout:
    groups = n * k // g
    packed = ("I32", (up(groups, 10), g)) if b == 3 else ("U8", (groups * b // 8, g))
    return {".W_q": packed, ".scale": ("F16", (groups, 1)), ".zero": ("F16", (groups, 1)), ".nbits": ("I32", (1,))}


def quanto(n: int, k: int, g: int, b: int) -> Layout:
    groups = n * k // g
    return {
        ".weight._data._data": ("U8", (groups * b // 8, g)),
        ".weight._scale": ("BF16", (groups, 1)),
        ".weight._shift": ("BF16", (groups, 1)),
    }


def mlx(n: int, k: int, g: int, b: int) -> Layout:
    return {".weight": ("U32", (n, k * b // 32)), ".scales": ("BF16", (n, k // g)), ".biases": ("BF16", (n, k // g))}


def exl2(n: int, k: int, g: int, b: int) -> Layout:
    count = up(k, g)
    return {
        ".q_weight": ("I32", (k * b // 32, n)),
        ".q_scale": ("I32", (count, n // 8)),
        ".q_scale_max": ("F16", (count,)),
        ".q_groups": ("I16", (2 * count,)),
        ".q_invperm": ("I32", (k,)),
    }


def exl3(n: int, k: int, g: int, b: int) -> Layout:
    return {
        ".trellis": ("I16", (k // 16, n // 16, 16 * b)),
        ".suh": ("F16", (k,)),
        ".svh": ("F16", (n,)),
        ".mcg": ("I32", ()),
    }


def nunchaku(n: int, k: int, g: int, b: int) -> Layout:
    return {
        ".qweight": ("I8", (n, k // 2)),
        ".wscales": ("BF16", (k // g, n)),
        ".smooth_factor": ("BF16", (k,)),
        ".proj_down": ("BF16", (k, 32)),
        ".proj_up": ("BF16", (n, 32)),
    }


def fp_quant(n: int, k: int, g: int, b: int) -> Layout:
    return {
        ".qweight": ("U8", (n, k // 2)),
        ".scales": ("U8", (n, k // (16 if g == 64 else 32))),
        ".weight_global_scale": ("BF16", (1,)),
    }


def higgs(n: int, k: int, g: int, b: int) -> Layout:
    return {
        ".weight": ("I16", (n * b // 16, k)),
        ".scales": ("F16", (n, k // g)),
        ".tables": ("F16", (2**b,)),
        ".tables2": ("F16", (2**b, 2**b, 2)),
    }


def quip(n: int, k: int, g: int, b: int) -> Layout:
    return {".Qidxs": ("I64", (n, k * b // 64)), ".SU": ("F16", (k,)), ".SV": ("F16", (n,)), ".Wscale": ("F32", ())}


def consistent_lie(k: int, g: int, b: int, said: int | None, said_group: int | None) -> bool:
    """Whether a config errs in bits and group so that both still fit words and scales: only the config knows these."""
    if said is None or said == b:
        return False
    return g >= k or (said_group is not None and said * said_group == b * g)


ALL = (2, 3, 4, 5, 6, 7, 8)
LAYOUTS: list[tuple[Callable[[int, int, int, int], Layout], str, tuple[int, ...]]] = [
    (gptq, "gptq", ALL),
    (gptq_in_bytes, "gptq", ALL),
    (awq_gemm, "awq", (4, 8)),
    (awq_gemv, "awq", (4,)),
    (awq_fast, "awq", (4,)),
    (marlin, "gptq", (4, 8)),
    (qqq, "qqq", (4,)),
    (bnb, "bitsandbytes", (4,)),
    (hqq, "hqq", (1, 2, 3, 4, 8)),
    (quanto, "quanto", (2, 4)),
    (mlx, "mlx", (2, 3, 4, 5, 6, 8)),
    (exl2, "exl2", ALL),
    (exl3, "exl3", ALL),
    (nunchaku, "svdq", (4,)),
    (fp_quant, "fp_quant", (4,)),
    (higgs, "higgs", (2, 4)),
    (quip, "quip", (2, 3, 4)),
]


def group(layout: Layout, declared: Declared) -> Group:
    tensors = {r: Stored(d, s, prod(s) * BITS[d] // 8) for r, (d, s) in layout.items()}
    return Group("model.layers.0.mlp.up_proj", tensors, declared)


def parts(layout: Layout) -> Iterator[Layout]:
    """The layout, and its payload with every smaller set of companions."""
    payload, *companions = layout
    for count in range(len(companions), -1, -1):
        for chosen in combinations(companions, count):
            yield {r: layout[r] for r in (payload, *chosen)}


@pytest.mark.parametrize(("make", "method", "widths"), LAYOUTS, ids=[m.__name__ for m, _, _ in LAYOUTS])
@settings(max_examples=20, deadline=None)
@given(
    n=st.integers(1, 40).map(lambda v: 64 * v),
    k=st.integers(1, 40).map(lambda v: 128 * v),
    g=st.sampled_from((32, 64, 128)),
    pick=st.integers(0, 6),
    said=st.sampled_from((None, 2, 3, 4, 8)),
    said_group=st.sampled_from((None, 32, 64, 128)),
)
def test_the_number_is_right_or_unknown(
    make: Callable[[int, int, int, int], Layout],
    method: str,
    widths: tuple[int, ...],
    n: int,
    k: int,
    g: int,
    pick: int,
    said: int | None,
    said_group: int | None,
) -> None:
    b = widths[pick % len(widths)]
    layout = make(n, k, g, b)
    stated = [Declared(method, bits=b, group=g), Declared()]
    if not consistent_lie(k, g, b, said, said_group):
        stated.append(Declared(method, bits=said, group=said_group))
    for declared in stated:
        for part in parts(layout):
            reading = read(group(part, declared))
            counted = sum(c.parameters for c in reading.claims)
            assert reading.unknown or counted == n * k, f"{counted} of {n * k} from {part} with {declared}"
    whole = read(group(layout, Declared(method, bits=b, group=g)))
    assert not whole.unknown
    assert len(whole.claims) == 1


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_any_tensors_under_these_names_are_read_without_an_exception(data: st.DataObject) -> None:
    roles = data.draw(st.sampled_from([s.ROLES for s in SCHEMES if s.ROLES]))
    chosen = data.draw(st.lists(st.sampled_from(roles), min_size=1, max_size=5, unique=True))
    size = st.sampled_from((0, 1, 2, 3, 8, 16, 64, 96, 128))
    shapes = st.lists(size, max_size=4).map(tuple)
    dtypes = st.sampled_from(("U8", "I8", "I16", "I32", "U32", "I64", "F16", "BF16", "F32", "F8_E4M3", "F8_E8M0"))
    layout = {r: (data.draw(dtypes), data.draw(shapes)) for r in chosen}
    method = data.draw(st.sampled_from((None, "gptq", "awq", "hqq", "mlx", "sdnq", "gemma", "bitnet", "vptq", "quark")))
    entry = data.draw(st.dictionaries(st.sampled_from(KEYS), st.recursive(VALUES, lambda v: st.lists(v, max_size=2))))
    declared = Declared(method, bits=data.draw(st.sampled_from((None, 1, 3, 4, 8))), entry=entry)
    reading = read(group(layout, declared))
    roles_read = [r for c in reading.claims for r in (*c.payload, *c.overhead)] + list(reading.unknown)
    assert sorted(roles_read) == sorted(layout)
