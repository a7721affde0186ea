"""A tiny repo and a bare client, for tests of the loopback Hub itself."""

from __future__ import annotations

import http.client
import json
from urllib.parse import urlsplit

from tests.loopback.content import Virtual
from tests.loopback.repo import Repo

HEADER = b'{"w":{"dtype":"BF16","shape":[500],"data_offsets":[0,1000]}}    '
SHARD = Virtual(len(HEADER).to_bytes(8, "little") + HEADER, 8 + len(HEADER) + 1000)
CONFIG = json.dumps({"model_type": "tiny", "padding": "x" * 3000}).encode()
FILES: dict[str, bytes | Virtual] = {
    "config.json": CONFIG,
    "model.safetensors": SHARD,
    "sub/deep/note.txt": b"hello",
    "sub/a.txt": b"a",
}
REPO = Repo.build("org/tiny", FILES)


def ask(url: str, method: str = "GET", **headers: str) -> tuple[int, dict[str, str], bytes]:
    """One exchange on a fresh connection, no redirects followed."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=5)
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, headers={k.replace("_", "-"): v for k, v in headers.items()})
        answer = connection.getresponse()
        return answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read()
    finally:
        connection.close()
