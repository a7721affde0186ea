"""The bytes of a header while they come in: what is not consumed yet, where it stands in the file, and the bounds.

Everything that takes bytes is a generator that yields the file position it needs and goes on once that many bytes are
there, so a parser written in one piece can be fed in any pieces. Bounds are checked where a length is read, before
its bytes are waited for.
"""

from __future__ import annotations

import struct
from collections.abc import Generator
from typing import Final, NoReturn, TypeVar

from inspector.errors import MalformedFile

T = TypeVar("T")
Steps = Generator[int, None, T]
"""Yields the position that must have been received to go on; returns a T."""

MAX_HEADER: Final = 256_000_000
"""Where reading stops: the largest vocabularies met take 16 MB, a whole tokenizer.json as a key some 30 MB more."""


class Window:
    """Received bytes that the parser has not consumed; `at` is the file position of the next one to consume."""

    def __init__(self, file: str, file_size: int | None) -> None:
        self.file = file
        self.at = 0
        self._size = file_size
        self._bound = MAX_HEADER if file_size is None else min(MAX_HEADER, file_size)
        self._buffer = bytearray()
        self._base = 0
        self.ahead = 0
        """Bytes that the array of strings in progress will take from `at` on, if the rest is like what was seen."""

    @property
    def received(self) -> int:
        """Bytes pushed so far."""
        return self._base + len(self._buffer)

    def push(self, chunk: bytes) -> None:
        """Add the next bytes of the file."""
        self._buffer += chunk

    def shift(self) -> None:
        """Forget what is consumed or skipped."""
        cut = min(self.at - self._base, len(self._buffer))
        del self._buffer[:cut]
        self._base += cut

    def fault(self, message: str, advice: str = "", at: int | None = None) -> NoReturn:
        """Raise `MalformedFile` at a byte position, `at` or the present one."""
        raise MalformedFile(self.file, message, advice, offset=self.at if at is None else at)

    def room(self, size: int, what: str, at: int | None = None) -> None:
        """Raise `MalformedFile` unless `size` more bytes stay inside file and limit; `at` is where that is said."""
        end = self.at + size
        if end <= self._bound:
            return
        if self._size is not None and end > self._size:
            self.fault(
                f"{what} needs a file of at least {end:,} bytes, this one has {self._size:,}",
                "It is cut off inside its header, or is not GGUF; fetch or upload it again.",
                at,
            )
        self.fault(
            f"{what} takes the header to {end:,} bytes, the limit is {MAX_HEADER:,}",
            "Check that the file is what its name says.",
            at,
        )

    def take(self, size: int, what: str) -> Steps[bytes]:
        """The next `size` bytes, consumed."""
        self.room(size, what)
        end = self.at + size
        while self._base + len(self._buffer) < end:
            yield end
        start = self.at - self._base
        self.at = end
        return bytes(self._buffer[start : start + size])

    def skip(self, size: int, what: str) -> None:
        """Consume the next `size` bytes unseen, received or not."""
        self.room(size, what)
        self.at += size

    def skip_strings(self, count: int, prefix: struct.Struct) -> Steps[None]:
        """Consume `count` strings, each with its length before it, looking at nothing but the lengths.

        One turn of the loop is one token of a vocabulary (there are 300,000 of them), so it does nothing else.
        """
        width, unpack = prefix.size, prefix.unpack_from
        begun, total = self.at, count
        while count:
            self.room(width, "the length of a string")
            self.ahead = count * ((self.at - begun) // (total - count) if count < total else 2 * width)
            while self._base + len(self._buffer) < self.at + width:
                yield self.at + width
            buffer, base = self._buffer, self._base
            bound = self._bound - base
            position, done, length, start = self.at - base, 0, 0, 0
            try:
                for done in range(count):  # noqa: B007 (used where the loop is left early)
                    (length,) = unpack(buffer, position)
                    start = position
                    position += width + length
                    if position > bound:
                        break
                else:
                    done = count
            except struct.error:
                pass
            if position > bound:
                self.at = base + start + width
                self.room(length, f"a string of {length:,} bytes", base + start)
            self.at = base + position
            count -= done
        self.ahead = 0
