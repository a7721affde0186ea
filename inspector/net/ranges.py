"""Whether an answer to a range request is the exact 206 that was asked for. Pure: status and headers in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from inspector.errors import SourceError

_PART: Final = re.compile(r"bytes (\d{1,19})-(\d{1,19})/(\d{1,19}|\*)")
_NONE: Final = re.compile(r"bytes \*/(\d{1,19})")


def accept(status: int, headers: Mapping[str, str], start: int, stop: int, size: int | None, place: str) -> int:
    """How many body bytes will come for `start..stop` of a file of `size` bytes (None: not known).

    0 where a file of unknown size ends before `start`. Raises `SourceError` for every answer but the exact one, to
    be called before any of the body is read: a 200 announces the whole file (RFC 9110, 14.2 and 15.3.7).
    """
    asked = f"bytes {start:,}-{stop - 1:,}"
    if status == 200:
        length = headers.get("content-length", "")
        whole = f"all {int(length):,} bytes" if length.isascii() and length.isdigit() else "the whole file"
        message = f"asked for {asked}, and the server sends {whole} (status 200 in place of 206)"
        raise SourceError(place, message, "The connection was closed. The server or a proxy ignores ranges.")
    if status == 416:
        return _unsatisfied(headers, start, size, asked, place)
    if status != 206:
        raise SourceError(place, f"asked for {asked}, and got status {status} in place of 206")
    encoding = headers.get("content-encoding", "identity").strip().lower()
    if encoding not in ("", "identity"):
        message = f"asked for {asked}, and the answer is encoded ({encoding[:20]!a}); its bytes cannot be placed"
        raise SourceError(place, message, "A proxy compresses what it should not.")
    given = headers.get("content-range", "")
    match = _PART.fullmatch(given.strip())
    if match is None:
        raise SourceError(place, f"asked for {asked}, and the answer names no range ({given[:60]!a})")
    first, last = int(match.group(1)), int(match.group(2))
    total = None if match.group(3) == "*" else int(match.group(3))
    if size is not None and total is not None and total != size:
        message = f"the listing says {size:,} bytes, and the server says {total:,}"
        raise SourceError(place, message, "The file is another one than listed; try again.")
    known = size if size is not None else total
    end = stop if known is None else min(stop, known)
    if first != start or last != end - 1 or last < first:
        raise SourceError(place, f"asked for {asked}, and the answer holds bytes {first:,}-{last:,}")
    length = headers.get("content-length", "").strip()
    if length and length != str(end - start):
        raise SourceError(place, f"the answer announces {length[:20]!a} bytes for a range of {end - start:,}")
    return end - start


def total(headers: Mapping[str, str]) -> int | None:
    """The size of the whole file, as a 206 or 416 states it; None where it does not."""
    given = headers.get("content-range", "").strip()
    found = _PART.fullmatch(given) or _NONE.fullmatch(given)
    size = None if found is None else found.group(found.re.groups)
    return int(size) if size is not None and size.isdigit() else None


def _unsatisfied(headers: Mapping[str, str], start: int, size: int | None, asked: str, place: str) -> int:
    match = _NONE.fullmatch(headers.get("content-range", "").strip())
    total = int(match.group(1)) if match else None
    if size is None and total is not None and total <= start:
        return 0
    has = f"the file has {total:,} bytes" if total is not None else "the file does not have them"
    listed = f"; the listing says {size:,}" if size is not None else ""
    message = f"asked for {asked}, and the server says {has}{listed} (status 416)"
    raise SourceError(place, message, "The file is another one than listed; try again.")
