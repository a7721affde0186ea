"""Markdown: literal tables, and names that are markup elsewhere."""

from __future__ import annotations

import re

from inspector.escape import markdown
from inspector.render import render
from tests.render.samples import UNKNOWN, V41, hostile


def test_the_answer_and_the_dtype_table_of_v41_flash() -> None:
    blocks = render("markdown", (V41,)).split("\n\n")
    assert blocks[:5] == [
        "## deepseek-ai/DeepSeek-V4.1-Flash @ dba1be0a40aa",
        "510.30 GB (475.25 GiB) in 48 files · 763.21 B parameters · 5.35 bits per weight",
        "already quantised: FP8 dense, FP4 routed experts",
        "safetensors · 96,085 tensors · 510,286,023,000 tensor bytes",
        "### By component and precision",
    ]
    assert blocks[blocks.index("### By storage dtype") + 1].splitlines() == [
        "| storage dtype | tensors | exact bytes | bytes | share |",
        "|---|---:|---:|---:|---:|",
        "| I8 | 47,232 | 278,585,671,680 | 278.59 GB (259.45 GiB) | 54.6 % |",
        "| F8\\_E4M3 | 357 | 204,015,223,296 | 204.02 GB (190.00 GiB) | 40.0 % |",
        "| F8\\_E8M0 | 47,589 | 23,563,015,184 | 23.56 GB (21.94 GiB) | 4.6 % |",
        "| BF16 | 520 | 3,952,883,712 | 3.95 GB (3.68 GiB) | 0.8 % |",
        "| F32 | 387 | 169,229,128 | 169.23 MB (161.39 MiB) | <0.1 % |".replace("<", markdown("<")),
    ]


def test_every_table_has_one_cell_per_column_whatever_the_names() -> None:
    for reports in ((hostile(),), (UNKNOWN,), (hostile(), V41)):
        for block in render("markdown", reports).split("\n\n"):
            if block.startswith("|"):
                counts = {len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()}
                assert len(counts) == 1, block


def test_no_markup_of_a_repo_is_live() -> None:
    text = render("markdown", (hostile(), hostile()))
    assert "<script>" not in text
    assert re.search(r"(?<!\\)`", text) is None
    assert all(line.isprintable() for line in text.split("\n"))


def test_incomplete_is_said_in_the_first_lines() -> None:
    assert render("markdown", (UNKNOWN,)).split("\n\n")[1].startswith("**INCOMPLETE")


def test_several_repos_start_with_one_table() -> None:
    lines = render("markdown", (V41, UNKNOWN)).splitlines()
    assert lines[0] == "## Side by side"
    assert lines[2] == "| figure | deepseek-ai/DeepSeek-V4.1-Flash @ dba1be0a40aa | org/odd (no commit) |"
    assert "| tensors | 96,085 | 3 |" in lines
