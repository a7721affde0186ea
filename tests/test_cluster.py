"""Clusters as people write them; unknown names come back with the nearest ones."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import UsageError
from inspector.fitting.cluster import count_only, parse_cluster
from inspector.fitting.hardware import load_hardware

ROWS = load_hardware()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2x dgx-spark", "2x dgx-spark"),
        ("2xh100", "2x h100-80"),
        ("8 x H200", "8x h200-141"),
        ("8 × H200", "8x h200-141"),
        ("h200", "1x h200-141"),
        ("1x m3-ultra-512", "1x m3-ultra-512"),
        ("Mac Studio M3 Ultra 512 GB", "1x m3-ultra-512"),
        ("2x rtx-4090 + 1x rtx-3090", "2x rtx-4090 + 1x rtx-3090"),
        ("2x rtx-4090+1x rtx-3090", "2x rtx-4090 + 1x rtx-3090"),
        ("2x RTX 4090 48GB", "2x rtx-4090-48"),
        ("4x4090", "4x rtx-4090"),
        ("7900 XTX", "1x rx-7900-xtx"),
        ("NVIDIA H100 80GB HBM3", "1x h100-80"),
        ("DGX Spark", "1x dgx-spark"),
        ("2x DGX Spark 128GB", "2x dgx-spark"),
        ("RTX 5090 32GB", "1x rtx-5090"),
        ("rtx 5090 (32 GB)", "1x rtx-5090"),
        ("h100 x 8", "8x h100-80"),
        ("rtx-4090 x2 + 1x rtx-3090", "2x rtx-4090 + 1x rtx-3090"),
        ("gb10", "1x dgx-spark"),
        ("rtx spark", "1x rtx-spark"),
        ("Ryzen AI Max+ 395", "1x strix-halo-128"),
        ("2x ryzen ai max+ 395 + 1x h100", "2x strix-halo-128 + 1x h100-80"),
    ],
)
def test_names_as_people_write_them(text: str, meant: str) -> None:
    assert parse_cluster(text, ROWS).text == meant


def test_bare_memory_is_decimal_unless_gib_is_written() -> None:
    decimal, binary = parse_cluster("256GB", ROWS), parse_cluster("4x 80 GiB", ROWS)
    assert decimal.visible_bytes == 256 * 10**9
    assert binary.visible_bytes == 4 * 80 * 2**30
    assert len(binary.devices) == 4
    assert "decimal" in decimal.assumptions[0] and "binary" in binary.assumptions[0]


def test_two_sparks_show_243_gib() -> None:
    assert round(parse_cluster("2x dgx-spark", ROWS).visible_bytes / 2**30, 2) == 243.38


def test_nominal_hardware_is_said_to_be_nominal() -> None:
    (line,) = parse_cluster("8x H800", ROWS).assumptions
    assert "nominal" in line


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2x dgx-sprak", "dgx-spark"),
        ("m3-ultra", "m3-ultra-512"),
        ("h1000", "h100-80"),
        ("rtx 5090 48GB", "rtx-5090"),
        ("2x h100 +", "plus"),
        ("0x h100", "0 units"),
        ("-1x h100", "-1 units"),
        ("1.5x h100", "1.5 units"),
        ("4097x h100", "4097"),
        ("4000x h100 + 4000x h200", "8,000"),
        ("99999999999999999999x h100", "99999"),
        ("", "empty"),
        ("0GB", "between 1 byte"),
        ("256", "not known"),
        ("2x", "not known"),
    ],
)
def test_what_is_wrong_is_said(text: str, words: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_cluster(text, ROWS)
    assert words in str(error.value)


def test_a_count_alone_takes_the_next_word() -> None:
    assert count_only("2x") and count_only(" 16 X ")
    assert not count_only("2x h100") and not count_only("h100")


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_a_cluster_or_a_usage_error(text: str) -> None:
    try:
        cluster = parse_cluster(text, ROWS)
    except UsageError as error:
        assert len(str(error)) < 400
    else:
        assert cluster.devices and cluster.visible_bytes > 0


@settings(deadline=None)
@given(st.integers(1, 4096), st.sampled_from(ROWS))
def test_every_row_is_found_by_its_id_in_any_number(count: int, row: object) -> None:
    ident = row.id  # type: ignore[attr-defined]
    assert parse_cluster(f"{count}x {ident}", ROWS).text == f"{count}x {ident}"
