"""A repo in memory becomes a report: its figures add up, and every output of it is safe."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from inspector.fitting.cluster import parse_cluster
from inspector.fitting.outlook import cache_for, fits_for
from inspector.measure import measure
from inspector.model import Checkpoint, Footprint, Report, Source
from inspector.model.cache_model import Cache, UnknownCache
from inspector.model.fit_model import Workload
from inspector.render import render
from scripts.fuzzing import safe
from tests.memory import MemorySource
from tests.waiting import examine

Files = Mapping[str, bytes | tuple[bytes, int]]
"""Path -> bytes, or a header with the size of the data behind it."""
CLUSTER: Final = parse_cluster("2x dgx-spark")
QUICK: Final = ("text", "json", "markdown", "csv")
_PAGES: Final = ("html", "svg")
_SELDOM: Final = 256
"""A page takes a tenth of a second to draw, so one of so many inputs gets pages, the others one quick output."""


def now_and_then(data: bytes) -> bool:
    """True for one input of four: a report takes ten times what reading a config or an index does."""
    return zlib.crc32(data) % 4 == 0


def whole(files: Files, data: bytes, *, forms: Sequence[str] = ()) -> Report:
    """The report of a repo of these files; see `of`."""
    return of(MemorySource(files, jobs=1), data, forms=forms)


def of(source: Source, data: bytes, *, forms: Sequence[str] = ()) -> Report:
    """The report of a repo with every tensor, its cache and a fit, after checking its figures and outputs.

    `data` is what was fuzzed; its checksum decides which output is made, unless `forms` are named.
    """
    report, checkpoint, footprint = examine(source)
    adds_up(report, checkpoint, footprint)
    asked = Workload(with_draft=True)
    cache = cache_for(checkpoint, asked)
    sound(cache)
    again, rows = measure(checkpoint, lambda name: True, sliced=True)
    assert again.cells == footprint.cells, "the cells depend on whether tensors are listed"
    assert sum(r.bytes for r in rows or ()) == footprint.tensor_bytes
    assert sum(s.bytes for s in again.slices) == footprint.tensor_bytes, "slices do not add up to the tensors"
    fits = fits_for(checkpoint, again, asked, (CLUSTER,))
    metadata = {h.file: h.metadata for h in checkpoint.headers}
    report = replace(report, tensor_rows=rows, fits=fits, metadata=metadata)
    report = replace(report, cache=cache if isinstance(cache, Cache) else None)
    alone = replace(report, tensor_rows=None)
    for form in forms:
        for several in ((report, alone),) if form in _PAGES else ((report,), (alone,), (report, alone)):
            safe.output(form, render(form, several))
    if not forms:
        mark = zlib.crc32(data)
        several = ((report,), (alone,), (report, alone))[mark // _SELDOM % 3]
        for form in QUICK[mark % 4 :][:1] if mark % _SELDOM else _PAGES:
            safe.output(form, render(form, several, width=40 + mark % 100))
    return report


def adds_up(report: Report, checkpoint: Checkpoint, footprint: Footprint) -> None:
    """Raise where the figures of a report are not those of its headers."""
    stored = sum(h.tensor_bytes for h in checkpoint.headers)
    tensors = sum(len(h.tensors) for h in checkpoint.headers)
    assert footprint.tensor_bytes == stored, f"cells hold {footprint.tensor_bytes:,} bytes, headers {stored:,}"
    assert sum(d.bytes for d in footprint.dtypes) == stored
    assert sum(d.tensors for d in footprint.dtypes) == tensors
    assert sum(c.tensors for c in footprint.cells) == tensors
    for cell in footprint.cells:
        assert cell.weight_bytes >= 0 and cell.overhead_bytes >= 0, f"a cell of fewer than no bytes: {cell}"
        assert cell.parameters is None or cell.parameters >= 0, f"a cell of fewer than no parameters: {cell}"
        assert cell.bits is None or cell.bits > 0, f"a cell of no bits: {cell}"
    assert report.parameters is None or report.parameters >= 0
    assert report.tensor_bytes in (None, stored)
    for header in checkpoint.headers:
        reached = 0
        for tensor in header.tensors:
            assert tensor.start >= reached and tensor.end >= tensor.start, f"tensors overlap: {tensor}"
            reached = tensor.end


def sound(cache: Cache | UnknownCache) -> None:
    """Raise where a cache is less than nothing, shrinks with the context, or is unknown without a reason."""
    if isinstance(cache, UnknownCache):
        assert cache.reason and isinstance(cache.where, str)
        return
    assert cache.bytes_per_token >= 0 and cache.fixed_bytes >= 0
    assert 0 <= cache.bytes_at(1) <= cache.bytes_at(8_192) <= cache.bytes_at(1 << 20)
