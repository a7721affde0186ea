"""Hardware rows: bytes as drivers print them, nominal ones marked, names unambiguous, a user's own rows first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector.cli import main
from inspector.errors import UsageError
from inspector.fitting.hardware import find_hardware, load_hardware, name_key, own_hardware
from inspector.model.fit_model import Hardware
from tests.shared import ROOT, folder

MIB, GIB = 1 << 20, 1 << 30
ROWS = load_hardware()


def row(ident: str) -> Hardware:
    found = find_hardware(ident, ROWS)
    assert found is not None, ident
    return found


@pytest.mark.parametrize(
    ("ident", "size"),
    [
        ("h100-80", 81_559 * MIB),
        ("h200-141", 143_771 * MIB),
        ("a100-80", 80 * GIB),
        ("b200-180", 183_359 * MIB),
        ("b300-288", 275_040 * MIB),
        ("l40s", 46_068 * MIB),
        ("t4", 16 * GIB * 15 // 16),
        ("rtx-4090", 24_564 * MIB),
        ("mi300x", 206_141_652_992),
        ("dgx-spark", 130_663_165_952),
        ("m3-ultra-512", 384 * GIB),
        ("m2-max-96", 72 * GIB),
        ("m5-max-128", int(107.52 * GIB)),
        ("m4-pro-24", 16 * GIB),
    ],
)
def test_memory_is_what_drivers_show(ident: str, size: int) -> None:
    assert row(ident).visible_bytes == size
    assert not row(ident).nominal


def test_every_row_has_a_source_and_a_figure() -> None:
    for each in ROWS:
        assert each.source and each.confidence and each.visible_bytes > 0, each.id
    assert len({r.id for r in ROWS}) == len(ROWS)


def test_no_spelling_means_two_devices() -> None:
    seen: dict[str, str] = {}
    for each in ROWS:
        for name in (each.id, each.name, *each.aliases):
            assert seen.setdefault(name_key(name), each.id) == each.id, name


def test_marketed_sizes_are_marked_and_own_rows_win() -> None:
    assert row("h800").nominal
    assert row("h20").nominal
    assert not row("h100").nominal
    assert len(own_hardware()) >= 55
    assert len([r for r in ROWS if r.nominal]) > 150


def test_the_published_devices_are_all_there() -> None:
    folder("facts/hardware.json")
    devices = json.loads((ROOT / "facts" / "hardware.json").read_text())["devices"]
    for device in devices:
        sizes = device["marketing_gb"]
        if isinstance(sizes, list):
            for size in sizes:
                assert size * GIB * 2 // 3 <= row(f"{device['id']}-{size}").visible_bytes < size * GIB * 0.85
        elif device["reported_bytes"] is not None:
            assert row(device["id"]).visible_bytes == device["reported_bytes"]
        else:
            found = row(device["id"])
            assert found.nominal or found.confidence == "published"


def test_a_users_rows_win(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        '[[device]]\nid = "h100-80"\nmemory = "70 GiB"\n\n[[device]]\nid = "toaster"\nvisible_bytes = 4096\n'
    )
    rows = load_hardware(path)
    found = find_hardware("H100 80GB", rows)
    assert found is not None and found.visible_bytes == 70 * GIB
    assert find_hardware("toaster", rows) is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[[device]]\n", "no id"),
        ('[[device]]\nid = "x1"\n', "memory"),
        ('[[device]]\nid = "x1"\nvisible_bytes = -5\n', "memory"),
        ('[[device]]\nid = "x1"\nmemory = "lots"\n', "memory"),
        ('[[device]]\nid = "x1"\nvisible_bytes = 5\nkind = "toaster"\n', "kind"),
        ('[[device]]\nid = "x1"\nvisible_bytes = 5\nmemori = 3\n', "memori"),
        ('[[device]]\nid = "x1"\nvisible_bytes = 5\nfp8 = "yes"\n', "fp8"),
        ("device = 3\n", "device"),
        ("= 3\n", "not TOML"),
        ("", "no [[device]]"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        load_hardware(path)
    assert str(path) in str(error.value) and words in str(error.value)


def test_a_missing_file_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        load_hardware(tmp_path / "absent.toml")


def test_the_command_lists_and_filters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hardware", "spark"]) == 0
    out = capsys.readouterr().out
    assert "dgx-spark" in out and "121.69 GiB" in out and "h100" not in out
    assert main(["hardware", "rtx-50*", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["hardware"]
    assert {"rtx-5090", "rtx-5080"} <= {r["id"] for r in listed}
    assert main(["hardware", "no-such-thing"]) == 2
