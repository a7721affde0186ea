"""The recorded repos add up to what was published about them, file by file and byte by byte."""

from __future__ import annotations

import hashlib
import json
import lzma
import math
import struct
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest

from tests.loopback import Repo, fixture, load, names

BITS = {"F64": 64, "I64": 64, "F32": 32, "I32": 32, "BF16": 16, "F16": 16}


class Published(NamedTuple):
    """Figures from publications: the index's or the Hub's own, never from the generators."""

    files: int | None
    tensors: int | None
    tensor_bytes: int | None
    file_bytes: int | None = None


PUBLISHED = {
    "deepseek-ai/DeepSeek-V4.1-Flash": Published(48, 96_085, 510_286_023_000, 510_296_708_312),
    "zai-org/GLM-5.3-Flash": Published(62, 76_108, 328_326_771_576, 328_337_455_672),
    "zai-org/GLM-5.3-Flash-BF16": Published(120, 38_770, 642_646_653_816),
    "deepseek-ai/DeepSeek-V3": Published(163, 91_991, 688_574_839_360, 688_586_727_753),
    "deepseek-ai/DeepSeek-V4-Flash-0731": Published(48, 72_317, 166_878_536_440, 166_886_535_336),
    "deepseek-ai/DeepSeek-V4-Pro": Published(None, 145_116, 864_704_792_696),
    "openai/gpt-oss-20b": Published(3, 459, 13_761_264_768),
    "openai/gpt-oss-120b": Published(15, 687, 65_248_815_744),
    "moonshotai/Kimi-K2.5": Published(None, None, None),
    "meta-llama/Llama-3.1-8B": Published(4, 291, 16_060_522_496),
}


class Held(NamedTuple):
    """What one repo's headers hold."""

    dtypes: Mapping[str, int]
    elements: Mapping[str, int]
    tensors: Mapping[str, tuple[str, list[int]]]
    file_bytes: int


def parsed(stored: bytes) -> dict[str, Any]:
    (length,) = struct.unpack("<Q", stored[:8])
    assert len(stored) == 8 + length
    header: dict[str, Any] = json.loads(stored[8:])
    header.pop("__metadata__", None)
    return header


def main_files(repo: Repo) -> list[str]:
    """The files that the root index names."""
    index = json.loads(repo.files["model.safetensors.index.json"].load())
    return sorted(set(index["weight_map"].values()))


def held(repo: Repo, paths: list[str]) -> Held:
    dtypes: Counter[str] = Counter()
    elements: Counter[str] = Counter()
    tensors: dict[str, tuple[str, list[int]]] = {}
    for path in paths:
        file = repo.files[path]
        stored = file.load()
        header, at = parsed(stored), 0
        for name, about in header.items():
            start, end = about["data_offsets"]
            count = math.prod(about["shape"])
            assert start == at, f"{path}: {name} starts at {start}, not {at}"
            assert (end - start) * 8 == count * BITS.get(about["dtype"], 8), f"{path}: {name}"
            assert name not in tensors, f"{name} is stored twice"
            dtypes[about["dtype"]] += end - start
            elements[about["dtype"]] += count
            tensors[name] = (about["dtype"], about["shape"])
            at = end
        assert len(stored) + at == file.size, f"{path}: {len(stored) + at} bytes, listed {file.size}"
    return Held(dtypes, elements, tensors, sum(repo.files[p].size for p in paths))


@pytest.mark.parametrize("name", PUBLISHED)
def test_headers_add_up_to_the_published_totals(name: str) -> None:
    published, repo = PUBLISHED[name], load(name)
    files = main_files(repo)
    got = held(repo, files)
    index = json.loads(repo.files["model.safetensors.index.json"].load())
    assert set(index["weight_map"]) == set(got.tensors)
    assert published.files in (None, len(files))
    assert published.tensors in (None, len(got.tensors))
    assert published.tensor_bytes in (None, sum(got.dtypes.values()))
    assert published.file_bytes in (None, got.file_bytes)
    expected = fixture.describe(name)["expected"]
    assert expected["tensors"] == len(got.tensors)
    assert expected["tensor_bytes"] == sum(got.dtypes.values())
    assert expected["file_bytes"] == got.file_bytes


