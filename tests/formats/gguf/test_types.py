"""The table of types against the `gguf` package, with every difference and its reason; file types and labels."""

from __future__ import annotations

import pytest
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, LlamaFileType

from inspector.gguf.ggml_types import QUANTS, READINGS, SETTLED
from inspector.gguf.gguf_keys import FILE_TYPES, disagreement, file_type, main_layers, types_of

DIFFERENT = {
    "Q8_1": (
        (32, 40),
        "the package has the old f32 scale and sum; ggml-common.h: 2 x f16 + 32 = 36; never stored in files",
    ),
}
ABSENT = {
    42: "Q2_0 came to ggml after the package's 0.19",
    **dict.fromkeys((31, 32, 33, 36, 37, 38), "removed from mainline"),
}


def test_every_type_of_the_package_has_its_size_here() -> None:
    assert len(GGML_QUANT_SIZES) > 30
    for member, (block, size) in GGML_QUANT_SIZES.items():
        ours = READINGS[int(member)][0]
        assert ours.name == member.name
        expected = DIFFERENT[member.name][0] if member.name in DIFFERENT else (ours.block, ours.size)
        assert (block, size) == expected, member.name


def test_differences_are_still_there() -> None:
    """When the package learns a type or mends a size, its row above goes."""
    for name in DIFFERENT:
        ours = READINGS[int(GGMLQuantizationType[name])][0]
        assert GGML_QUANT_SIZES[GGMLQuantizationType[name]] != (ours.block, ours.size)
    known = {int(m) for m in GGMLQuantizationType}
    mainline = {n for n in READINGS if n < 100}
    assert mainline - known == set(ABSENT)


@pytest.mark.parametrize(
    "number,ne,nbytes",
    [
        (12, (4096, 14336), 14336 * 16 * 144),
        (22, (256,), 82),
        (144, (5120, 3), 3 * (4 + 20 * 136)),
        (398, (64, 2), 2 * (4 + 64)),
        (36, (512, 256), 32800),
        (40, (128, 2), 144),
    ],
)
def test_bytes_of_rows(number: int, ne: tuple[int, ...], nbytes: int) -> None:
    assert READINGS[number][0].nbytes(ne) == nbytes


def test_rows_of_broken_blocks_have_no_size() -> None:
    assert READINGS[12][0].nbytes((255,)) is None


def test_nominal_bits_are_the_digit_in_the_name() -> None:
    bits = {
        "Q4_K": 4,
        "IQ2_XXS": 2,
        "IQ1_M": 1,
        "TQ1_0": 1,
        "MXFP4": 4,
        "NVFP4": 4,
        "I2_S": 2,
        "Q8_KV_R8": 8,
        "BF16_R16": 16,
    }
    assert {n: QUANTS[n].bits for n in bits} == bits


def test_ids_that_forks_share_are_not_settled() -> None:
    assert not SETTLED & {36, 37, 38, 39, 41, 42}
    assert {0, 1, 2, 8, 12, 14, 30, 40} <= SETTLED


def test_file_types_are_the_packages() -> None:
    for member in LlamaFileType:
        if member.name != "GUESSED":
            assert FILE_TYPES[int(member)] == member.name.removeprefix("MOSTLY_").removeprefix("ALL_")


def test_labels() -> None:
    assert file_type({"general.file_type": 15}) == "Q4_K_M"
    assert file_type({"general.file_type": 1024 + 7}) == "Q8_0"
    assert file_type({"general.file_type": 99}) is None
    assert file_type({}) is None
    for label, kinds in {
        "Q4_K_M": {"Q4_K"},
        "UD-Q2_K_XL": {"Q2_K"},
        "IQ3_M": {"IQ3_S"},
        "MXFP4_MOE": {"MXFP4"},
        "IQ4_XS": {"IQ4_XS"},
        "F16": {"F16"},
        "IQ1_S_R4": {"IQ1_S_R4"},
        "SOMETHING": set(),
    }.items():
        assert types_of(label) == kinds


def test_a_label_that_most_bytes_contradict_is_a_note() -> None:
    note = disagreement("Q2_K_S", "general.file_type", {"IQ2_XXS": 720, "Q2_K": 200, "F32": 80})
    assert note is not None
    assert (note.code, note.where) == ("file_type_disagrees", "general.file_type")
    assert note.message == "called Q2_K_S by general.file_type; by bytes it is 72 % IQ2_XXS, 20 % Q2_K, 8 % F32"
    assert disagreement("Q4_K_M", "x", {"Q4_K": 71, "Q6_K": 29}) is None
    assert disagreement("WHATEVER", "x", {"Q4_K": 71}) is None
    assert disagreement("Q4_K_M", "x", {}) is None


def test_main_layers_leave_the_draft_layers_out() -> None:
    keys = {"general.architecture": "deepseek2", "deepseek2.block_count": 62, "deepseek2.nextn_predict_layers": 1}
    assert main_layers(keys) == 61
    assert main_layers({"general.architecture": "llama", "llama.block_count": 32}) == 32
    assert main_layers({"general.architecture": "clip"}) is None
    assert main_layers({**keys, "deepseek2.nextn_predict_layers": 62}) is None
