"""The Hub's published counts against layouts that are known: equal, or explained by a named rule."""

from __future__ import annotations

import json

import pytest

from inspector.hub_count import Tally, compare, explain
from tests import shared

V3 = Tally(684_489_845_504, 684_489_845_504, 41_540_496, 0, 0)
V4_FLASH_0731 = Tally(304_178_091_454, 156_001_719_742, 0, 9_261_408_000, 2_327_040)
OSS_20B = Tally(20_914_757_184, 11_359_608_384, 597_196_800, 0, 0)
V41_FLASH = Tally(763_205_315_794, 484_619_644_114, 0, 23_563_015_184, 0)
ROBERTA = Tally(124_697_433, 124_697_433, 0, 0, 514)


@pytest.mark.parametrize(
    ("total", "counts", "rule"),
    [
        (684_531_386_000, V3, "scales and zero points are counted as parameters"),
        (304_180_418_494, V4_FLASH_0731, "lookup tables and buffers are counted as parameters"),
        (20_914_757_184, OSS_20B, ""),
        (21_511_953_984, OSS_20B, "scales and zero points are counted as parameters"),
        (484_619_644_114, V41_FLASH, "packed values are counted once each, as stored"),
        (763_205_315_794, V41_FLASH, ""),
        (124_697_947, ROBERTA, "lookup tables and buffers are counted as parameters"),
        (5, ROBERTA, None),
        (
            508_182_659_298,
            V41_FLASH,
            "packed values are counted once each, as stored; E8M0 scales are counted as parameters",
        ),
    ],
)
def test_published_counts_have_their_rule(total: int, counts: Tally, rule: str | None) -> None:
    assert explain(total, counts) == rule


def test_the_note_has_both_numbers() -> None:
    (note,) = compare(684_531_386_000, V3)
    assert "684,531,386,000" in note.message
    assert "684,489,845,504" in note.message
    assert compare(None, V3) == []
    assert compare(20_914_757_184, OSS_20B) == []
    (unexplained,) = compare(5, ROBERTA)
    assert "no known rule" in unexplained.message


def test_the_published_totals_are_those_of_the_handed_list() -> None:
    models = json.loads((shared.folder("corpus") / "hub_answers.json").read_text())["models"]
    totals = {m["repo"]: m["hub_total"] for m in models}
    assert totals["deepseek-ai/DeepSeek-V3 (and R1)"] == 684_531_386_000
    assert totals["deepseek-ai/DeepSeek-V4-Flash-0731"] == 304_180_418_494
    assert totals["openai/gpt-oss-20b"] == 20_914_757_184
    assert totals["roberta-base"] == 124_697_947
