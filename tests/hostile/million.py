"""A report of a million tiny tensors, within the bounds: `python -m tests.hostile.million FORMAT`, a process each.

Memory is what the process reached, so what the tests did before would hide it.
"""

from __future__ import annotations

import sys

from scripts.fuzzing.bounds import bounded
from tests.formats.gguf.build import Writer
from tests.memory import MemorySource
from tests.waiting import examine

COUNT = 1_000_000


def safetensors() -> tuple[str, bytes, int]:
    entry = '"t%d":{"dtype":"U8","shape":[1],"data_offsets":[%d,%d]}'
    table = "{" + ",".join(entry % (i, i, i + 1) for i in range(COUNT)) + "}"
    return "model.safetensors", len(table).to_bytes(8, "little") + table.encode(), COUNT


def gguf() -> tuple[str, bytes, int]:
    writer = Writer()
    head = writer.start(COUNT, 0) + b"".join(writer.info(f"t{i}", (1,), 0, i * 32) for i in range(COUNT))
    return "m.gguf", head + bytes(-len(head) % 32), COUNT * 32


def main() -> None:
    name, head, size = {"safetensors": safetensors, "gguf": gguf}[sys.argv[1]]()
    with bounded(len(head)):
        report, _, _ = examine(MemorySource({name: (head, size)}, jobs=1))
    assert report.tensors == COUNT
    assert not report.incomplete
    print(f"{len(head):,} bytes of header")


if __name__ == "__main__":
    main()