def test_flash_41_by_dtype_and_part() -> None:
    repo = load("deepseek-ai/DeepSeek-V4.1-Flash")
    got = held(repo, main_files(repo))
    assert got.dtypes == {
        "I8": 278_585_671_680,
        "F8_E4M3": 204_015_223_296,
        "F8_E8M0": 23_563_015_184,
        "BF16": 3_952_883_712,
        "F32": 169_229_128,
    }
    # Two FP4 values per I8 byte, scales are no parameters.
    counted = sum(n * (2 if d == "I8" else 1) for d, n in got.elements.items() if d != "F8_E8M0")
    assert counted == 763_205_315_794
    assert len(repo.files) == 88
    assert sum(f.size for f in repo.files.values()) == 510_313_353_565
    digest = hashlib.sha256(repo.files["config.json"].load()).hexdigest()
    assert digest == "8be45ce0476004a3f529fd896115a4a2e800a129ad2d3ec05b16050f52e21879"
    for shard, skip, published in (
        (9, 8, "139eeea4664aba161a4b4cb82a60a86a2429467601ee6584a887825f8137adfd"),
        (47, 0, "9055d06658af74f431f6675f6880f187b24a3f648b3f70ae949edc328b7702fc"),
        (48, 0, "ffc9da89096525ea191d967531f8063db66327b0880a9d2f4d7d73a42d641f28"),
    ):
        stored = repo.files[f"model-{shard:05d}-of-00048.safetensors"].load()
        assert hashlib.sha256(stored[skip:]).hexdigest() == published


def test_glm_by_dtype_and_index_hashes() -> None:
    repo = load("zai-org/GLM-5.3-Flash")
    got = held(repo, main_files(repo))
    assert got.dtypes["F8_E4M3"] == 314_396_639_232
    scales = sum(math.prod(s) for n, (_, s) in got.tensors.items() if n.endswith("weight_scale_inv"))
    assert sum(got.elements.values()) - scales == 321_323_031_390
    for name, published in (
        ("zai-org/GLM-5.3-Flash", "3c3f40366a53c3fd7974b4eab7881a365a98c2a4329150befebab99fe7c18b05"),
        ("zai-org/GLM-5.3-Flash-BF16", "e6007bd58fb7e07f9fe69544257ee2713f252ef5855bbf685b48c991d524ef0f"),
    ):
        index = load(name).files["model.safetensors.index.json"].load()
        assert hashlib.sha256(index).hexdigest() == published


def test_v3_index_claims_bytes_that_are_not_there() -> None:
    index = json.loads(load("deepseek-ai/DeepSeek-V3").files["model.safetensors.index.json"].load())
    assert index["metadata"]["total_size"] == 1_369_062_772_000


def test_kimi_counts_are_the_hubs() -> None:
    repo = load("moonshotai/Kimi-K2.5")
    got = held(repo, main_files(repo))
    counts: Counter[str] = Counter()
    for name, (dtype, shape) in got.tensors.items():
        if not name.endswith((".weight_scale", ".weight_shape")):
            counts[dtype] += math.prod(shape) * (8 if name.endswith(".weight_packed") else 1)
    assert counts == {"I32": 1_014_686_023_680, "BF16": 12_193_329_648, "F32": 23_040}
    assert got.tensors["vision_tower.inferred.weight"] == ("BF16", [471_143_920])
    assert any("inferred.weight" in text for text in fixture.describe(repo.name)["inferred"])


