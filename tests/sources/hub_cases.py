"""A repo, a source of it and ways to read, for the tests of the Hub's source."""

from __future__ import annotations

import json
from typing import Any

from inspector import address
from inspector.sources.hub import HubSource
from tests.loopback import LoopbackHub, Record, Repo, Virtual
from tests.waiting import Waited

CONFIG = json.dumps({"model_type": "llama", "pad": "x" * 2000}).encode()


HEADER = (b'{"__metadata__":{"format":"pt"}}' + b" " * 64)[:64]


SHARD = Virtual(len(HEADER).to_bytes(8, "little") + HEADER, 5_000_000_000)


REPO = Repo.build("org/name", {"config.json": CONFIG, "model.safetensors": SHARD, "deep/er/notes.txt": b"hello"})


def source(hub: LoopbackHub, text: str = "org/name", **options: Any) -> Waited:
    where = address.parse(text, options.pop("revision", None), options.pop("kind", None), hub.endpoint)
    return Waited(HubSource(where, endpoint=hub.endpoint, **options))


def read(src: Waited, path: str, start: int, length: int) -> bytes:
    parts: list[bytes] = []

    def keep(chunk: bytes) -> bool:
        parts.append(chunk)
        return False

    assert src.stream(path, start, length, keep) == sum(map(len, parts))
    return b"".join(parts)


def arrived(hub: LoopbackHub) -> list[Record]:
    """The log in the order of arrival; the log itself is in the order in which answers ended."""
    return sorted(hub.requests, key=lambda r: r.request.number)


def forget(hub: LoopbackHub) -> None:
    """Empty the log once every open exchange is in it."""
    assert hub.requests is not None
    hub.forget()
