"""Headers that differ in the number of a layer only are decoded once.

A shard of one layer has the header of the next one but for `layers.3.` and `layers.4.` in all its names: of
DeepSeek-V4.1-Flash's 48 headers 12 are distinct, of Kimi-K2.5's 63 four. Bytes are compared, so nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from inspector.formats import safetensors
from inspector.model import Alike, Header, TensorInfo
from inspector.records import dataclass, field, replace

_PREFIX: Final = re.compile(rb'"((?:[^"\\.\x00-\x1f\x7f-\xff]{1,80}\.){0,6}?\d{1,9}\.)[^"\\]*":\s*\{')
"""The first name with a number in it, up to the number's dot."""
_TRIES: Final = 4
_BEGIN: Final = 512
_BEGIN_OF_IT: Final = 256
"""Bytes of the beginning that are compared first: fewer than are rewritten, so that none of a prefix is cut."""
_LOOK: Final = 4096
"""Bytes in which that name must come."""


@dataclass(slots=True)
class _Model:
    """A decoded header that others may be like, the prefix of all its names, and its JSON."""

    header: Header
    prefix: bytes
    table: bytes
    pieces: list[bytes] = field(default_factory=list)
    """The JSON without the prefixes, once it was asked for: to join it anew is ten times as fast as to search it."""

    def told(self, prefix: bytes) -> bytes:
        """The JSON with another prefix in the place of its own."""
        if not self.pieces:
            self.pieces = self.table.split(b'"' + self.prefix)
        return (b'"' + prefix).join(self.pieces)


class Twins:
    """Decodes safetensors headers, each distinct one once. Not for several threads."""

    def __init__(self) -> None:
        self._models: list[_Model] = []

    def header(self, reader: safetensors.Reader) -> Header:
        """The header that `reader` has taken in. Raises `MalformedFile`."""
        whole, start, end = reader.table()
        found = _PREFIX.search(whole, start, min(end, start + _LOOK))
        if found is None:
            return reader.header()
        prefix, size = found[1], end - start
        tries = 0
        for model in reversed(self._models):
            # Told by the lengths first: the text is compared with what a header with this prefix would be.
            if size - len(model.table) != len(model.header.tensors) * (len(prefix) - len(model.prefix)):
                continue
            # The beginning first, and few in full: files of one length that are not alike must not cost their square.
            begin = model.table[:_BEGIN].replace(b'"' + model.prefix, b'"' + prefix)[:_BEGIN_OF_IT]
            if tries == _TRIES or not whole.startswith(begin, start):
                continue
            tries += 1
            if whole.startswith(model.told(prefix), start):
                return reader.like(model.header, model.prefix.decode(), prefix.decode())
        header = reader.header()
        own, table = prefix.decode("utf-8", "replace"), whole[start:end]
        # The prefix must be in every name and nowhere else: then equal texts mean equal headers but for it.
        if table.count(b'"' + prefix) == len(header.tensors) and all(t[0].startswith(own) for t in header.tensors):
            self._models.append(_Model(header, prefix, table))
        return header


def apart_from(header: Header) -> Header:
    """The header with tensors of its own."""
    return replace(header, tensors=tuple(header.tensors)) if isinstance(header.tensors, Alike) else header


def apart(headers: Sequence[Header], same: Callable[[str, str], bool]) -> tuple[list[Header], list[int]]:
    """(headers to look at tensor by tensor, how many there are like each of them, it counted).

    Of headers that are alike under prefixes of one stem the first is looked at: `mtp.0.` and `vision.layers.0.` are no
    layers of `model.layers.`. Another one stays too where some other header names anything under its prefix, for a
    group of tensors may then reach from one into the other, and where its prefix is not `same` as the first's.
    """
    own = _own(headers)
    owned = owners(headers)
    plain: list[Header] = []
    times: list[int] = []
    first: dict[tuple[int, str], tuple[str, int]] = {}
    for header, prefix in zip(headers, own, strict=True):
        if prefix is not None and owned[prefix] == 1:
            leader, place = first.setdefault((id(header.decoded), _stem(prefix)), (prefix, len(plain)))
            if leader != prefix and same(leader, prefix):
                times[place] += 1
                continue
        plain.append(header)
        times.append(1)
    return plain, times


def owners(headers: Sequence[Header]) -> dict[str, int]:
    """How many headers name something under each prefix (`model.layers.3.`) of those that are alike."""
    alike = [h.tensors for h in headers if isinstance(h.tensors, Alike)]
    stems = {_stem(prefix) for t in alike for prefix in (t.own, t.old)}
    found: dict[str, int] = {}
    for header, prefix in zip(headers, _own(headers), strict=True):
        for under in {prefix} if prefix is not None else _under(header.tensors, stems):
            found[under] = found.get(under, 0) + 1
    return found


def _own(headers: Sequence[Header]) -> list[str | None]:
    """The prefix of all names of each header that is like another one, or that another one is like."""
    old = {id(h.tensors.model): h.tensors.old for h in headers if isinstance(h.tensors, Alike)}
    return [h.tensors.own if isinstance(h.tensors, Alike) else old.get(id(h.tensors)) for h in headers]


def _stem(prefix: str) -> str:
    """`model.layers.` of `model.layers.3.`."""
    return prefix.removesuffix(".").rstrip("0123456789")


def _under(tensors: Sequence[TensorInfo], stems: set[str]) -> set[str]:
    """The prefixes `model.layers.3.` of all names that begin with a stem `model.layers.`."""
    found: set[str] = set()
    for stem in stems:
        cut, prefix = len(stem), ""
        for tensor in tensors:
            name = tensor[0]
            # Names of one layer come one after another.
            if (not prefix or not name.startswith(prefix)) and name.startswith(stem):
                # `layers.3_scale` belongs to `layers.3.weight` as much as `layers.3.bias` does.
                rest = name[cut:]
                prefix = f"{stem}{rest[: len(rest) - len(rest.lstrip('0123456789'))]}."
                found.add(prefix)
    return found
