"""Tiny repos for tests of tables, and a table written to a folder."""

from __future__ import annotations

import json
from pathlib import Path

from tests.loopback import Repo, Virtual


def tiny(name: str, elements: int = 500, dtype: str = "BF16", size: int = 2) -> Repo:
    """One file of one tensor: `elements` x `size` bytes."""
    tensor = {"dtype": dtype, "shape": [elements], "data_offsets": [0, elements * size]}
    head = json.dumps({"model.norm.weight": tensor}).encode()
    head += b" " * (-len(head) % 8)
    data = len(head).to_bytes(8, "little") + head
    files: dict[str, bytes | Virtual] = {
        "config.json": b'{"model_type": "tiny"}',
        "model.safetensors": Virtual(data, len(data) + elements * size),
    }
    return Repo.build(name, files)


def written(folder: Path, name: str, text: str) -> str:
    """The path of a new file with a text."""
    path = folder / name
    path.write_bytes(text.encode())
    return str(path)
