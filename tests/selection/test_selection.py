"""Listings of repos as they are met, and any listing at all: chosen + excluded + other = every file once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import UsageError
from inspector.model import File, Listing, Ref
from inspector.selection import select, wanted_documents

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


def listing(files: dict[str, int]) -> Listing:
    return Listing(Ref("x/y", "0" * 40), tuple(File(p, s) for p, s in sorted(files.items())))


def test_there_are_cases() -> None:
    assert len(CASES) > 25


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text())
    expect = case["expect"]
    options = {"variant": case.get("variant"), "path": case.get("path")}
    files = listing(case["files"])
    found = select(files, case["documents"], **options)
    assert sorted(f.path for f in found.files) == sorted(expect["chosen"])
    assert {e.path: e.reason for e in found.excluded} == expect["excluded"]
    assert (found.format, found.kind) == (expect["format"], expect["kind"])
    assert [n.code for n in found.notes] == expect["notes"]
    if "menu" in expect:
        assert [v.name for v in found.menu] == expect["menu"]
        assert [v.default for v in found.menu].count(True) == 1
    if "folders" in expect:
        assert [p.folder for p in found.parts] == expect["folders"]
    wanted = wanted_documents(files, **options)
    assert set(case["documents"]) - {p for p in case["documents"] if p not in case["files"]} <= set(wanted)


def test_an_unknown_variant_lists_those_there_are() -> None:
    files = listing({"model.safetensors": 1, "model.fp16.safetensors": 1, "config.json": 1})
    with pytest.raises(UsageError, match=r"'bf16' is not in this repo\. There are: fp16, model"):
        select(files, {}, variant="bf16")


def test_an_unknown_path_is_refused() -> None:
    with pytest.raises(UsageError, match="no such file"):
        select(listing({"model.safetensors": 1}), {}, path="nope.safetensors")


def test_diffusers_configs_belong_to_their_component() -> None:
    files = listing({"model_index.json": 1, "unet/config.json": 1, "unet/diffusion_pytorch_model.safetensors": 9})
    found = select(files, {})
    assert found.parts[0].configs == ("unet/config.json",)
    assert set(wanted_documents(files)) == {"model_index.json", "unet/config.json"}


def test_a_file_without_weights_is_no_choice() -> None:
    with pytest.raises(UsageError, match="no weight file"):
        select(listing({"model.safetensors": 1, "README.md": 1}), {}, path="README.md")


def test_a_quant_can_be_asked_for_beside_safetensors() -> None:
    files = listing({"model.safetensors": 9, "m-Q4_K_M.gguf": 3, "m-UD-Q4_K_M.gguf": 4})
    assert [f.path for f in select(files, {}, variant="Q4_K_M").files] == ["m-Q4_K_M.gguf"]
    with pytest.raises(UsageError, match=r"model.*Q4_K_M, UD-Q4_K_M"):
        select(files, {}, variant="Q9")


def test_an_incomplete_quant_says_so_and_is_no_default() -> None:
    split = {"m-Q4_K_M-00001-of-00003.gguf": 1, "m-Q4_K_M-00003-of-00003.gguf": 1}
    missing = [n for n in select(listing(split), {}).notes if n.code == "missing_shard"]
    assert [n.where for n in missing] == ["m-Q4_K_M-00002-of-00003.gguf"]
    assert [f.path for f in select(listing({**split, "m-Q8_0.gguf": 1}), {}).files] == ["m-Q8_0.gguf"]


def test_a_folder_without_config_has_that_of_the_root() -> None:
    files = listing({"config.json": 1, "Q8_0/m-Q8_0.gguf": 1})
    assert select(files, {}).parts[0].configs == ("config.json",)


def test_missing_shards_are_counted_beyond_those_that_are_named() -> None:
    (note,) = select(listing({"model-00001-of-999999999.safetensors": 1}), {}).notes
    assert note.message.startswith("999,999,998 of 999,999,999 shards")


def test_a_huge_document_is_not_fetched() -> None:
    files = listing({"model.safetensors": 1, "config.json": 200_000_000})
    assert wanted_documents(files) == ()


stems = st.sampled_from(
    ["model", "model.fp16", "consolidated", "adapter_model", "diffusion_pytorch_model", "x-Q4_K_M", "optimizer"]
)
folders = st.sampled_from(["", "", "original/", "unet/", "2_Dense/", "a/", "a/b/", "onnx/", "checkpoint-5/"])
numbers = st.sampled_from(["", "", "-00001-of-00002", "-00002-of-00002", "-00003-of-00003"])
suffixes = st.sampled_from(
    [".safetensors", ".safetensors", ".bin", ".gguf", ".json", ".onnx", ".pt", ".safetensors.index.json", ".md"]
)
paths = st.builds(lambda f, s, n, x: f + s + n + x, folders, stems, numbers, suffixes) | st.sampled_from(
    ["config.json", "model_index.json", "modules.json", "adapter_config.json", "params.json"]
)
documents = st.dictionaries(
    st.sampled_from(["config.json", "model_index.json", "modules.json", "model.safetensors.index.json"]),
    st.sampled_from(
        [
            {"weight_map": {"a": "model-00001-of-00002.safetensors", "b": "gone.safetensors"}},
            {
                "weight_map": {
                    "a": "2_Dense/model.safetensors",
                    "b": "./model.safetensors",
                    "c": 3,
                    "d": "../x",
                    "e": "",
                }
            },
            {"unet": ["diffusers", "X"], "vae": [None, None]},
            [{"path": ""}, {"path": "2_Dense"}],
            {"transformers_weights": "consolidated.safetensors"},
            [],
            None,
            3,
        ]
    ),
)


@given(st.dictionaries(paths, st.integers(0, 99), max_size=12), documents, st.sampled_from([None, None, "fp16", "a"]))
def test_every_file_is_accounted_for_once(files: dict[str, int], known: dict[str, Any], variant: str | None) -> None:
    repo = listing(files)
    try:
        found = select(repo, known, variant=variant)
    except UsageError:
        assert variant is not None
        return
    accounted = [f.path for f in found.files] + [e.path for e in found.excluded] + [f.path for f in found.other]
    assert sorted(accounted) == sorted(files)
    assert set(wanted_documents(repo, variant)) <= set(files)
