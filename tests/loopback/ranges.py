"""One byte range of one file, by RFC 9110 section 14: what `Range` asks and how it is answered."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.loopback.content import Entry
from tests.loopback.wire import Answer, Slice

_RANGE = re.compile(r"bytes=(\d*)-(\d*)\Z")


def serve(entry: Entry, wanted: str | None, headers: Mapping[str, str]) -> Answer:
    """200 with all of `entry`, 206 with the part that `wanted` asks, or 416.

    Several ranges, and what is no byte range at all, are answered with the whole file, as the Hub's CDN does.
    """
    common = {"Accept-Ranges": "bytes", **headers}
    match = _RANGE.match(wanted or "")
    if match is None or match.group(0) == "bytes=-":
        return Answer(200, common, Slice(entry, 0, entry.size))
    first, last = match.groups()
    if first:
        start, stop = int(first), min(int(last) + 1 if last else entry.size, entry.size)
        if last and int(last) < start:
            return Answer(200, common, Slice(entry, 0, entry.size))
    else:
        start, stop = max(0, entry.size - int(last)), entry.size
    if start >= entry.size:
        return Answer(416, {**common, "Content-Range": f"bytes */{entry.size}"})
    part = {"Content-Range": f"bytes {start}-{stop - 1}/{entry.size}"}
    return Answer(206, {**common, **part}, Slice(entry, start, stop))
