"""How many bytes to ask for first, so that nearly every header needs one read.

A header holds, per tensor, its name and about 75 characters; a shard index holds the name and about 45. The index's
size is in the listing, so the sum of all headers is known to within a quarter before anything is read. A shard's
share follows its file size, capped at the median: DeepSeek-V4.1-Flash has two 101 GB shards of six tensors each
beside forty of 7.4 GB with 2,334.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Final

from inspector.model import File

_HEADER_PER_INDEX: Final = 1.6
"""Header bytes per index byte: 1.43 (V4.1-Flash, names of 35 characters), 1.27 (GLM-5.3-Flash, 60)."""
_SLACK: Final = 2_048
_SINGLE: Final = 131_072
"""A file outside an index: headers of single-file models up to 1,000 tensors."""
_LARGEST: Final = 2_000_000


def first_read(file: File, shards: Sequence[File], index_size: int | None) -> int:
    """Bytes to ask of `file` in the first read, header length included; never more than the file has."""
    guess = _SINGLE
    sizes = [f.size for f in shards if f.size]
    if index_size and len(sizes) > 1 and file.size:
        cap = median(sizes)
        share = min(file.size, cap) / sum(min(s, cap) for s in sizes)
        guess = min(int(index_size * _HEADER_PER_INDEX * share) + _SLACK, _LARGEST)
    return guess if file.size is None else min(guess, file.size)
