"""The GGUF header as a state machine: fed bytes, it wants more or has the header. Never restarts, never looks back.

Layout: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md; limits and rules as in `src/gguf.cpp` (d99724f2).
Versions 1 (32-bit sizes), 2 and 3; a file is big-endian where the low 16 bits of the version, read little-endian,
are zero. How values are kept or shortened: `inspector/gguf_values.py`.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from inspector.errors import MalformedFile, UnsupportedFile
from inspector.gguf.gguf_values import Values
from inspector.gguf.gguf_window import Steps, Window
from inspector.model import Json
from inspector.records import dataclass

MAGIC: Final = b"GGUF"
MAX_KEYS: Final = 100_000
"""Keys of one file: as huggingface.js; real files have under 100."""
MAX_TENSORS: Final = 1 << 20
"""Tensors of one file: twice the largest release known (497,220, before experts are stacked)."""
MAX_DIMS: Final = 4
"""`GGML_MAX_DIMS`."""
_MOST: Final = 2**63 - 1
_TOKENS: Final = "tokenizer.ggml.tokens"
_TENSOR: Final = 72
"""Bytes of a tensor info of two dimensions with a name of 24."""
_TEMPLATE: Final = 16_384
"""Bytes kept free for a chat template and the keys after the vocabulary."""

_OTHERS: Final = (
    (b"vers", "is a Git LFS pointer, not a GGUF file", "Fetch the real file (git lfs pull)."),
    (b"<", "starts like HTML, not like GGUF", "The download was a web page; check the address and the token."),
    (b"PK\3\4", "is a ZIP archive (a PyTorch file?), not GGUF", ""),
    (b"FUGG", "has its magic bytes reversed, which no version of GGUF does", ""),
    (b"tjgg", "is a GGJT file, from before GGUF", "Convert it, or use a version of llama.cpp from before August 2023."),
    (b"lmgg", "is a GGML file, from before GGUF", "Convert it, or use a version of llama.cpp from before August 2023."),
    (b"fmgg", "is a GGMF file, from before GGUF", "Convert it, or use a version of llama.cpp from before August 2023."),
)


class Entry(NamedTuple):
    """One tensor info: `ne` fastest dimension first, type id, offset in the data section; `at` is its file position."""

    name: str
    ne: tuple[int, ...]
    kind: int
    offset: int
    at: int


@dataclass(frozen=True, slots=True)
class Fields:
    """All that the header says; `kinds` is key -> (value type, file position), `doubles` the keys met again."""

    version: int
    big_endian: bool
    metadata: Mapping[str, Json]
    kinds: Mapping[str, tuple[int, int]]
    doubles: tuple[str, ...]
    entries: tuple[Entry, ...]
    end: int


class Stream:
    """Takes a file's bytes from 0, in any pieces, until the tensor infos end."""

    def __init__(self, file: str, file_size: int | None) -> None:
        self._window = Window(file, file_size)
        self._steps = self._parse()
        self._fault: MalformedFile | UnsupportedFile | None = None
        self._fields: Fields | None = None
        self.received = 0
        """Bytes taken so far."""
        self.needed = len(MAGIC)
        """The file position that must be received before anything more can be said."""
        self._keys: dict[str, Json] = {}
        self._key, self._key_at = "", 0
        self._places: dict[str, tuple[int, int]] = {}
        self._tensors, self._entries_at, self._seen = 0, 0, 0

    @property
    def probable_end(self) -> int:
        """Where the header will end, from what was seen of the vocabulary and the tensor infos; 0 without a guess."""
        if self._fields is not None:
            return self._window.at
        window = self._window
        per_tensor = _TENSOR if not self._seen else (window.at - self._entries_at) // self._seen + 1
        end = window.at + window.ahead + (self._tensors - self._seen) * per_tensor
        if self._entries_at or not self._tensors:
            return end
        return end + self._vocabulary_to_come()

    @property
    def past_tokens(self) -> bool:
        """True once the list of tokens is complete, or the tensor infos have begun."""
        return bool(self._entries_at) or _TOKENS in self._places

    def _vocabulary_to_come(self) -> int:
        """Bytes of the arrays that follow the present one: types or scores 4 bytes a token, merges like tokens."""
        if self._key == _TOKENS:
            begun, stop = self._key_at, self._window.at + self._window.ahead
        elif _TOKENS in self._places:
            begun, stop = self._places[_TOKENS]
        else:
            return 0
        size = stop - begun
        # A token of 150,000 takes some 16 bytes with its length before it.
        count = size // 16
        later = 0 if "tokenizer.chat_template" in self._keys else _TEMPLATE
        if self._key in (_TOKENS, "tokenizer.ggml.scores"):
            later += 4 * count
        merges = "tokenizer.ggml.merges"
        if self._keys.get("tokenizer.ggml.model") == "gpt2":
            later += 0 if merges in (self._key, *self._keys) else size
        elif self._key == _TOKENS:
            later += 4 * count
        return later

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes; True when the header is complete. Raises `MalformedFile`, the same one ever after."""
        self.received += len(chunk)
        if self._fault is not None:
            raise self._fault
        if self._fields is not None:
            return True
        window = self._window
        window.push(chunk)
        try:
            while window.received >= self.needed:
                self.needed = next(self._steps)
        except StopIteration as stop:
            self._fields = stop.value
            self.needed = window.at
        except (MalformedFile, UnsupportedFile) as fault:
            self._fault = fault
            raise
        window.shift()
        if self._fields is None:
            return False
        self._window = Window(window.file, None)
        return True

    def fields(self) -> Fields:
        """The header's fields. Raises `MalformedFile` where the bytes so far do not hold all of them."""
        if self._fault is not None:
            raise self._fault
        if self._fields is None:
            raise MalformedFile(
                self._window.file,
                f"header needs at least {self.needed:,} bytes, {self.received:,} are there",
                "The file is cut off inside its header; fetch or upload it again.",
            )
        return self._fields

    def _parse(self) -> Steps[Fields]:
        window = self._window
        magic = yield from window.take(len(MAGIC), "the magic")
        if magic != MAGIC:
            _refuse(window, magic)
        raw = yield from window.take(4, "the version")
        big = raw[:2] == b"\0\0"
        version = int.from_bytes(raw, "big" if big else "little")
        if not 1 <= version <= 3:
            raise UnsupportedFile(window.file, f"is GGUF version {version}; versions 1 to 3 are read here (at byte 4)")
        width = 4 if version == 1 else 8
        values = Values(window, ">" if big else "<", width)
        tensors = yield from self._count(values, "tensors", MAX_TENSORS, 2 * width + 16)
        keys = yield from self._count(values, "metadata keys", MAX_KEYS, width + 5)
        metadata = self._keys
        self._tensors = tensors
        kinds: dict[str, tuple[int, int]] = {}
        doubles: list[str] = []
        for _ in range(keys):
            at = window.at
            key = yield from values.name("a metadata key")
            kind = yield from values.number(values.word, "a value type")
            self._key, self._key_at = key, window.at
            value = yield from values.value(kind, key)
            if key in metadata:
                doubles.append(key)
            else:
                metadata[key] = value
                kinds[key] = kind, at
                self._places[key] = self._key_at, window.at
        self._entries_at = window.at
        entries = yield from self._entries(values, tensors)
        if window.received < window.at:
            yield window.at
        found = MappingProxyType(metadata)
        return Fields(version, big, found, MappingProxyType(kinds), tuple(doubles), entries, window.at)

    def _count(self, values: Values, what: str, limit: int, least: int) -> Steps[int]:
        """A number of things of at least `least` bytes each; refused before the first where they cannot fit."""
        at = self._window.at
        count = yield from values.number(values.size, f"the number of {what}")
        if count > limit:
            self._window.fault(
                f"{count:,} {what}, the limit is {limit:,}", "This is not a GGUF file, or is damaged.", at
            )
        self._window.room(count * least, f"a header with {count:,} {what}", at)
        return count

    def _entries(self, values: Values, count: int) -> Steps[tuple[Entry, ...]]:
        window = self._window
        order, size = values.word.format[0], values.size
        found: dict[str, Entry] = {}
        for _ in range(count):
            at = window.at
            name = yield from values.name("a tensor name")
            place = window.at
            dims = yield from values.number(values.word, "a number of dimensions")
            if not 1 <= dims <= MAX_DIMS:
                window.fault(f"tensor {name[:200]!r} has {dims:,} dimensions, 1 to {MAX_DIMS} are allowed", at=place)
            data = yield from window.take(dims * size.size + 12, "a tensor info")
            *ne, kind, offset = struct.unpack(f"{order}{dims}{size.format[-1]}IQ", data)
            if 0 in ne or math.prod(ne) > _MOST:
                window.fault(f"tensor {name[:200]!r} has dimensions {ne}, 1 to 2^63 - 1 elements are allowed", at=place)
            if name in found:
                words = f"tensor {name[:200]!r} is there twice, at bytes {found[name].at:,} and {at:,}"
                window.fault(words, "llama.cpp refuses such a file; it needs to be converted again.", at)
            found[name] = Entry(name, tuple(ne), kind, offset, at)
            self._seen += 1
        return tuple(found.values())


def _refuse(window: Window, magic: bytes) -> None:
    for start, words, advice in _OTHERS:
        if magic.startswith(start):
            window.fault(words, advice, 0)
    window.fault(
        f"starts with {magic.decode('latin-1')!r}, a GGUF file with {MAGIC.decode('latin-1')!r}",
        "Check that the file is what its name says; of a file split in raw pieces only the first has a header.",
        0,
    )
