"""A loopback Hub in a process of its own, so that its memory and its interpreter's lock are not the clients'."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

ONE_FILE = "example/one-file"


class Hub:
    """The handle of a served Hub: `endpoint`, and what was asked since the last `forget`."""

    def __init__(self, pipe: Connection, endpoint: str) -> None:
        self._pipe, self.endpoint = pipe, endpoint

    def forget(self) -> None:
        """Empty the log."""
        self._ask("forget")

    def seen(self) -> dict[str, int]:
        """Requests and bytes since `forget`, and of them `header_sent`: bytes of weight files."""
        found: dict[str, int] = self._ask("seen")
        return found

    def facts(self, repo: str) -> dict[str, Any]:
        """`shards`, `header_bytes`, `commit` of a served repo."""
        found: dict[str, Any] = self._ask(("facts", repo))
        return found

    def _ask(self, question: object) -> Any:
        self._pipe.send(question)
        return self._pipe.recv()


@contextmanager
def serving(repos: list[str], *, latency: float, bandwidth: float | None = None) -> Iterator[Hub]:
    """A Hub with these fixtures; `latency` seconds per request, `bandwidth` bytes per second over all."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, repos, latency, bandwidth), daemon=True)
    process.start()
    try:
        yield Hub(ours, ours.recv())
    finally:
        process.terminate()
        process.join()


def _serve(pipe: Connection, names: list[str], latency: float, bandwidth: float | None) -> None:
    from tests.loopback import LoopbackHub, load

    repos = {name: _one_file() if name == ONE_FILE else load(name) for name in names}
    for repo in repos.values():
        for file in repo.files.values():
            # Archives are unpacked at the first byte asked: not while somebody is measured.
            file.load()
    with LoopbackHub(repos.values(), latency=latency, bandwidth=bandwidth) as hub:
        pipe.send(hub.endpoint)
        while True:
            question = pipe.recv()
            if question == "forget":
                hub.forget()
                pipe.send(None)
            elif question == "seen":
                weights = [r for r in hub.requests if r.request.file.endswith(".safetensors")]
                sent = sum(r.sent for r in weights if r.request.server == "cdn")
                pipe.send({**hub.totals(), "header_sent": sent})
            else:
                repo = repos[question[1]]
                shards = [f for p, f in repo.files.items() if p.endswith(".safetensors") and "/" not in p]
                headers = sum(f.weights_start() for f in shards)
                pipe.send({"shards": len(shards), "header_bytes": headers, "commit": repo.head})


def _one_file() -> Any:
    """Llama-3.1-8B's tensors in one file."""
    import json
    import struct

    from scripts.layouts.tensors import Tensor, header
    from tests.loopback import Repo, Virtual, load

    source = load("meta-llama/Llama-3.1-8B")
    rows: list[Tensor] = []
    for path, file in source.files.items():
        if path.endswith(".safetensors"):
            stored = file.load()
            table = json.loads(stored[8 : 8 + struct.unpack("<Q", stored[:8])[0]])
            rows += [Tensor(n, e["dtype"], tuple(e["shape"])) for n, e in table.items() if n != "__metadata__"]
    head, size = header(rows)
    config = bytes(source.files["config.json"].load())
    return Repo.build(ONE_FILE, {"config.json": config, "model.safetensors": Virtual(head, len(head) + size)})
