"""Verdicts in every output: parsed back where a machine reads it, and no text of a table gets through raw."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.claim.claim_amounts import unit
from inspector.claim.claim_model import Amount, Claim, Place, Subject
from inspector.claim.claim_verdict import Judged, Outcome, Verdicts
from inspector.verdict_render import FORMATS, render

GB = unit("GB", "bytes")
HOSTILE = "a\x1b[31m::error file=x::%0A\n::set-output name=y::1\r|`<script>@all,: \u202e"


def one(outcome: Outcome, text: str = "org/a", line: int = 2, **more: object) -> Judged:
    claim = Claim(
        Place("sizes.csv", line, 7, text),
        Subject(text),
        "tensor_bytes",
        text,
        kind="bytes",
        claimed=Amount(Fraction(510), GB),
    )
    measured = Fraction(510_296_708_312)
    figures = (
        {}
        if outcome in ("malformed", "unverifiable")
        else {
            "claimed": Fraction(510 * 10**9),
            "measured": measured,
            "difference": 510 * 10**9 - measured,
            "relative": (510 * 10**9 - measured) / measured,
            "tolerance": Fraction(0),
        }
    )
    return Judged(claim, outcome, **{**figures, **more})  # type: ignore[arg-type]


ALL = Verdicts(
    (
        one("ok", notes=("unpinned",)),
        one("wrong", line=3, reason="GB taken for GiB"),
        one("drifted", line=4, reason="it was right"),
        one("unverifiable", line=5, reason="the Hub answered 503"),
        one("malformed", line=6, reason="no number"),
    )
)


def commands_of(text: str) -> list[tuple[str, dict[str, str], str]]:
    """Workflow commands as the runner reads them: level, properties, message."""
    found = []
    for line in text.splitlines():
        match = re.fullmatch(r"::(\w+)(?: ([^:]*))?::(.*)", line)
        assert match, line
        fields = dict(p.partition("=")[::2] for p in (match[2] or "").split(",") if p)
        decode = [("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")]
        for code, char in decode:
            fields = {k: v.replace(code, char) for k, v in fields.items()}
        found.append((match[1], fields, match[3]))
    return found


def test_annotations_stand_at_file_and_line() -> None:
    found = commands_of(render("github", ALL))
    assert [(level, f.get("line")) for level, f, _ in found] == [
        ("error", "3"),
        ("error", "4"),
        ("warning", "5"),
        ("error", "6"),
        ("notice", None),
    ]
    assert all(f["file"] == "sizes.csv" for _, f, _ in found[:-1])
    assert "GB taken for GiB" in found[0][2]
    assert found[0][1]["title"] == "wrong: tensor_bytes"
    assert "5 claims: 1 ok, 1 wrong" in found[-1][2]


def test_strict_makes_an_unpinned_row_an_error() -> None:
    found = commands_of(render("github", Verdicts(ALL.judged[:1], strict=True)))
    assert [level for level, _, _ in found] == ["error", "notice"]
    assert Verdicts(ALL.judged[:1], strict=True).status == 1
    assert Verdicts(ALL.judged[:1]).status == 0


def test_junit_holds_to_its_schema() -> None:
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(Path(__file__).parent / "junit.xsd"))
    for allow in (False, True):
        verdicts = Verdicts((*ALL.judged, one("wrong", HOSTILE), one("malformed", HOSTILE)), allow_unverifiable=allow)
        text = render("junit", verdicts)
        schema.validate(text)
        suite = ElementTree.fromstring(text)[0]
        assert (suite.get("tests"), suite.get("failures")) == ("7", "5")
        assert (suite.get("errors"), suite.get("skipped")) == (("0", "1") if allow else ("1", "0"))


@pytest.mark.parametrize("form", FORMATS)
def test_hostile_text_is_escaped(form: str) -> None:
    text = render(
        form, Verdicts((one("wrong", HOSTILE, reason=HOSTILE), one("malformed", HOSTILE, reason=HOSTILE))), width=200
    )
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
    assert not any(line.startswith("::set-output") for line in text.splitlines())
    if form == "markdown":
        assert "<script>" not in text
        assert "@all" not in text
    if form == "github":
        assert len(commands_of(text)) == 3


@given(st.text(max_size=80), st.text(max_size=80))
def test_annotations_survive_any_text(name: str, reason: str) -> None:
    found = commands_of(render("github", Verdicts((one("wrong", name, reason=reason),))))
    assert [level for level, _, _ in found] == ["error", "notice"]
    assert set(found[0][1]) == {"file", "line", "col", "title"}


def test_json_is_the_contract() -> None:
    document = json.loads(render("json", ALL))
    assert document["schema_version"] == 1
    keys = {
        "place",
        "repo",
        "quantity",
        "claimed",
        "measured",
        "difference",
        "relative",
        "tolerance",
        "verdict",
        "reason",
    }
    assert all(keys <= set(v) for v in document["verdicts"])
    assert document["summary"] == {"ok": 1, "wrong": 1, "drifted": 1, "unverifiable": 1, "malformed": 1}
    assert document["verdicts"][1]["difference"] == -296_708_312


@pytest.mark.parametrize("width", [40, 80, 200])
def test_text_keeps_to_its_width(width: int) -> None:
    for line in render("text", ALL, width=width).splitlines():
        assert len(line) <= max(width, 80)


def test_text_says_both_figures_and_the_reason() -> None:
    text = render("text", ALL, width=300)
    assert "claimed 510.00 GB (474.97 GiB), measured 510.30 GB (475.25 GiB), off by -0.0581 %" in text
    assert "sizes.csv:3:7" in text
    assert "5 claims: 1 ok, 1 wrong, 1 drifted, 1 unverifiable, 1 malformed" in text
    assert "\x1b" not in text
    assert "\x1b[1;31mwrong" in render("text", ALL, width=300, colour=True)


@pytest.mark.parametrize(
    ("outcomes", "allow", "status"),
    [
        (["ok"], False, 0),
        (["ok", "unverifiable"], False, 3),
        (["ok", "unverifiable"], True, 0),
        (["unverifiable", "wrong"], False, 1),
        (["drifted"], True, 1),
        (["malformed"], True, 1),
        ([], False, 0),
    ],
)
def test_exit_status(outcomes: list[Outcome], allow: bool, status: int) -> None:
    assert Verdicts(tuple(one(o) for o in outcomes), allow_unverifiable=allow).status == status


def test_unknown_format() -> None:
    with pytest.raises(ValueError, match="none of"):
        render("pdf", ALL)
