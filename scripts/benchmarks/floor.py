"""The floor: only the requests that are needed, over plain sockets in one thread; decode the headers, sum the bytes.

`python floor.py ENDPOINT REPO`. No retries, no checks, no TLS, no report: what stays is what nobody can leave out.
"""

from __future__ import annotations

import gc
import json
import selectors
import socket
import sys
from collections.abc import Callable
from typing import Any

FIRST_READ = 1.75
"""Bytes asked of each shard, per byte of the shard index and shard: large enough for one read of nearly every one."""
Done = Callable[[dict[bytes, bytes], bytes], None]
"""What is called with an answer's headers and body."""


class Get:
    """One request on a connection of its own; `done` is called with headers and body at its end."""

    def __init__(self, waits: selectors.BaseSelector, url: str, done: Done, wanted: str | None = None) -> None:
        host, _, target = url.removeprefix("http://").partition("/")
        name, _, port = host.partition(":")
        self._waits, self._done, self._got = waits, done, bytearray()
        self._sock = socket.socket()
        self._sock.setblocking(False)
        self._sock.connect_ex((name, int(port)))
        lines = [
            f"GET /{target} HTTP/1.1",
            f"Host: {host}",
            "Connection: close",
            *([f"Range: {wanted}"] if wanted else ()),
        ]
        self._ask = "\r\n".join([*lines, "", ""]).encode()
        waits.register(self._sock, selectors.EVENT_WRITE, self)

    def go_on(self) -> None:
        """Send the request, or take what has come."""
        if self._ask:
            self._sock.send(self._ask)
            self._ask = b""
            self._waits.modify(self._sock, selectors.EVENT_READ, self)
            return
        data = self._sock.recv(262_144)
        if data:
            self._got += data
            return
        self._waits.unregister(self._sock)
        self._sock.close()
        head, _, body = bytes(self._got).partition(b"\r\n\r\n")
        pairs = (line.partition(b":") for line in head.split(b"\r\n")[1:])
        self._done({name.lower(): value.strip() for name, _, value in pairs}, body)


def main(endpoint: str, repo: str) -> None:
    gc.disable()
    waits = selectors.DefaultSelector()
    totals: dict[str, int] = {}

    def listed(_: dict[bytes, bytes], body: bytes) -> None:
        listing = json.loads(body)
        shards = [(s["rfilename"], s["size"]) for s in listing["siblings"] if wanted(s["rfilename"])]
        index = next((s["size"] for s in listing["siblings"] if s["rfilename"] == "model.safetensors.index.json"), 0)
        length = int(index * FIRST_READ / len(shards)) + 4_096 if index else 100_000
        for path, size in shards:
            shard(f"{endpoint}/{repo}/resolve/{listing['sha']}/{path}", min(length, size))

    def shard(url: str, length: int) -> None:
        def resolved(headers: dict[bytes, bytes], _: bytes) -> None:
            read(headers[b"location"].decode(), b"", length)

        Get(waits, url, resolved)

    def read(url: str, before: bytes, stop: int) -> None:
        def come(_: dict[bytes, bytes], body: bytes) -> None:
            whole = before + body
            end = 8 + int.from_bytes(whole[:8], "little")
            if end > len(whole):
                read(url, whole, end)
            else:
                add(json.loads(whole[8:end]), totals)

        Get(waits, url, come, f"bytes={len(before)}-{stop - 1}")

    Get(waits, f"{endpoint}/api/models/{repo}/revision/main?blobs=true", listed)
    while waits.get_map():
        for key, _ in waits.select():
            key.data.go_on()
    print(json.dumps(totals))


def wanted(path: str) -> bool:
    return path.endswith(".safetensors") and "/" not in path


def add(table: dict[str, Any], totals: dict[str, int]) -> None:
    """The bytes of one header by dtype."""
    table.pop("__metadata__", None)
    for entry in table.values():
        start, stop = entry["data_offsets"]
        totals[entry["dtype"]] = totals.get(entry["dtype"], 0) + stop - start


if __name__ == "__main__":
    main(*sys.argv[1:3])
