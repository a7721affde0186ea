"""GGUF's names, numbers, strings and arrays, taken from a window; what nobody asks for is skipped by its length.

Metadata values: numbers, booleans, strings; arrays as tuples. What is long is shortened to a dict
`{"type": element type, "count": elements, "head": the first few}`; a string to `{"type": "string", "count": bytes,
"head": its beginning}`. GGUF has no dicts of its own, so a dict is always something shortened.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from inspector.gguf.gguf_window import Steps, Window
from inspector.model import Json

MAX_NAME: Final = 65_535
"""Bytes of a key, as the specification says; tensor names are held to the same (llama.cpp stops at 63)."""
MAX_DEPTH: Final = 4
"""Arrays inside arrays, as huggingface.js; llama.cpp takes none."""
MAX_NESTED: Final = 65_536
"""Arrays inside arrays of one file, each of which costs an object."""
KEEP_STRING: Final = 65_536
"""Bytes of a string that is kept whole: chat templates reach 30,000, an embedded tokenizer.json 30,000,000."""
KEEP_NUMBERS: Final = 4_096
"""Elements of an array of numbers that is kept whole: per-layer lists (`attention.head_count_kv`)."""
KEEP_STRINGS: Final = 64
"""Strings or arrays of an array that is kept whole: tags, languages, base models."""
_HEAD: Final = 8
_HEAD_BYTES: Final = 256
_STRING, _ARRAY = 8, 9
_SCALARS: Final[Mapping[int, tuple[str, str]]] = MappingProxyType(
    {
        0: ("u8", "B"),
        1: ("i8", "b"),
        2: ("u16", "H"),
        3: ("i16", "h"),
        4: ("u32", "I"),
        5: ("i32", "i"),
        6: ("f32", "f"),
        7: ("bool", "?"),
        10: ("u64", "Q"),
        11: ("i64", "q"),
        12: ("f64", "d"),
    }
)
U32: Final = 4
"""The value type that `general.alignment` must have."""


class Values:
    """Takes values of one byte order (`<` or `>`) and one width of sizes (4 bytes in version 1, else 8)."""

    def __init__(self, window: Window, order: str, width: int) -> None:
        self.window = window
        self.size = struct.Struct(order + ("I" if width == 4 else "Q"))
        self.word = struct.Struct(order + "I")
        self._order = order
        self._nested = 0

    def number(self, form: struct.Struct, what: str) -> Steps[int]:
        """One integer of the form."""
        data = yield from self.window.take(form.size, what)
        return int(form.unpack(data)[0])

    def name(self, what: str) -> Steps[str]:
        """A key or tensor name, which must be UTF-8 of at most `MAX_NAME` bytes."""
        at = self.window.at
        length = yield from self.number(self.size, f"the length of {what}")
        if length > MAX_NAME:
            self.window.fault(f"{what} of {length:,} bytes, the limit is {MAX_NAME:,}", at=at)
        data = yield from self.window.take(length, what)
        try:
            return data.decode()
        except UnicodeDecodeError as e:
            start = self.window.at - length + e.start
            self.window.fault(f"{what} is not UTF-8: byte {e.start:,} of {length:,} is 0x{data[e.start]:02x}", at=start)

    def value(self, kind: int, key: str, depth: int = 0) -> Steps[Json]:
        """A value of type `kind`, kept or shortened; `depth` counts the arrays around it."""
        if kind == _STRING:
            return (yield from self._string())
        if kind == _ARRAY:
            return (yield from self._array(key, depth))
        if kind not in _SCALARS:
            self.window.fault(
                f"metadata key {key[:200]!r} has value type {kind}, known are 0 to 12", at=self.window.at - 4
            )
        form = struct.Struct(self._order + _SCALARS[kind][1])
        data = yield from self.window.take(form.size, "a value")
        return form.unpack(data)[0]

    def _string(self) -> Steps[Json]:
        at = self.window.at
        length = yield from self.number(self.size, "the length of a string")
        what = f"a string of {length:,} bytes"
        self.window.room(length, what, at)
        data = yield from self.window.take(length if length <= KEEP_STRING else _HEAD_BYTES, what)
        if length <= KEEP_STRING:
            return data.decode("utf-8", "backslashreplace")
        self.window.skip(length - _HEAD_BYTES, what)
        return {"type": "string", "count": length, "head": data.decode("utf-8", "ignore")}

    def _array(self, key: str, depth: int) -> Steps[Json]:
        window, at = self.window, self.window.at
        if depth >= MAX_DEPTH:
            window.fault(f"metadata key {key[:200]!r} nests arrays deeper than {MAX_DEPTH}")
        kind = yield from self.number(self.word, "an element type")
        if kind not in _SCALARS and kind not in (_STRING, _ARRAY):
            window.fault(f"metadata key {key[:200]!r} is an array of type {kind}, known are 0 to 12", at=at)
        count = yield from self.number(self.size, "the length of an array")
        if kind in _SCALARS:
            return (yield from self._numbers(kind, count, at))
        width = self.size.size
        window.room(count * (width if kind == _STRING else width + 4), f"an array of {count:,} elements", at)
        self._nested += count if kind == _ARRAY else 0
        if self._nested > MAX_NESTED:
            window.fault(f"{self._nested:,} arrays inside arrays, the limit is {MAX_NESTED:,}", at=at)
        kept: list[Json] = []
        while len(kept) < (count if count <= KEEP_STRINGS else _HEAD):
            kept.append((yield from self.value(kind, key, depth + 1)))
        if count <= KEEP_STRINGS:
            return tuple(kept)
        if kind == _STRING:
            yield from window.skip_strings(count - _HEAD, self.size)
        else:
            for _ in range(count - _HEAD):
                yield from self.value(kind, key, depth + 1)
        return {"type": "string" if kind == _STRING else "array", "count": count, "head": tuple(kept)}

    def _numbers(self, kind: int, count: int, at: int) -> Steps[Json]:
        name, code = _SCALARS[kind]
        size = struct.calcsize(self._order + code)
        what = f"an array of {count:,} {name}"
        self.window.room(count * size, what, at)
        kept = count if count <= KEEP_NUMBERS else _HEAD
        data = yield from self.window.take(kept * size, what)
        values = struct.unpack(f"{self._order}{kept}{code}", data)
        if kept == count:
            return values
        self.window.skip((count - kept) * size, what)
        return {"type": name, "count": count, "head": values}
