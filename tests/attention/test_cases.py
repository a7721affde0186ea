"""Every family against figures worked out by hand or published; every refusal against the key it names."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from inspector.attention import FAMILIES
from inspector.cache import cache_of
from inspector.model.cache_model import Cache, UnknownCache

CASES: list[dict[str, Any]] = [
    case for path in sorted((Path(__file__).parent / "cases").glob("*.json")) for case in json.loads(path.read_text())
]
KNOWN = [c for c in CASES if "unknown" not in c]
UNKNOWN = [c for c in CASES if "unknown" in c]


def test_there_are_cases() -> None:
    assert len(KNOWN) > 50
    assert len(UNKNOWN) > 25
    assert len({c["id"] for c in CASES}) == len(CASES)


@pytest.mark.parametrize("case", KNOWN, ids=lambda c: c["id"])
def test_figures(case: dict[str, Any]) -> None:
    cache = cache_of(case["config"], **case.get("options", {}))
    assert isinstance(cache, Cache), cache
    assert (cache.bytes_per_token, cache.fixed_bytes) == (Fraction(case["per_token"]), case["fixed_bytes"])
    for tokens, expected in case.get("at", {}).items():
        assert cache.bytes_at(int(tokens)) == expected


@pytest.mark.parametrize("case", UNKNOWN, ids=lambda c: c["id"])
def test_refusals_name_the_key(case: dict[str, Any]) -> None:
    answer = cache_of(case["config"])
    assert isinstance(answer, UnknownCache), f"priced at {answer.bytes_per_token} bytes per token"
    assert answer.where == case["unknown"]
    assert answer.reason


def test_every_family_is_exercised() -> None:
    seen = {name for c in KNOWN if isinstance(x := cache_of(c["config"]), Cache) for name, _ in x.families}
    missing = [f.NAME for f in FAMILIES if not any(f.NAME.split()[0] in name for name in seen)]
    assert not missing
