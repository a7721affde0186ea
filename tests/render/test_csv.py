"""CSV: literal rows, unknown against none, and names that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from inspector.render import render
from tests.render.samples import COMMIT, HOSTILE, UNKNOWN, V41, hostile


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text)))


def test_one_row_per_component_and_precision() -> None:
    head, *lines = render("csv", (V41,)).splitlines()
    assert head == ("repo,revision,component,precision,bits,storage_dtypes,parameters,weight_bytes,overhead_bytes,note")
    place = f"deepseek-ai/DeepSeek-V4.1-Flash,{COMMIT}"
    assert lines[0] == f"{place},routed_experts,fp4_e2m1,4,I8,543581798400,271790899200,16986931200,"
    assert lines[-1] == f"{place},other,f32,32,F32,39323760,157295040,0,"
    assert len(lines) == len(V41.cells)


def test_unknown_is_a_word_and_none_is_empty() -> None:
    text = render("csv", (replace(UNKNOWN, tensor_rows=None),))
    assert text.splitlines()[1:] == [
        "org/odd,,mlp,unknown,unknown,Q9_X,unknown,100,0,",
        "org/odd,,mlp,bf16,16,BF16,32,64,0,",
        "org/odd,,other,,,I32,0,0,28,",
        f"org/odd,,unread{',unknown' * 6},a Git LFS pointer stands where the file should be",
    ]


def test_one_row_per_tensor_where_tensors_were_asked_for() -> None:
    assert render("csv", (UNKNOWN,)).splitlines() == [
        "repo,revision,file,tensor,dtype,shape,bytes,component,precision,role,note",
        "org/odd,,a.safetensors,mlp.weight,Q9_X,10x10,100,mlp,unknown,unknown,",
        "org/odd,,a.safetensors,mlp.up,BF16,,64,mlp,bf16,weight,",
        "org/odd,,b.safetensors,table,I32,7,28,other,,overhead,",
        f"org/odd,,unread{',unknown' * 7},a Git LFS pointer stands where the file should be",
    ]


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", HOSTILE, 'a",b\n=c'])
def test_no_cell_is_a_formula_or_a_second_line(text: str) -> None:
    for report in (hostile(text), replace(hostile(text), tensor_rows=None)):
        found = rows(render("csv", (report,)))
        assert len(found) == 2
        assert len({len(row) for row in found}) == 1
        assert all(
            cell[:1] not in ("=", "+", "-", "@", "\t", "\r") and cell.isprintable() for row in found for cell in row
        )
