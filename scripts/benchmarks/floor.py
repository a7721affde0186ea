"""The floor: only the requests that are needed, over plain sockets; decode the headers, sum the bytes by dtype.

`python floor.py ENDPOINT REPO`. No retries, no checks, no report: what stays is what nobody can leave out.
"""

from __future__ import annotations

import gc
import http.client
import json
import sys
import threading
from urllib.parse import urlsplit

FIRST_READ = 1.75
"""Bytes asked of each shard, per byte of the shard index and shard: large enough for one read of nearly every one."""
WORKERS = 64


def main(endpoint: str, repo: str) -> None:
    gc.disable()
    hub = urlsplit(endpoint).netloc
    listing = json.loads(fetch(hub, f"/api/models/{repo}/revision/main?blobs=true")[2])
    shards = [(s["rfilename"], s["size"]) for s in listing["siblings"] if wanted(s["rfilename"])]
    index = next((s["size"] for s in listing["siblings"] if s["rfilename"] == "model.safetensors.index.json"), 0)
    length = int(index * FIRST_READ / len(shards)) + 4_096 if index else 100_000
    totals: dict[str, int] = {}
    lock = threading.Lock()
    queue = list(shards)

    def work() -> None:
        while True:
            with lock:
                if not queue:
                    return
                path, size = queue.pop()
            own = sums(hub, f"/{repo}/resolve/{listing['sha']}/{path}", min(length, size))
            with lock:
                for dtype, count in own.items():
                    totals[dtype] = totals.get(dtype, 0) + count

    workers = [threading.Thread(target=work) for _ in range(min(WORKERS, len(shards)))]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(json.dumps(totals))


def wanted(path: str) -> bool:
    return path.endswith(".safetensors") and "/" not in path


def sums(hub: str, path: str, length: int) -> dict[str, int]:
    """Bytes by dtype of one file."""
    status, headers, _ = fetch(hub, path)
    assert status == 302, status
    parts = urlsplit(headers["location"])
    target = f"{parts.path}?{parts.query}"
    status, _, body = fetch(parts.netloc, target, f"bytes=0-{length - 1}")
    end = 8 + int.from_bytes(body[:8], "little")
    if end > len(body):
        body += fetch(parts.netloc, target, f"bytes={len(body)}-{end - 1}")[2]
    totals: dict[str, int] = {}
    table = json.loads(body[8:end])
    table.pop("__metadata__", None)
    for entry in table.values():
        start, stop = entry["data_offsets"]
        totals[entry["dtype"]] = totals.get(entry["dtype"], 0) + stop - start
    return totals


def fetch(host: str, target: str, wanted: str | None = None) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(host)
    connection.request("GET", target, headers={"Range": wanted} if wanted else {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, {k.lower(): v for k, v in answer.getheaders()}, body


if __name__ == "__main__":
    main(*sys.argv[1:3])
