"""The shared tables of five kinds, against the recorded repos: each verdict is the one that `expected.json` states."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from inspector import claims
from inspector.address import Address
from inspector.claim.claim_verdict import Judged
from inspector.claims import Gathered, Sheet
from inspector.model import Source
from inspector.sources import open_source
from tests.loopback import LoopbackHub, load
from tests.shared import folder

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TABLES = {
    "claims.csv": None,
    "recipes.csv": "recipes.toml",
    "catalog.yaml": "catalog.toml",
    "comparison-page.md": "comparison-page.toml",
    "calculator-page.json": "calculator-page.toml",
}
V41 = "deepseek-ai/DeepSeek-V4.1-Flash"
GLM = "zai-org/GLM-5.3-Flash"
REPOS = (
    *(V41, GLM, "zai-org/GLM-5.3-Flash-BF16", "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-V4-Flash-0731"),
    *("deepseek-ai/DeepSeek-V4-Pro", "moonshotai/Kimi-K2.5", "openai/gpt-oss-120b", "openai/gpt-oss-20b"),
)


@pytest.fixture(scope="module")
def tables() -> Path:
    return folder("cases/estimator_tables")


def sheets(tables: Path, tolerance: str = "") -> dict[str, Sheet]:
    found = {}
    for name, mapping in TABLES.items():
        layout = claims.mapping_of(tables / name, EXAMPLES / mapping if mapping else None)
        found[name] = claims.sheet(tables / name, layout, tolerance=tolerance)
    return found


@pytest.fixture(scope="module")
def gathered(tables: Path) -> Iterator[Gathered]:
    with LoopbackHub([load(n) for n in REPOS]) as hub:

        def opener(where: Address) -> Source:
            return open_source(where, endpoint=hub.endpoint, jobs=16)

        every = [c for s in sheets(tables).values() for c in s.claims]
        yield claims.gather(every, opener, endpoint=hub.endpoint)


def verdicts(tables: Path, gathered: Gathered, name: str, tolerance: str = "") -> tuple[Judged, ...]:
    return claims.judged(sheets(tables, tolerance)[name].claims, gathered).judged


def expected(tables: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads((tables / "expected.json").read_text())
    return found


def test_the_21_claims(tables: Path, gathered: Gathered) -> None:
    found = verdicts(tables, gathered, "claims.csv")
    assert [one.outcome for one in found] == expected(tables)["claims.csv"]
    assert len(found) == 21
    assert all(("unpinned" in one.notes) == (one.outcome == "ok") for one in found)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        (1, "GB taken for GiB: 510.30 GB is right"),
        (5, "packed elements counted once"),
        (6, "backbone only: draft and memory left out"),
        (10, "half a byte per parameter"),
        (13, "latent counted twice"),
        (15, "total_size trusted"),
        (17, "scales counted as parameters"),
        (19, "the nominal bits of fp4_e2m1"),
    ],
)
def test_reasons_of_the_claims(tables: Path, gathered: Gathered, row: int, words: str) -> None:
    assert words in verdicts(tables, gathered, "claims.csv")[row].reason


def test_recipes(tables: Path, gathered: Gathered) -> None:
    found = verdicts(tables, gathered, "recipes.csv")
    assert [one.outcome for one in found] == ["wrong", "ok", "wrong", "ok", "wrong", "wrong"]
    figures = [round(float(one.measured) / 1e9, 1) for one in found if one.measured is not None]
    assert figures == [826.3, 200.3, 1037.6, 714.2, 78.3, 16.5]
    # 960 = 1,598.8 B parameters x half a byte x 1.2; nothing known gives 96 and 16.
    assert "half a byte per parameter" in found[2].reason
    assert [found[4].reason, found[5].reason] == ["", ""]


def test_tolerance_decides_the_last_recipe(tables: Path, gathered: Gathered) -> None:
    assert verdicts(tables, gathered, "recipes.csv", "5%")[5].outcome == "ok"
    assert verdicts(tables, gathered, "recipes.csv", "3%")[5].outcome == "wrong"


def test_catalogue(tables: Path, gathered: Gathered) -> None:
    found = verdicts(tables, gathered, "catalog.yaml")
    assert [one.outcome for one in found] == ["wrong", "ok", "ok"]
    assert found[0].reason == "both copies counted: original/ holds the weights again"
    assert found[0].measured == 65_248_815_744


def test_comparison_page(tables: Path, gathered: Gathered) -> None:
    found = verdicts(tables, gathered, "comparison-page.md")
    ours, theirs = found[0::2], found[1::2]
    assert [one.outcome for one in ours] == ["unverifiable"] * 4 + ["ok"] * 6
    assert [one.outcome for one in theirs] == ["unverifiable", "ok"] + ["unverifiable"] * 8
    assert "no set of weights 'Q8_0'" in ours[3].reason
    tight = verdicts(tables, gathered, "comparison-page.md", "10%")
    assert [one.outcome for one in tight[0::2]] == ["unverifiable"] * 4 + ["wrong"] * 6
    assert tight[3].outcome == "wrong"


def test_calculator_page(tables: Path, gathered: Gathered) -> None:
    found = verdicts(tables, gathered, "calculator-page.json")
    parameters = [one.outcome for one in found if one.claim.quantity == "parameters"]
    assert parameters == ["ok", "ok"]
    memory = {
        (one.claim.subject.repo, one.claim.subject.variant): one
        for one in found
        if one.claim.quantity == "tensor_bytes + cache(2048)"
    }
    assert memory[V41, "Q8_0"].outcome == "unverifiable"
    assert memory[V41, "IQ3_XS"].outcome == "malformed"
    assert "315 is below its own file of 434.0 GB" in memory[V41, "IQ3_XS"].reason
    growth = [one for one in found if one.claim.quantity.startswith("cache(131072)")]
    assert {one.outcome for one in growth} == {"wrong"}
    ours = [one for one in growth if one.claim.subject.repo == V41]
    # 890 bytes x 129,024 tokens.
    assert {one.measured for one in ours} == {890 * 129_024}
    theirs = [one for one in growth if one.claim.subject.repo == GLM]
    assert all("all layers cached" in one.reason and "45 counted, 11 cache" in one.reason for one in theirs)


def test_each_repo_was_read_once(tables: Path, gathered: Gathered) -> None:
    assert gathered.cost.repos == len(REPOS)


def test_the_claims_in_the_examples_are_judged_alike(tables: Path, gathered: Gathered) -> None:
    sheet = claims.sheet(EXAMPLES / "claims.csv")
    outcomes = {(c.claim.subject.repo, c.claim.said): c.outcome for c in claims.judged(sheet.claims, gathered).judged}
    assert outcomes[V41, "510.30"] == "ok"
    assert outcomes[V41, "484.6"] == "wrong"


def test_a_fixed_catalogue_is_right(tables: Path, gathered: Gathered, tmp_path: Path) -> None:
    copy = tmp_path / "catalog.yaml"
    shutil.copyfile(tables / "catalog.yaml", copy)
    layout = claims.mapping_of(copy, EXAMPLES / "catalog.toml")
    sheet = claims.sheet(copy, layout)
    fixed = claims.fixing.fix(sheet.document, claims.judged(sheet.claims, gathered).judged)
    assert fixed.text == copy.read_text().replace("121.54Gi", "60.77Gi")
    copy.write_text(fixed.text)
    again = claims.judged(claims.sheet(copy, layout).claims, gathered)
    assert again.status == 0
