"""What servers answer: Content-Range, the Hub's listing, links to the next page, when to ask again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

from inspector.net import hub_listing, ranges
from inspector.net.retrying import asked_delay
from scripts.fuzzing.target import Target, tried

_STATUS: Final = (200, 206, 206, 206, 416, 404, 429, 302)


def _headers(data: bytes) -> None:
    """Two bytes of choices, then lines as a server writes them."""
    how = data[:2].ljust(2, b"\0")
    lines = [line.partition(":") for line in data[2:].decode("latin-1").splitlines()]
    given = {name.strip().lower(): value.strip() for name, _, value in lines}
    status, size = _STATUS[how[0] % len(_STATUS)], None if how[1] & 1 else 1_000
    start, stop = how[1] >> 4, (how[1] >> 4) + 100
    expected = tried(lambda: ranges.accept(status, given, start, stop, size, "https://hub.example/x"))
    assert expected is None or 0 <= expected <= stop - start, f"{expected} bytes of {stop - start}"
    assert expected is None or status != 200, "a 200 is taken for a range"
    total = ranges.total(given)
    assert total is None or total >= 0
    delay = asked_delay(status, given, 1e9)
    assert delay is None or delay >= 0
    query = hub_listing.next_query(given.get("link", ""))
    assert query is None or (query and "<" not in query)


def _listing(data: bytes) -> None:
    try:
        value: Any = json.loads(data)
    except (ValueError, RecursionError):
        return
    info = tried(lambda: hub_listing.info(value, "https://hub.example/x"))
    tree = tried(lambda: hub_listing.tree(value, "https://hub.example/x"))
    for file in chain(info.files if info else (), tree or ()):
        assert file.size is None or (type(file.size) is int and file.size >= 0)
        assert file.content_id is None or isinstance(file.content_id, str)
        if not hub_listing.unsafe(file.path):
            assert not {"", ".", ".."} & set(file.path.split("/"))
    if info is not None:
        assert info.sha is None or len(info.sha) in (40, 64)
        assert info.total is None or info.total >= 0
        assert all(type(n) is int and n >= 0 for n in (info.parameters or {}).values())


def _answers() -> Iterable[bytes]:
    yield b"\x01\x00content-range: bytes 0-99/1000\ncontent-length: 100\n"
    yield b"\x01\x01content-range: bytes 0-99/*\n"
    yield b"\x04\x01content-range: bytes */50\n"
    yield b"\x00\x00content-length: 1000\n"
    yield b'\x06\x00ratelimit: "api";r=0;t=17\nretry-after: 3\n'
    yield b"\x06\x00retry-after: Fri, 31 Dec 1999 23:59:59 GMT\ndate: Fri, 31 Dec 1999 23:59:00 GMT\n"
    yield b'\x01\x00link: <https://huggingface.co/api/models/a/b/tree/main?cursor=x&limit=2>; rel="next"\n'


def _listings() -> Iterable[bytes]:
    lfs = {"size": 9, "sha256": "ab", "pointerSize": 134}
    info = {
        "id": "org/name",
        "sha": "0" * 40,
        "siblings": [{"rfilename": "a.safetensors", "size": 9, "blobId": "cd", "lfs": lfs}, {"rfilename": "d/b"}],
        "safetensors": {"parameters": {"BF16": 4}, "total": 4},
    }
    tree = [
        {"type": "file", "path": "a", "size": 9, "oid": "cd", "lfs": {**lfs, "oid": "ab"}},
        {"type": "directory", "path": "d", "size": 0, "oid": "ef"},
    ]
    yield json.dumps(info).encode()
    yield json.dumps(tree).encode()


TARGETS: Final = (
    Target(
        "headers",
        _headers,
        _answers,
        (
            "content-range:",
            "bytes ",
            "*/",
            "/*",
            "content-length:",
            "retry-after:",
            "link:",
            'rel="next"',
            "ratelimit:",
        ),
        longest=1_000,
    ),
    Target(
        "listing",
        _listing,
        _listings,
        ("siblings", "rfilename", "lfs", "size", "sha256", "oid", "blobId", "path", "type", "directory", "parameters"),
        structured=0,
    ),
)
