"""The rule language: exact arithmetic over kinds that fit, and no other error than ours."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.claim.claim_quantities import named
from inspector.claim.claim_rules import MAX_LENGTH, parse
from inspector.errors import SourceError, UsageError

FIGURES = {"tensor_bytes": 500 * 10**9, "file_bytes": 501 * 10**9, "parameters": 10**12, "files": 48, "context": 8192}


def result(text: str) -> Fraction:
    return parse(text, named).evaluate(lambda n: Fraction(FIGURES[n]), lambda t: Fraction(1000 * t))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("tensor_bytes * 1.2", "bytes", 600 * 10**9),
        ("tensor_bytes_gb * 1.2", "bytes", 600 * 10**9),
        ("tensor_bytes_gb * 1.2 + 2", "bytes", 602 * 10**9),
        ("ceil(tensor_bytes_gib)", "bytes", 466 * 2**30),
        ("tensor_bytes + cache(8192)", "bytes", 500 * 10**9 + 8_192_000),
        ("cache(131072) - cache(2048)", "bytes", 129_024_000),
        ("cache(context)", "bytes", 8_192_000),
        ("max(tensor_bytes, 510 GB)", "bytes", 510 * 10**9),
        ("min(tensor_bytes, file_bytes, 1 TiB)", "bytes", 500 * 10**9),
        ("parameters / 2", "count", 5 * 10**11),
        ("8 * tensor_bytes / parameters", "bytes", 4),
        ("tensor_bytes / file_bytes", "number", Fraction(500, 501)),
        ("-(2 - 3) * 50%", "number", Fraction(1, 2)),
        ("2 - 3 - 4", "number", -5),
        ("12 / 3 / 2", "number", 2),
        ("round(7 / 2)", "number", 4),
        ("1_000 * files", "count", 48_000),
    ],
)
def test_values(text: str, kind: str, value: Fraction) -> None:
    rule = parse(text, named)
    assert rule.kind == kind
    assert result(text) == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("tensor_bytes + 2", "a bare number"),
        ("tensor_bytes * file_bytes", "bytes times bytes"),
        ("2 / tensor_bytes", "over bytes"),
        ("tensor_bytes_gb + file_bytes_gib", "GB and GiB"),
        ("tensor_bites * 2", "no quantity"),
        ("fits * 2", "no number"),
        ("open(1)", "no function"),
        ("__import__('os')", "not expected|no quantity|no function"),
        ("cache(tensor_bytes)", "tokens"),
        ("cache()", "not expected"),
        ("ceil(1, 2)", "takes 1"),
        ("(1 + 2", "missing"),
        ("1 +", "the end"),
        ("1 2", "not expected"),
        ("(" * 100 + "1" + ")" * 100, "nests deeper"),
        ("1" * 200, "digits"),
        ("1 + " * MAX_LENGTH + "1", "characters long"),
        ("", "the end"),
    ],
)
def test_refusals(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        parse(text, named)


@pytest.mark.parametrize("text", ["1 / 0", "tensor_bytes / (files - 48)", "cache(0.5)", "cache(0 - 1)", "cache(1e99)"])
def test_refusals_when_worked_out(text: str) -> None:
    with pytest.raises(UsageError):
        result(text)


ALPHABET = [
    "tensor_bytes",
    "_gb",
    "cache",
    "(",
    ")",
    "+",
    "-",
    "*",
    "/",
    ",",
    "1",
    ".5",
    " ",
    "GiB",
    "%",
    "files",
    "max",
    '"',
    "é",
    "\n",
]


@given(st.lists(st.sampled_from(ALPHABET), max_size=40).map("".join) | st.text(max_size=60))
def test_no_other_error_than_ours(text: str) -> None:
    try:
        rule = parse(text, named)
        rule.evaluate(lambda n: Fraction(1), lambda t: Fraction(t))
    except (UsageError, SourceError) as error:
        assert len(str(error)) < 1500


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 10**6))
def test_arithmetic_is_exact(a: int, b: int, c: int) -> None:
    assert result(f"({a} + {b} * {a}) / {c} - {b}") == Fraction(a + b * a, c) - b