@pytest.mark.parametrize(("name", "parameters"), [("20b", 20_914_757_184), ("120b", 116_829_156_672)])
def test_gpt_oss_twins_hold_the_same_weights_under_other_names(name: str, parameters: int) -> None:
    repo = load(f"openai/gpt-oss-{name}")
    main = held(repo, main_files(repo))
    twin = held(repo, [p for p in repo.files if p.startswith("original/") and p.endswith(".safetensors")])
    assert twin.dtypes == main.dtypes
    assert not set(twin.tensors) & set(main.tensors)
    assert repo.files["metal/model.bin"].size > 0.99 * sum(main.dtypes.values())
    blocks = sum(math.prod(s) for n, (_, s) in main.tensors.items() if n.endswith("_blocks"))
    assert main.elements["BF16"] + 2 * blocks == parameters


def test_small_repos() -> None:
    adapter = load("example/llama-3.1-8b-lora")
    config = json.loads(adapter.files["adapter_config.json"].load())
    assert config["base_model_name_or_path"] == "meta-llama/Llama-3.1-8B"
    # r * (in + out) over the seven projections of 32 layers, in F32.
    per_layer = 16 * (2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14336))
    assert held(adapter, ["adapter_model.safetensors"]).dtypes == {"F32": 4 * 32 * per_layer}
    encoder = load("example/sentence-encoder")
    folders = {m["path"] for m in json.loads(encoder.files["modules.json"].load())}
    assert held(encoder, ["2_Dense/model.safetensors"]).elements == {"F32": 768 * 768 + 768}
    assert "2_Dense" in folders
    pipeline = load("example/stable-diffusion-1")
    components = json.loads(pipeline.files["model_index.json"].load())
    unet = "unet/diffusion_pytorch_model"
    assert components["unet"] == ["diffusers", "UNet2DConditionModel"]
    assert held(pipeline, [f"{unet}.safetensors"]).elements == {"F32": 859_520_964}
    assert held(pipeline, [f"{unet}.fp16.safetensors"]).elements == {"F16": 859_520_964}
    assert "safety_checker/model.safetensors" in pipeline.files
    assert "safety_checker/model.fp16.safetensors" not in pipeline.files


@pytest.mark.parametrize("name", names())
def test_every_listing_is_sound_and_says_what_is_inferred(name: str) -> None:
    about, repo = fixture.describe(name), load(name)
    assert about["published"] or about["inferred"]
    assert len(about["commit"]["sha"]) == 40
    paths = [f["path"] for f in about["files"]]
    assert len(set(paths)) == len(paths)
    stored = fixture.unpack((fixture.folder(name) / "data.tar.xz").read_bytes())
    assert set(stored) <= set(paths)
    for file in about["files"]:
        entry = repo.files[file["path"]]
        held_bytes = stored.get(file["path"], b"")
        assert len(file["id"]) == (64 if file["lfs"] else 40)
        assert len(held_bytes) <= file["size"]
        if not file["lfs"] and held_bytes:
            assert len(held_bytes) == file["size"], f"{file['path']} is a small file with part of its bytes"
            git = hashlib.sha1(b"blob %d\0" % len(held_bytes) + held_bytes).hexdigest()
            assert entry.oid == git
        else:
            assert "id" in file["inferred"]
    assert sum(f["size"] for f in about["files"]) == about["expected"]["repo_bytes"]


def test_all_fixtures_together_stay_small() -> None:
    assert set(PUBLISHED) < set(names())
    size = sum(p.stat().st_size for p in fixture.FIXTURES.rglob("*") if p.is_file())
    assert size < 8_000_000


def test_loading_reads_no_archive(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise AssertionError("an archive was unpacked")

    monkeypatch.setattr(lzma, "decompress", refuse)
    repos = [load(name) for name in names()]
    assert sum(len(r.files) for r in repos) > 500


def test_an_unknown_fixture_names_those_there_are() -> None:
    with pytest.raises(FileNotFoundError, match="openai/gpt-oss-20b"):
        load("org/none")
