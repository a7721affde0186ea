"""What people type: clusters, addresses, rules of a mapping, files of their own hardware."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path
from typing import Final
from urllib.parse import quote

from inspector import address
from inspector.claim.claim_amounts import amount, tolerance, unit, written
from inspector.claim.claim_quantities import named
from inspector.claim.claim_rules import parse
from inspector.fitting.cluster import MAX_DEVICES, count_only, parse_cluster
from inspector.fitting.hardware import load_hardware, user_hardware
from inspector.fitting.resident import parse_offload
from inspector.fitting.sizes import parse_size
from scripts.fuzzing.target import Target, tried

_ROWS: Final = load_hardware()


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _cluster(data: bytes) -> None:
    text = _text(data)
    size = parse_size(text)
    assert size is None or size.bytes >= 0
    tried(lambda: parse_offload([text]))
    count_only(text)
    found = tried(lambda: parse_cluster(text, _ROWS))
    if found is None:
        return
    assert 1 <= len(found.devices) <= MAX_DEVICES
    assert found.visible_bytes > 0
    again = parse_cluster(found.text, _ROWS)
    assert again.visible_bytes == found.visible_bytes, f"{found.text!r} is another cluster"


def _address(data: bytes) -> None:
    text = _text(data)
    found = tried(lambda: address.parse(text, endpoint="https://hub.example/base"))
    if found is None or found.kind in ("local", "url", "snapshot"):
        return
    assert found.name.count("/") <= 1 and ".." not in found.name and found.name.isascii(), found
    for path in (found.path, found.folder):
        assert path is None or not {"", ".", ".."} & set(path.split("/")), found
    revision = found.revision
    assert revision is None or not ({"", ".", ".."} & set(revision.split("/"))), found
    if found.kind == "model" and "/" in found.name and found.path is None and found.folder is None:
        typed = f"hf://models/{found.name}" + (f"@{quote(revision, safe='')}" if revision is not None else "")
        assert address.parse(typed) == found, f"{typed!r} is another address"


def _rule(data: bytes) -> None:
    text = _text(data)
    rule = tried(lambda: parse(text, named))
    if rule is not None:
        tried(lambda: rule.evaluate(lambda name: Fraction(7, 3), lambda tokens: Fraction(tokens)))
    for kind in ("bytes", "count", "number"):
        tried(lambda kind=kind: tolerance(text, kind))  # type: ignore[misc]
        found = tried(lambda kind=kind: amount(text, kind, unit("GB", "bytes") if kind == "bytes" else None))  # type: ignore[misc]
        if found is not None and found.decimals < 40 and abs(found.number) < 10**39:
            assert found.span is not None and 0 <= found.span[0] < found.span[1] <= len(text)
            same = amount(written(found.value, found, found.decimals), kind, found.unit)
            assert same.value == found.value, f"{text!r} is written as {same}"


def _hardware(data: bytes) -> None:
    path = Path(tempfile.gettempdir(), f"inspect-fuzz-{os.getpid()}.toml")
    path.write_bytes(data)
    rows = tried(lambda: user_hardware(path))
    for row in rows or ():
        assert row.id and 0 < row.visible_bytes <= 1 << 50
    if rows:
        tried(lambda: parse_cluster(f"2x {rows[0].id}", rows))


def _seeded(*texts: str) -> Iterable[bytes]:
    return [t.encode() for t in texts]


_HUB: Final = "https://huggingface.co/org/name"
TARGETS: Final = (
    Target(
        "cluster",
        _cluster,
        lambda: _seeded("2x dgx-spark", "8 x H200", "256GB", "4x 80 GiB", "2x rtx-4090 + 1x rtx-3090", "h100 x 8"),
        ("x", "×", " + ", "GiB", "GB", "dgx-spark", "h100-80", "rtx 5090 (32 GB)", "m3-ultra-512", "memory=disk"),
        longest=300,
    ),
    Target(
        "address",
        _address,
        lambda: _seeded(
            *(
                "org/name@refs/pr/3",
                "hf://datasets/org/name@v1/a/b.json",
                f"{_HUB}/blob/main/a%20b/c.gguf",
                "gpt2@main",
            ),
            *(f"{_HUB}/tree/refs%2Fpr%2F3/unet", "https://hub.example/base/org/name/resolve/x/y", "a.zip#org/name@v"),
            *("https://example.org/m.safetensors?x=1#y", "./x", "spaces/org/name"),
        ),
        (
            "https://",
            "hf://",
            "huggingface.co/",
            "/tree/",
            "/blob/",
            "%2F",
            "%2e%2e",
            "..",
            "@",
            "refs/pr/1",
            "models/",
        ),
        longest=400,
    ),
    Target(
        "rule",
        _rule,
        lambda: _seeded(
            *("ceil(tensor_bytes_gb * 1.2) + 2 GiB", "max(cache(8192), 1 GB) / 2", "parameters * 4.5 / 8", "510.3 GB"),
            *("1,369,062 kB", "~54.6 %", "121.54Gi", '"expert.bytes" - 1_000', "-3e4", "±0.5 GB"),
        ),
        ("tensor_bytes", "file_bytes_gib", "parameters", "cache(", "ceil(", "max(", "min(", "round(", "GiB", "%", "e9"),
        longest=600,
    ),
    Target(
        "hardware",
        _hardware,
        lambda: _seeded(
            '[[device]]\nid = "my-box"\nmemory = "80 GiB"\nkind = "discrete"\naliases = ["b"]\nbandwidth_gbps = 3\n',
            '[[device]]\nid = "b"\nvisible_bytes = 85520809984\nnominal = true\nfp8 = false\nname = "B"\n',
        ),
        (
            "[[device]]",
            "id = ",
            "memory = ",
            "visible_bytes = ",
            "inf",
            "nan",
            "1979-05-27",
            "'''",
            '"""',
            "[[",
            "{a=1}",
        ),
        longest=2_000,
    ),
)
