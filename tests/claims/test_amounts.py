"""Numbers with units: what is written is what is read, and GB is never GiB."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.claim.claim_amounts import absent, amount, tolerance, unit, units, written, yesno
from inspector.claim.claim_model import Amount, Kind, Tolerance
from inspector.errors import UsageError

KINDS: tuple[Kind, ...] = ("bytes", "count", "number")


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("510 GB", "bytes", 510 * 10**9),
        ("510 GiB", "bytes", 510 * 2**30),
        ("510GB", "bytes", 510 * 10**9),
        ("121.54Gi", "bytes", Fraction("121.54") * 2**30),
        ("~543.8 GB", "bytes", Fraction("543.8") * 10**9),
        ("1,369,062 kB", "bytes", 1_369_062_000),
        ("12 345 B", "bytes", 12_345),
        ("763.2B", "count", Fraction("763.2") * 10**9),
        ("763.2 B", "bytes", Fraction("763.2")),
        ("8b params", "count", 8 * 10**9),
        ("1.6T", "count", 16 * 10**11),
        ("48", "count", 48),
        ("4.0", "number", 4),
        ("4.25 bpw", "number", Fraction("4.25")),
        ("54.6 %", "number", Fraction("0.546")),
        ("1e3 MB", "bytes", 10**9),
        ("8 bits", "bytes", 1),
    ],
)
def test_as_people_write_them(text: str, kind: Kind, value: Fraction) -> None:
    assert amount(text, kind).value == value


@pytest.mark.parametrize(
    "text", ["", "n/a", "-", "=1+2", "510,3 GB", "510", "510 furlongs", "x", "510 Gb", "1,00 GB", "1,2,3"]
)
def test_what_is_no_figure(text: str) -> None:
    with pytest.raises(UsageError):
        amount(text, "bytes")


def test_a_unit_of_its_own_may_not_differ_from_the_columns() -> None:
    gb = unit("GB", "bytes")
    assert amount("510", "bytes", gb).value == amount("510 GB", "bytes", gb).value
    with pytest.raises(UsageError, match="GiB"):
        amount("510 GiB", "bytes", gb)


@given(st.sampled_from(KINDS), st.data(), st.integers(0, 10**12), st.integers(0, 6))
def test_every_unit_round_trips(kind: Kind, data: st.DataObject, digits: int, decimals: int) -> None:
    name = data.draw(st.sampled_from([u for u in units(kind) if u]))
    number = Fraction(digits, 10**decimals)
    text = written(number, Amount(Fraction(0), None), decimals)
    gap = data.draw(st.sampled_from(["", " "]))
    read = amount(f"{text}{gap}{name}", kind)
    found = unit(name, kind)
    assert found is not None
    assert read.value == number * found.factor
    assert written(read.value, read, read.decimals) == text
    assert read.span == (0, len(text))


@given(st.integers(-(10**15), 10**15), st.sampled_from([",", "'", " ", "\u202f"]))
def test_thousands_round_trip(number: int, group: str) -> None:
    text = f"{number:,}".replace(",", group)
    read = amount(text, "count")
    assert read.value == number
    assert written(read.value, read, 0) == text


@given(st.text(max_size=40), st.sampled_from(KINDS))
def test_any_text_is_a_number_or_our_error(text: str, kind: Kind) -> None:
    for read in (lambda t: amount(t, kind), lambda t: tolerance(t, kind), yesno):
        try:
            read(text)
        except UsageError as error:
            assert len(str(error)) < 600


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("1%", "bytes", Tolerance(relative=Fraction(1, 100))),
        ("0.1 %", "count", Tolerance(relative=Fraction(1, 1000))),
        ("±2%", "bytes", Tolerance(relative=Fraction(2, 100))),
        ("0", "bytes", Tolerance(absolute=Fraction(0))),
        ("0.5 GB", "bytes", Tolerance(absolute=Fraction(5 * 10**8))),
        ("2", "count", Tolerance(absolute=Fraction(2))),
    ],
)
def test_tolerances(text: str, kind: Kind, value: Tolerance) -> None:
    assert tolerance(text, kind) == value


@pytest.mark.parametrize("text", ["1", "0.05", "-1%", "much", "5000%", "-2 GB"])
def test_what_is_no_tolerance(text: str) -> None:
    with pytest.raises(UsageError):
        tolerance(text, "bytes")


def test_without_a_tolerance_the_digits_written_count() -> None:
    read = amount("65.25", "bytes", unit("GB", "bytes"))
    allowed = Tolerance().allows(Fraction(65_248_815_744), read.step)
    assert allowed == 5_000_000
    assert abs(read.value - 65_248_815_744) <= allowed


def test_absent() -> None:
    assert all(map(absent, ["", " ", "n/a", "N/A", "-", "—", "TBD"]))
    assert not absent("0")
