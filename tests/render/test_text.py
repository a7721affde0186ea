"""Text for a person: literal output, widths, hostile names, unknown figures, colours."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from inspector.model import Excluded, Report
from inspector.render import render
from inspector.show.columns import measure
from tests.render.fits import MANY, TWO
from tests.render.samples import CELLS, HOSTILE, UNKNOWN, V41, hostile

BARS = """\
Where the bytes are
routed_experts   56.6 %  ###############################
memory           39.8 %  ######################
draft             1.6 %  #
attention         1.0 %  #
shared_experts    0.3 %  .
embedding         0.3 %  .
head              0.3 %  .
vision            0.2 %  .
router           <0.1 %  .
other            <0.1 %  .
norm             <0.1 %  .

"""
"""Of 55 characters 56.6 % are 31, 39.8 % are 22; less than half a character is a dot."""

EXPECTED = f"""\
deepseek-ai/DeepSeek-V4.1-Flash @ dba1be0a40aa
510.30 GB (475.25 GiB) in 48 files · 763.21 B parameters · 5.35 bits per weight
already quantised: FP8 dense, FP4 routed experts
safetensors · 96,085 tensors · 510,286,023,000 tensor bytes

{BARS}By component and precision
component       precision  parameters                   bytes   share  bits/w
routed_experts  fp4_e2m1     543.58 B  288.78 GB (268.95 GiB)  56.6 %    4.25
memory          fp8_e4m3     196.93 B  203.07 GB (189.13 GiB)  39.8 %    8.25
memory          bf16          81.92 K  163.84 kB (160.00 KiB)  <0.1 %   16.00
draft           fp4_e2m1      13.59 B      7.22 GB (6.72 GiB)   1.4 %    4.25
draft           fp8_e4m3     564.80 M  565.35 MB (539.16 MiB)   0.1 %    8.01
draft           bf16          68.14 M  136.27 MB (129.96 MiB)  <0.1 %   16.00
draft           f32            2.95 M    11.80 MB (11.25 MiB)  <0.1 %   32.00
attention       fp8_e4m3       5.11 B      5.11 GB (4.76 GiB)   1.0 %    8.01
attention       bf16          20.00 M    39.99 MB (38.14 MiB)  <0.1 %   16.00
attention       f32            2.56 K    10.24 kB (10.00 KiB)  <0.1 %   32.00
shared_experts  fp8_e4m3       1.42 B      1.42 GB (1.32 GiB)   0.3 %    8.01
embedding       bf16         661.93 M      1.32 GB (1.23 GiB)   0.3 %   16.00
head            bf16         661.91 M      1.32 GB (1.23 GiB)   0.3 %   16.00
vision          bf16         485.25 M  970.51 MB (925.55 MiB)   0.2 %   16.00
router          bf16          78.64 M  157.29 MB (150.00 MiB)  <0.1 %   16.00
router          f32           30.72 K  122.88 kB (120.00 KiB)  <0.1 %   32.00
other           f32           39.32 M  157.30 MB (150.01 MiB)  <0.1 %   32.00
norm            bf16         486.40 K  972.80 kB (950.00 KiB)  <0.1 %   16.00
total           all          763.21 B  510.29 GB (475.24 GiB)   100 %    5.35

By storage dtype
storage dtype  tensors      exact bytes                   bytes   share
I8              47,232  278,585,671,680  278.59 GB (259.45 GiB)  54.6 %
F8_E4M3            357  204,015,223,296  204.02 GB (190.00 GiB)  40.0 %
F8_E8M0         47,589   23,563,015,184    23.56 GB (21.94 GiB)   4.6 %
BF16               520    3,952,883,712      3.95 GB (3.68 GiB)   0.8 %
F32                387      169,229,128  169.23 MB (161.39 MiB)  <0.1 %

Ledger
files                  exact bytes                   bytes
chosen (48 files)  510,296,708,312  510.30 GB (475.25 GiB)
excluded                         0                     0 B
other files              7,473,605      7.47 MB (7.13 MiB)
whole repo         510,304,181,917  510.30 GB (475.26 GiB)

