"""`--fix`: only digits change, and what was fixed is then right."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector import claims
from inspector.claim.claim_model import Amount, Claim
from inspector.claim.claim_verdict import Judged
from inspector.claims import fixing
from tests.claims.repos import written


def judged(claim: Claim, measured: Fraction) -> Judged:
    """A verdict as `judging` gives it, with any measured figure."""
    assert isinstance(claim.claimed, Amount)
    allowed = claim.tolerance.allows(measured, claim.claimed.step)
    right = abs(claim.claimed.value - measured) <= allowed
    return Judged(claim, "ok" if right else "wrong", claim.claimed.value, measured)


def fixed(folder: Path, name: str, text: str, measured: Fraction) -> str:
    sheet = claims.sheet(Path(written(folder, name, text)))
    return fixing.fix(sheet.document, [judged(c, measured) for c in sheet.claims]).text


HEADS = {
    "a.csv": ("repo,quantity,value,tolerance,note\norg/a,tensor_bytes,", ",{},kept\n# comment\n"),
    "quoted.csv": ('repo,quantity,value,tolerance\norg/a,tensor_bytes,"', '",{}\n'),
    "a.yaml": ("# sizes\n- repo: org/a\n  quantity: tensor_bytes\n  value: ", "   # as told\n  tolerance: '{}'\n"),
    "a.md": (
        "Text.\n\n| repo | quantity | value | tolerance |\n|--|--|--:|--|\n| org/a | tensor_bytes | **",
        "** | {} |\n\nMore.\n",
    ),
    "a.json": ('[{"repo": "org/a", "quantity": "tensor_bytes", "value": "', '", "tolerance": "{}"}]\n'),
    "a.jsonl": ('{"repo": "org/a", "quantity": "tensor_bytes", "value": "', '", "tolerance": "{}"}\n'),
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.sampled_from(sorted(HEADS)),
    st.sampled_from(["510", "1,234.5", "~0.1", "99999"]),
    st.sampled_from(["GB", " GiB", " B", "MB", " kB", "TiB"]),
    st.sampled_from(["0", "1%", "0.001%", "", "3 MB"]),
    st.integers(1, 10**13),
)
def test_fix_then_check_is_ok(tmp_path: Path, name: str, number: str, unit: str, tolerance: str, measured: int) -> None:
    before, after = HEADS[name]
    if name == "a.csv":
        number = number.replace(",", "")
    text = before + number + unit + after.replace("{}", tolerance)
    sheet = claims.sheet(Path(written(tmp_path, name, text)))
    (one,) = sheet.claims
    assert not one.fault
    truth = Fraction(measured)
    verdict = judged(one, truth)
    done = fixing.fix(sheet.document, [verdict])
    if verdict.outcome == "ok":
        assert done.text == text
        return
    if done.left:
        # Exact in TiB takes more digits than are written.
        assert "digits" in done.left[0][1]
        assert done.text == text
        return
    assert done.text.startswith(before)
    assert done.text.endswith(unit + after.replace("{}", tolerance))
    (again,) = claims.sheet(Path(written(tmp_path, name, done.text))).claims
    assert judged(again, truth).outcome == "ok"


def test_a_grouped_number_keeps_its_groups_where_it_is_quoted(tmp_path: Path) -> None:
    text = 'repo,quantity,value\norg/a,tensor_bytes,"1,000.0 MB"\n'
    assert '"13,761.3 MB"' in fixed(tmp_path, "a.csv", text, Fraction(13_761_264_768))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_everything_else_stays(tmp_path: Path, end: str) -> None:
    text = end.join(["\ufeff# c", "repo,quantity,value,note", 'org/a , files, 3 ,"a ""b"""', ""])
    assert fixed(tmp_path, "a.csv", text, Fraction(4)) == text.replace(" 3 ", " 4 ")


def test_two_claims_about_one_cell(tmp_path: Path) -> None:
    sheet = claims.sheet(Path(written(tmp_path, "a.csv", "repo,quantity,value\norg/a,files,3\n")))
    (one,) = sheet.claims
    done = fixing.fix(sheet.document, [judged(one, Fraction(4)), judged(one, Fraction(5))])
    assert len(done.done) == 1
    assert "another claim" in done.left[0][1]


def test_the_diff_shows_the_change(tmp_path: Path) -> None:
    sheet = claims.sheet(Path(written(tmp_path, "a.csv", "repo,quantity,value\norg/a,files,3\n")))
    done = fixing.fix(sheet.document, [judged(sheet.claims[0], Fraction(4))])
    assert "-org/a,files,3\n+org/a,files,4\n" in fixing.diff(sheet.document, done)
    assert fixing.diff(sheet.document, fixing.fix(sheet.document, [])) == ""
