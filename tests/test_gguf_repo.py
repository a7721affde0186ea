"""GGUF repos from listing to report on the loopback Hub: the menu, what it costs, splits, pieces, companions."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFWriter

from inspector import cli, inspect
from inspector.errors import SourceError, UsageError
from inspector.formats.gguf import parse
from inspector.measure import measure
from inspector.menu import filled
from inspector.model import Report
from inspector.render import render
from tests.formats.gguf.build import build
from tests.loopback import LoopbackHub, Repo, Virtual
from tests.loopback import quants as q
from tests.memory import MemorySource
from tests.waiting import load

Files = dict[str, bytes | Virtual]


@pytest.fixture(scope="module")
def hub() -> Iterator[LoopbackHub]:
    with LoopbackHub([q.repo()]) as running:
        yield running


def reads(hub: LoopbackHub, path: str = "") -> list[int]:
    """Body bytes that the CDN sent, per ranged read of the files whose path holds `path`."""
    return [r.sent for r in hub.requests if r.request.server == "cdn" and path in r.request.file]


def test_the_invented_repo_is_what_the_packages_writer_writes(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    w = GGUFWriter(path, "qwen3moe")
    w.add_type("model")
    w.add_name(q.STEM)
    w.add_file_type(15)
    w.add_block_count(q.BLOCKS)
    w.add_context_length(40_960)
    w.add_embedding_length(q.HIDDEN)
    w.add_head_count(32)
    w.add_head_count_kv(4)
    w.add_key_length(128)
    w.add_value_length(128)
    w.add_expert_count(q.EXPERTS)
    w.add_tokenizer_model("gpt2")
    w.add_tokenizer_pre("qwen2")
    w.add_token_list(list(q.words()))
    w.add_token_types([1] * q.TOKENS)
    w.add_token_merges([(t[:1] + b" " + t[1:]).decode() for t in q.words()])
    w.add_chat_template("{%- for m in messages %}" + " " * 4000)
    w.add_quantization_version(2)
    w.add_string("quantize.imatrix.file", f"{q.STEM}/imatrix.gguf")
    w.add_int32("quantize.imatrix.entries_count", 384)
    for name, ne, kind in q.tensors("Q4_K_M"):
        _, block, size = q.TYPES[kind]
        shape = (*ne[:0:-1], ne[0] // block * size)
        raw = None if kind == "F32" else GGMLQuantizationType[kind]
        dtype, shape = (np.dtype(np.float32), ne[::-1]) if raw is None else (np.dtype(np.uint8), shape)
        w.add_tensor_info(name, shape, dtype, q.nbytes(ne, kind), raw)
    w.write_header_to_file()
    w.write_kv_data_to_file()
    w.write_ti_data_to_file()
    w.close()
    ours = q.part("Q4_K_M")[0]
    written = path.read_bytes()
    assert ours == written + bytes(-len(written) % 32)


def test_the_default_pick_reads_one_header_and_knows_the_menu(hub: LoopbackHub) -> None:
    hub.forget()
    report = inspect(q.NAME, endpoint=hub.endpoint)
    length = len(q.part("Q4_K_M")[0])
    assert report.variant == "Q4_K_M"
    assert (report.tensors, report.parameters) == (579, q.PARAMETERS)
    assert report.tensor_bytes == q.tensor_bytes("Q4_K_M")
    assert {r.request.file for r in hub.requests if r.request.server == "cdn"} == {f"{q.STEM}-Q4_K_M.gguf"}
    assert len(reads(hub)) <= 4
    assert sum(reads(hub)) <= 1.15 * length
    assert report.cost.bytes_fetched < 10_000_000
    assert len(report.menu) == 20
    assert [v.name for v in report.menu if v.default] == ["Q4_K_M"]
    for variant in report.menu:
        assert variant.parameters == q.PARAMETERS, variant.name
        assert variant.tensor_bytes == q.tensor_bytes(variant.name), variant.name
        assert variant.derived == (variant.name != "Q4_K_M")
    assert [e.reason for e in report.excluded if e.path == "imatrix.gguf"] == [
        "companion of every quant: calibration data (imatrix)"
    ]
    assert not report.incomplete


def test_all_reads_each_header_once(hub: LoopbackHub) -> None:
    hub.forget()
    report = inspect(q.NAME, endpoint=hub.endpoint, variant="all")
    assert report.variant == "Q4_K_M"
    assert not any(v.derived for v in report.menu)
    assert {v.name: v.tensor_bytes for v in report.menu} == {n: q.tensor_bytes(n) for n in q.QUANTS}
    for label in q.QUANTS:
        parts = 2 if label == "BF16" else 1
        length = sum(len(q.part(label, n, parts)[0]) for n in range(parts))
        name = f"-{label}-0" if label == "BF16" else f"{q.STEM}-{label}.gguf"
        sent = sum(reads(hub, name))
        # The first header is read in growing ranges, the others in one that is sized by it.
        assert length <= sent <= length + 400_000, label
        if label not in ("Q4_K_M", "BF16"):
            assert len(reads(hub, name)) == 1


def test_a_default_pick_takes_no_longer_than_three_of_its_header() -> None:
    with LoopbackHub([q.repo()], latency=0.04) as hub:

        def took(repo: str) -> float:
            times = []
            for _ in range(3):
                started = time.perf_counter()
                inspect(repo, endpoint=hub.endpoint)
                times.append(time.perf_counter() - started)
            return min(times)

        one = took(f"{hub.endpoint}/{q.NAME}/resolve/main/{q.STEM}-Q4_K_M.gguf")
        assert took(q.NAME) < 3 * one


def test_a_header_of_ten_megabytes_is_read_in_few_ranges() -> None:
    pairs = q.keys("Q4_K_M", count=310_000)
    head, size = q.header(pairs, list(q.tensors("Q4_K_M")))
    assert 10_400_000 < len(head) < 12_000_000
    with LoopbackHub([Repo.build("org/big", {"m-Q4_K_M.gguf": Virtual(head, size)})]) as hub:
        report = inspect("org/big", endpoint=hub.endpoint)
        assert report.parameters == q.PARAMETERS
        assert len(reads(hub)) <= 4
        assert sum(reads(hub)) <= 1.15 * len(head)
        assert hub.totals()["cdn_authorized"] == 0


def test_later_parts_and_small_headers_are_not_over_read() -> None:
    head, size = build([("a", (256, 2), 12, 288)], [("general.architecture", 8, "llama")])
    files: Files = {f"m-Q4_K_M-0000{n + 1}-of-00002.gguf": Virtual(*q.part("BF16", n, 2)) for n in range(2)}
    with LoopbackHub([Repo.build("org/split", files), Repo.build("org/s", {"m.gguf": Virtual(head, 1 << 30)})]) as hub:
        inspect("org/split", endpoint=hub.endpoint)
        assert max(reads(hub, "00002-of")) <= 65_536
        assert len(reads(hub, "00002-of")) == 1
        report = inspect("org/s", endpoint=hub.endpoint)
        assert report.cost.bytes_fetched < 200_000
    assert size > 0


SPLIT = [("split.no", 2, 0), ("split.count", 2, 2), ("split.tensors.count", 5, 3)]
NAMES = ("m-Q4_K_M-00001-of-00002.gguf", "m-Q4_K_M-00002-of-00002.gguf")
ARCH = ("general.architecture", 8, "llama")


def tensor(name: str) -> tuple[str, tuple[int, ...], int, int]:
    return name, (256, 2), 12, 288


def codes(files: dict[str, tuple[bytes, int]], variant: str | None = None) -> list[tuple[str, str, str]]:
    found = load(MemorySource({p: (h, s - len(h)) for p, (h, s) in files.items()}), variant=variant).checkpoint
    return [(n.code, n.message, n.where) for n in found.notes]


def split(no: int, count: int, total: int) -> list[tuple[str, int, object]]:
    return [("split.no", 2, no), ("split.count", 2, count), ("split.tensors.count", 5, total)]


def test_a_first_part_without_tensors_and_a_second_without_metadata() -> None:
    files = {
        NAMES[0]: build([], [ARCH, ("llama.block_count", 4, 1), *split(0, 2, 2)]),
        NAMES[1]: build([tensor("blk.0.ffn_up.weight"), tensor("blk.1.ffn_up.weight")], split(1, 2, 2)),
    }
    assert codes(files) == []
    source = MemorySource({p: (h, s - len(h)) for p, (h, s) in files.items()})
    found, _ = measure(load(source).checkpoint)
    # Block 1 lies past block_count: metadata of part 1 rules over tensors of part 2.
    assert {(c.component, c.tensors, c.bytes) for c in found.cells} == {("mlp", 1, 288), ("draft", 1, 288)}


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        (split(0, 2, 5), split(1, 2, 5), ("split_tensors", "split.tensors.count says 5, the parts hold 2", NAMES[0])),
        (split(0, 3, 2), split(1, 3, 2), ("missing_shard", "split.count says 3 parts, 2 are there", NAMES[0])),
        (split(0, 1, 2), split(1, 1, 2), ("split_count", "split.count says 1 parts, 2 are there", NAMES[0])),
        ([], [], ("split_undeclared", "2 files are named as parts of one set", NAMES[0])),
        (
            split(1, 2, 2),
            split(1, 2, 2),
            ("split_order", "is part 1 by its name, split.no says 1 (counted from 0, so part 2)", NAMES[0]),
        ),
    ],
)
def test_split_keys_are_held_against_the_files(
    first: list[tuple[str, int, object]], second: list[tuple[str, int, object]], expected: tuple[str, str, str]
) -> None:
    files = {NAMES[0]: build([tensor("a")], [ARCH, *first]), NAMES[1]: build([tensor("b")], second)}
    (found,) = codes(files)
    assert found[0] == expected[0]
    assert found[1].startswith(expected[1])
    assert found[2] == expected[2]


def test_a_renamed_part_says_that_the_others_are_missing() -> None:
    ((code, words, where),) = codes({"m.gguf": build([tensor("a")], [ARCH, *split(0, 3, 9)])})[:1]
    assert (code, words, where) == ("missing_shard", "split.count says 3 parts, 1 are there", "m.gguf")


def test_raw_pieces_are_one_file_with_one_header() -> None:
    head, size = build([tensor(f"blk.{i}.ffn_up.weight") for i in range(9)], [ARCH])
    data = head + bytes(size - len(head))
    cut = len(head) + 500
    names = ("m.Q4_K_M.gguf-split-a", "m.Q4_K_M.gguf-split-b")
    files: Files = {names[0]: data[:cut], names[1]: data[cut:]}
    with LoopbackHub([Repo.build("org/cut", files)]) as hub:
        report = inspect("org/cut", endpoint=hub.endpoint)
        assert {r.request.file for r in hub.requests if "split" in r.request.file} == {names[0]}
    assert (report.files, report.file_bytes, report.tensor_bytes, report.tensors) == (2, len(data), 9 * 288, 9)
    assert "raw_pieces" in [n.code for n in report.notes]
    assert not report.incomplete


def test_incomplete_sets_have_no_figures() -> None:
    whole = build([tensor("blk.0.ffn_up.weight")], [ARCH])
    files: Files = {
        "m-Q4_K_M-00001-of-00003.gguf": Virtual(*whole),
        "m-Q4_K_M-00003-of-00003.gguf": Virtual(*whole),
        "m-Q8_0.gguf": Virtual(*whole),
    }
    with LoopbackHub([Repo.build("org/gap", files)]) as hub:
        report = inspect("org/gap", endpoint=hub.endpoint)
        asked = inspect("org/gap", endpoint=hub.endpoint, variant="Q4_K_M")
    assert report.variant == "Q8_0"
    (gap,) = [v for v in report.menu if v.name == "Q4_K_M"]
    assert (gap.missing, gap.file_bytes, gap.tensor_bytes, gap.parameters) == (1, None, None, None)
    (note,) = [n for n in report.notes if n.code == "incomplete_set"]
    assert "1 of the 3 parts of Q4_K_M are not there, first 'm-Q4_K_M-00002-of-00003.gguf'" in note.message
    assert not report.incomplete
    assert asked.incomplete
    assert "2 of 3" in render("text", (report,), width=120)


def test_a_companion_by_its_header_is_passed_over() -> None:
    model = build([tensor("blk.0.ffn_up.weight")], [ARCH, ("general.type", 8, "model")])
    clip = build([tensor("v.blk.0.ffn_up.weight")], [("general.architecture", 8, "clip")])
    files: Files = {"a-eyes.gguf": Virtual(*clip), "b.gguf": Virtual(*model)}
    with LoopbackHub([Repo.build("org/eyes", files)]) as hub:
        report = inspect("org/eyes", endpoint=hub.endpoint)
        named = inspect("org/eyes", endpoint=hub.endpoint, variant="a-eyes.gguf")
    assert report.variant == "b"
    assert [e.reason for e in report.excluded] == ["companion of every quant: multimodal projector (mmproj)"]
    assert [c.component for c in named.cells] == ["vision"]


def test_one_bad_header_of_a_menu_leaves_the_others() -> None:
    model = build([tensor("blk.0.ffn_up.weight")], [ARCH])
    files: Files = {"m-Q4_K_M.gguf": Virtual(*model), "m-Q8_0.gguf": b"<html>not here</html>"}
    with LoopbackHub([Repo.build("org/bad", files)]) as hub:
        report = inspect("org/bad", endpoint=hub.endpoint, variant="all")
        assert inspect("org/bad", endpoint=hub.endpoint).incomplete is False
    assert {v.name: v.tensor_bytes for v in report.menu} == {"Q4_K_M": 288, "Q8_0": None}
    (note,) = [n for n in report.notes if n.code == "unread_file"]
    assert (note.where, "HTML" in note.message) == ("m-Q8_0.gguf", True)
    assert report.incomplete


def test_figures_of_another_model_are_not_derived() -> None:
    files = {
        "a-Q4_K_M.gguf": q.part("Q4_K_M"),
        "b-Q8_0.gguf": q.part("Q8_0"),
        "a-Q8_0.gguf": (q.part("Q8_0")[0], q.part("Q8_0")[1] + 5_000),
    }
    loaded = load(MemorySource({p: (h, s - len(h)) for p, (h, s) in files.items()}))
    menu = filled(loaded.checkpoint, measure(loaded.checkpoint)[0], loaded.others)
    assert {v.name: (v.tensor_bytes, v.parameters, v.derived) for v in menu} == {
        "Q4_K_M": (q.tensor_bytes("Q4_K_M"), q.PARAMETERS, False),
        "b-Q8_0": (None, None, False),
        # Whatever types these tensors have, they take a multiple of 8,192 bytes.
        "a-Q8_0": (None, None, False),
    }


def test_verdict_expectation_and_method(hub: LoopbackHub) -> None:
    report = inspect(q.NAME, endpoint=hub.endpoint)
    found = report.prequantised
    assert (found.verdict, found.method) == ("yes", "gguf")
    assert found.summary == "already quantised: Q4_K dense, Q4_K + Q6_K routed experts"
    plain = inspect(q.NAME, endpoint=hub.endpoint, variant="bf16").prequantised
    assert (plain.verdict, plain.method) == ("no", None)
    printed = io.StringIO()
    with redirect_stdout(printed):
        ask = ["quant", q.NAME, "--endpoint", hub.endpoint, "--expect"]
        assert cli.main([*ask, "attention=Q4_K,head=q6_k"]) == 0
        assert cli.main([*ask, "attention=Q6_K"]) == 1


def test_a_label_that_the_bytes_deny_is_a_note() -> None:
    keys = [ARCH, ("general.file_type", 4, 15)]
    files: Files = {"m-Q4_K_M.gguf": Virtual(*build([("blk.0.ffn_up.weight", (256, 9), 14, 1890)], keys))}
    files["n-Q6_K.gguf"] = Virtual(*build([("blk.0.ffn_up.weight", (256, 9), 14, 1890)], keys))
    with LoopbackHub([Repo.build("org/label", files)]) as hub:
        both = inspect("org/label", endpoint=hub.endpoint)
        one = inspect("org/label", endpoint=hub.endpoint, variant="Q6_K")
    (note,) = [n for n in both.notes if n.code == "file_type_disagrees"]
    assert note.message == "called Q4_K_M by file name and general.file_type; by bytes it is 100 % Q6_K"
    (note,) = [n for n in one.notes if n.code == "file_type_disagrees"]
    assert note.message == "called Q4_K_M by general.file_type; by bytes it is 100 % Q6_K"


def test_a_tied_head_is_a_note() -> None:
    tensors = [tensor("token_embd.weight"), ("output_norm.weight", (8,), 0, 32)]
    (found,) = codes({"m.gguf": build(tensors, [ARCH])})
    assert found[0] == "tied_head"
    assert "token_embd.weight (288 bytes)" in found[1]


def test_metadata_is_shown_shortened_and_escaped(hub: LoopbackHub, tmp_path: Path) -> None:
    hostile = tmp_path / "m.gguf"
    head, size = build([tensor("a")], [ARCH, ("evil\x1b[2J", 8, "\x1b[2J\nx"), ("n", 6, float("nan"))])
    hostile.write_bytes(head + bytes(size - len(head)))
    reports = (
        inspect(str(hostile), metadata=True),
        inspect(q.NAME, endpoint=hub.endpoint, metadata=True),
        inspect(q.NAME, endpoint=hub.endpoint),
    )
    for form in ("text", "markdown", "json"):
        assert "\x1b" not in render(form, reports)
    text = render("text", reports[1:2], width=120)
    assert "151,936 string: [" in text
    document = json.loads(render("json", reports))
    schema = json.loads((Path(cli.__file__).parent / "schema.json").read_text())
    jsonschema.validate(document, schema)
    first, second, third = (r["metadata"] for r in document["reports"])
    assert third is None
    assert first[0]["values"]["n"] == "nan"
    assert second[0]["values"]["tokenizer.ggml.tokens"]["count"] == 151_936
    assert second[0]["values"]["qwen3moe.block_count"] == 48


@pytest.mark.parametrize(
    "name", ["m-Q4_K_M.gguf", "sha256-6a0746a1ec1aef3e7ec53868f220ff6e389f6f8ef87a01d77c96807de94ca2aa"]
)
def test_a_local_file_a_blob_and_a_folder_with_one(tmp_path: Path, name: str) -> None:
    head, size = build([tensor("blk.0.ffn_up.weight")], [ARCH])
    (tmp_path / name).write_bytes(head + bytes(size - len(head)))
    (tmp_path / "sha256-0000").write_bytes(b"a template")
    for where in (tmp_path / name, tmp_path):
        report = inspect(str(where))
        assert (report.format, report.tensor_bytes, report.files) == ("gguf", 288, 1)


def test_a_safetensors_blob_is_known_by_its_structure(tmp_path: Path) -> None:
    table = b'{"w":{"dtype":"BF16","shape":[4],"data_offsets":[0,8]}}'
    (tmp_path / "blob").write_bytes(len(table).to_bytes(8, "little") + table + bytes(8))
    for where in (tmp_path / "blob", tmp_path):
        assert inspect(str(where)).tensor_bytes == 8


def test_a_plain_address(capsys: pytest.CaptureFixture[str]) -> None:
    head, size = q.part("Q4_K_M")
    files: Files = {"m.gguf": Virtual(head, size), "blob": Virtual(head, size), "page.gguf": b"<html></html>"}
    repo = Repo.build("org/files", files)
    with LoopbackHub([repo], mirror=True) as hub:
        base = f"{hub.endpoint}/org/files/resolve/main"
        for name in ("m.gguf?download=true&secret=1", "blob"):
            hub.forget()
            report = inspect(f"{base}/{name}", endpoint="http://hub.invalid", token="hf_secret")
            assert (report.file_bytes, report.parameters, report.format) == (size, q.PARAMETERS, "gguf")
            assert "secret" not in report.repo
            assert {r.request.method for r in hub.requests} == {"GET"}
            assert all(r.authorization is None for r in hub.requests)
            assert sum(r.sent for r in hub.requests) <= 1.15 * len(head)
        assert cli.main([f"{base}/page.gguf", "--endpoint", "http://hub.invalid"]) == 3
        assert "HTML" in capsys.readouterr().err
        with pytest.raises(SourceError):
            inspect(f"{base}/gone.gguf", endpoint="http://hub.invalid")
        with pytest.raises(SourceError, match="no request may be made"):
            inspect(f"{base}/m.gguf", endpoint="http://hub.invalid", offline=True)


def test_an_unknown_variant_lists_the_labels(hub: LoopbackHub) -> None:
    with pytest.raises(UsageError, match=r"'Q9_K' is not in this repo.*There are: BF16, IQ4_NL.*UD-Q8_K_XL"):
        inspect(q.NAME, endpoint=hub.endpoint, variant="Q9_K")


def test_the_menu_says_in_every_form_which_is_the_default(hub: LoopbackHub) -> None:
    report: Report = inspect(q.NAME, endpoint=hub.endpoint)
    row = [line for line in render("text", (report,), width=120).splitlines() if "Q4_K_M (default)" in line]
    assert [w for w in ("18,562,414,112", "18,557,204,480", "30.53 B", "4.86", "read") if w not in row[0]] == []
    assert "18,557,204,480" in render("markdown", (report,))
    (found,) = json.loads(render("json", (report,)))["reports"]
    assert [v["variant"] for v in found["menu"] if v["default"]] == ["Q4_K_M"]
    assert all(v["bits_per_weight"] is not None for v in found["menu"])


def test_the_header_of_the_invented_repo_is_sound() -> None:
    head, size = q.part("Q2_K")
    header = parse(head, "m.gguf", size)
    assert header.tensor_bytes == q.tensor_bytes("Q2_K")
    assert header.notes == ()