note expert_dtype: config says fp4 at top level; the headers agree (config.json)

cost: commit dba1be0a40aa45f6f7d37b2c4e0c8d1e5a6b7c8d · 51 requests
  13.00 MB fetched · 1 weight byte read · 1.25 s
"""


def test_the_sample_adds_up_to_the_published_totals() -> None:
    assert sum(c.bytes for c in CELLS) == 510_286_023_000
    assert sum(c.parameters or 0 for c in CELLS) == 763_205_315_794
    assert sum(d.bytes for d in V41.dtypes) == 510_286_023_000


def test_v41_flash_as_a_person_reads_it() -> None:
    assert render("text", (V41,)) == EXPECTED


@pytest.mark.parametrize("width", [20, 40, 60, 79, 80, 100, 137, 200])
@pytest.mark.parametrize(
    "reports",
    [(V41,), (UNKNOWN,), (hostile(),), (V41, UNKNOWN), (hostile(), V41), (V41, UNKNOWN, hostile())],
    ids=["v41", "unknown", "hostile", "two", "two with hostile", "three"],
)
def test_no_line_is_wider_than_the_terminal(reports: tuple[Report, ...], width: int) -> None:
    for line in render("text", reports, width=width).splitlines():
        assert measure(line) <= width, line


@pytest.mark.parametrize("text", [HOSTILE, "\x1b]0;title\x07", "a\u2066b\u2069", "|" * 300, "\r\n\t", "é" * 200])
def test_no_character_of_a_repo_reaches_the_terminal_raw(text: str) -> None:
    for reports in ((hostile(text),), (hostile(text), hostile(text))):
        for line in render("text", reports, width=160).split("\n"):
            assert line.isprintable(), line


def test_a_wide_terminal_shows_more_columns() -> None:
    table = render("text", (V41,), width=140, bars=False).split("\n\n")[1].splitlines()
    assert re.split(r"  +", table[1]) == [
        *["component", "precision", "parameters", "bytes", "share", "bits/w"],
        *["of which overhead", "stored as", "block"],
    ]
    assert table[2].endswith("16.99 GB (15.82 GiB)  I8         1x32")


def test_a_narrow_terminal_turns_rows_into_phrases() -> None:
    lines = render("text", (V41,), width=40).splitlines()
    at = lines.index("routed_experts")
    assert lines[at + 1 : at + 4] == [
        "    precision fp4_e2m1",
        "    parameters 543.58 B",
        "    bytes 288.78 GB (268.95 GiB)",
    ]


def test_without_bars_only_words_and_figures_are_left() -> None:
    plain = render("text", (V41,), bars=False)
    assert "#" not in plain
    assert EXPECTED.replace(BARS, "") == plain


@pytest.mark.parametrize("width", [80, 140])
def test_bars_start_in_one_column(width: int) -> None:
    lines = render("text", (V41,), width=width).split("\n\n")[1].splitlines()[1:]
    assert len(lines) == 11
    assert {line.index("%") for line in lines} == {22}
    assert {line[25] for line in lines} == {"#", "."}


def test_unknown_figures_are_called_unknown() -> None:
    text = render("text", (UNKNOWN,))
    lines = text.splitlines()
    assert lines[0] == "org/odd (no commit)"
    assert lines[1].startswith("INCOMPLETE: ")
    assert "unknown bytes in 1 file · unknown parameters · unknown bits per weight" in lines
    assert "already quantised? unknown: payloads of unknown precision" in lines
    assert "mlp         unknown       unknown  100 B  52.1 %  unknown                0 B" in lines
    assert "other       none                0   28 B  14.6 %     none               28 B" in lines
    assert "fp16 (default)      1     unknown       unknown     unknown  unknown  not read" in lines
    assert "total_size of the index         77  unknown tensor bytes" in lines
    assert "whole repo           unknown  unknown" in lines
    assert "b.safetensors: 1 tensor" in lines


def test_an_index_that_says_twice_the_bytes_stands_beside_the_headers() -> None:
    # DeepSeek-V3: published index total_size and header sum.
    report = replace(V41, tensor_bytes=688_574_839_360, index_total_size=1_369_062_772_000)
    assert (
        "total_size of the index  1,369,062,772,000  688,574,839,360 tensor bytes"
        in render("text", (report,)).splitlines()
    )


def test_a_repo_with_nothing_loadable_says_what_is_there() -> None:
    report = replace(
        V41,
        files=0,
        tensors=0,
        file_bytes=0,
        cells=(),
        dtypes=(),
        excluded=(Excluded("model.onnx", 5_000, "onnx"),),
        excluded_bytes=5_000,
    )
    lines = render("text", (report,)).splitlines()
    assert lines[1] == "nothing here that can be loaded as a checkpoint"
    assert "model.onnx  5.00 kB (4.88 KiB)  onnx" in lines


def test_long_names_keep_head_and_tail() -> None:
    report = replace(V41, repo="org/" + "x" * 200 + "-the-end")
    first = render("text", (report,)).splitlines()[0]
    assert first.startswith("org/xxx")
    assert first.endswith("xx-the-end @ dba1be0a40aa")
    assert len(first) == 80


def test_several_repos_stand_side_by_side_with_figures_whole() -> None:
    lines = render("text", (V41, UNKNOWN)).splitlines()
    assert lines[0] == "[1] deepseek-ai/DeepSeek-V4.1-Flash @ dba1be0a40aa"
    assert "[2] org/odd (no commit)" in lines
    assert "figure           [1] deepseek-ai/DeepSeek-V4.1-Flash  [2] org/odd" in lines
    assert "file bytes                    510.30 GB (475.25 GiB)      unknown" in lines
    assert "routed_experts                288.78 GB (268.95 GiB)      unknown" in lines
    assert "mlp                                             none        164 B" in lines


@pytest.mark.parametrize("width", [80, 140])
def test_several_repos_have_a_gauge_for_each_cluster_of_each(width: int) -> None:
    reports = (replace(V41, fits=(TWO, MANY)),) * 2
    lines = render("text", reports, width=width).splitlines()
    at = lines.index("The fullest device of each cluster")
    starts = ["[1] 2x dgx-spark", "[1] 64x h100-80", "[2] 2x dgx-spark", "[2] 64x h100-80"]
    assert all(line.startswith(start) for line, start in zip(lines[at + 1 :], starts, strict=False))
    assert len({line.index("[", 4) for line in lines[at + 1 : at + 5]}) == 1
    assert "fullest" not in render("text", reports, width=width, bars=False)


def test_columns_that_do_not_fit_become_blocks() -> None:
    text = render("text", (V41, V41, V41, V41), width=80)
    assert "Side by side" not in text
    assert text.count("By component and precision") == 4
    assert "Side by side" in render("text", (V41, V41, V41, V41), width=140)


def test_colours_say_nothing_that_words_do_not() -> None:
    for reports in ((V41,), (UNKNOWN,), (V41, UNKNOWN)):
        coloured = render("text", reports, colour=True)
        assert "\x1b[" in coloured
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render("text", reports)


def test_no_report_is_no_text() -> None:
    assert render("text", ()) == ""


def test_an_unknown_format_is_named() -> None:
    with pytest.raises(ValueError, match="'yaml' is none of text, json, markdown, csv"):
        render("yaml", (V41,))


@pytest.mark.parametrize("folder", ["transformer", "a/folder/with/a/long/name/of/its/own"])
def test_the_ledger_never_cuts_a_path_that_fits_the_width(folder: str) -> None:
    paths = [f"{folder}/diffusion_model-{i:05d}.fp16.bin" for i in (1, 2)]
    reasons = ["PyTorch pickle, another format, never read here", "another variant (fp16), which is not the chosen one"]
    report = replace(V41, excluded=tuple(map(Excluded, paths, (5_000_000_000, 7), reasons)))
    lines = render("text", (report,), width=80).splitlines()
    assert all(any(path in line for line in lines) for path in paths)
    assert all(len(line) <= 80 for line in lines)
