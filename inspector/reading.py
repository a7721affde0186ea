"""How many bytes to ask for first, so that nearly every header needs one read.

A header holds, per tensor, its name and about 75 characters; a shard index holds the name and about 45. The index's
size is in the listing, so the sum of all headers is known to within a quarter before anything is read. A shard's
share follows its file size, capped at the median: DeepSeek-V4.1-Flash has two 101 GB shards of six tensors each
beside forty of 7.4 GB with 2,334.

A GGUF header is as long as its vocabulary, which nobody knows beforehand: its first read shows how long that is, and
the reader asks for the rest (`formats/gguf.py`). Later parts of a split have no vocabulary; the other quants of a menu
have the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from inspector.gguf.quant_names import companion, taken_apart
from inspector.model import File, Part
from inspector.records import replace

_HEADER_PER_INDEX: Final = 1.6
"""Header bytes per index byte: 1.43 (V4.1-Flash, names of 35 characters), 1.27 (GLM-5.3-Flash, 60)."""
_SLACK: Final = 2_048
_SINGLE: Final = 131_072
"""A file outside an index: headers of single-file models up to 1,000 tensors."""
_LARGEST: Final = 2_000_000
_VOCABULARY: Final = 1 << 20
"""First read of a GGUF file that may hold one: whole for 32,000 tokens with scores, a good sample of 150,000."""
_WITHOUT: Final = 1 << 16
"""First read of later parts, projectors and adapters: their headers have 2,000 to 60,000 bytes."""
_ALIKE: Final = 4_096
"""How much longer another quant's header may be than the one that was read (`quantize.imatrix.*` takes some 300)."""


def planned(part: Part, index_size: int | None, format: str, known: int | None = None) -> Iterator[tuple[File, int]]:
    """The files of a part that have a header, each with the length of its first read.

    Raw pieces have one, of a file as long as all of them. `known` is the length of the header of an equal set.
    """
    if part.joined:
        sizes = [f.size for f in part.files]
        total = None if None in sizes else sum(s or 0 for s in sizes)
        first = replace(part.files[0], size=total)
        yield first, _first_of_gguf(first, known)
        return
    for file in part.files:
        if format == "gguf":
            yield file, _first_of_gguf(file, known)
        else:
            yield file, first_read(file, part.files, index_size)


def _first_of_gguf(file: File, known: int | None) -> int:
    if (taken_apart(file.name).number or 1) > 1 or companion(file.name) is not None:
        guess = _WITHOUT
    else:
        guess = _VOCABULARY if known is None else known + _ALIKE
    return guess if file.size is None else min(guess, file.size)


def first_read(file: File, shards: Sequence[File], index_size: int | None) -> int:
    """Bytes to ask of `file` in the first read, header length included; never more than the file has."""
    guess = _SINGLE
    sizes = [f.size for f in shards if f.size]
    if index_size and len(sizes) > 1 and file.size:
        ordered = sorted(sizes)
        # The median, which the standard library has in a module that imports decimal and random.
        cap = (ordered[len(ordered) // 2] + ordered[(len(ordered) - 1) // 2]) / 2
        share = min(file.size, cap) / sum(min(s, cap) for s in sizes)
        guess = min(int(index_size * _HEADER_PER_INDEX * share) + _SLACK, _LARGEST)
    return guess if file.size is None else min(guess, file.size)
