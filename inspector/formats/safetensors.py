"""safetensors headers: 8 bytes little-endian length N, N bytes of JSON, then tensor data.

Rules: https://github.com/huggingface/safetensors (README "Format", `safetensors/src/tensor.rs` `validate`), as of
0.8.0: N <= 100,000,000; the JSON starts with `{`, has no duplicate keys and may end in spaces; offsets tile the
data from 0 without hole or overlap; each size is shape x bits; last end + 8 + N is the file's size.
Beyond the reference: a dtype it does not know keeps its bytes, and a file that is too short (a broken upload) still
gives its header, with a note.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NoReturn

from inspector import json_faults
from inspector.errors import MalformedFile
from inspector.model import Alike, Header, Note, TensorInfo
from inspector.storing.dtypes import BITS

MAX_HEADER: Final = 100_000_000
"""The reference's limit on N (`MAX_HEADER_SIZE`)."""

_LENGTH: Final = 8
_FILL: Final = 64
_MAX_BYTES: Final = 2**63 - 1
_LFS: Final = b"version "


class Reader:
    """Takes a file's bytes from 0 until the header is in."""

    def __init__(self, file: str, file_size: int | None) -> None:
        self._file = file
        self._size = file_size
        self._chunks: list[bytes] = []
        self._received = 0
        self._need = _LENGTH

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes; True when the header is complete. Raises `MalformedFile` on a bad length."""
        self._chunks.append(chunk)
        self._received += len(chunk)
        if self._need == _LENGTH and self._received >= _LENGTH:
            self._need = _LENGTH + header_length(self._file, self._taken(), self._size)
        return self._received >= self._need

    def told(self, file_size: int | None) -> None:
        """Take the file's size where an answer stated it and the listing did not."""
        self._size = file_size

    @property
    def received(self) -> int:
        """Bytes taken so far."""
        return self._received

    @property
    def missing(self) -> int:
        """Bytes that are still needed; before the length is known, those of the length."""
        return max(0, self._need - self._received)

    def header(self) -> Header:
        """The parsed header."""
        return parse(self._taken(), self._file, self._size)

    def table(self) -> tuple[bytes, int, int]:
        """Bytes that hold the JSON, where it begins in them, and where it ends but for the spaces that fill it up.

        Begin and end are the same where it is not all in.
        """
        whole, end = self._taken(), self._need
        if self.missing:
            return whole, 0, 0
        # Writers fill up to a multiple of eight: what is more than a few spaces is looked at as a whole.
        last = whole[max(_LENGTH, end - _FILL) : end]
        filled = last if last.rstrip(b" ") else whole[_LENGTH:end]
        return whole, _LENGTH, end - len(filled) + len(filled.rstrip(b" "))

    def _taken(self) -> bytes:
        """All bytes so far; joined when somebody looks, not with every chunk."""
        if len(self._chunks) > 1:
            self._chunks = [b"".join(self._chunks)]
        return self._chunks[0] if self._chunks else b""

    def like(self, other: Header, old: str, own: str) -> Header:
        """The header where its JSON is that of `other` with `own` in the place of `old` in every name."""
        model = other.decoded
        data_bytes = model[-1][5] if model else 0
        tensors = Alike(tuple(model), old, own, self._file)
        notes = _fits(self._file, self._need, data_bytes, self._size)
        return Header(self._file, self._need, self._size, tensors, other.metadata, notes)


def header_length(file: str, data: bytes, file_size: int | None = None) -> int:
    """N, from the first 8 bytes. Raises `MalformedFile` where it is absurd or larger than the file."""
    if data[:8] == _LFS:
        raise MalformedFile(file, "is a Git LFS pointer, not a safetensors file", "Fetch the real file (git lfs pull).")
    length = int.from_bytes(data[:_LENGTH], "little")
    if length > MAX_HEADER:
        raise MalformedFile(
            file,
            f"the first 8 bytes give a header of {length:,} bytes, the limit is {MAX_HEADER:,}: not safetensors",
            "Check that the file is what its name says.",
            offset=0,
        )
    if file_size is not None and _LENGTH + length > file_size:
        raise MalformedFile(
            file,
            f"header says {_LENGTH + length:,} bytes, file has {file_size:,}",
            "The file is cut off inside its header; fetch or upload it again.",
        )
    return length


def parse(data: bytes, file: str, file_size: int | None = None) -> Header:
    """A header from `data`, which holds at least the file's first 8 + N bytes.

    With `file_size` the tensor data is held to it: more bytes than the tensors cover is `MalformedFile`, fewer is a
    note `truncated`. Raises `MalformedFile` for every other broken invariant, naming the tensor.
    """
    if len(data) < _LENGTH:
        raise MalformedFile(
            file, f"has {len(data)} bytes, a safetensors header needs at least 8", "The file is cut off."
        )
    length = header_length(file, data, file_size)
    end = _LENGTH + length
    if len(data) < end:
        raise MalformedFile(
            file,
            f"header says {end:,} bytes, file has {len(data):,}",
            "The file is cut off inside its header.",
        )
    raw = data[_LENGTH:end]
    if raw[:1] != b"{":
        raise MalformedFile(
            file,
            f"header starts with {raw[:1].decode('latin-1')!r}, not '{{'",
            "This is not a safetensors file.",
            offset=8,
        )
    table = _decode(raw, file)
    metadata = _metadata(table.pop("__metadata__", None), file)
    tensors = _tensors(table, file)
    data_bytes = _tile(tensors, file)
    notes = _fits(file, end, data_bytes, file_size)
    return Header(file, end, file_size, tensors, metadata, notes)


def _decode(raw: bytes, file: str) -> dict[str, Any]:
    """The JSON object of a header; duplicate keys refused.

    A hook on every object would cost more than all the rest, so duplicates are found by counting: each entry has
    one literal `"data_offsets"`, `"dtype"` and `"shape"`. Where the counts disagree, or an escape could hide a key,
    the slow path looks at each key.
    """
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as e:
        raise MalformedFile(file, "header is not UTF-8", offset=_LENGTH + e.start) from None
    table = _loads(text, file)
    entries = len(table) - ("__metadata__" in table)
    plain = b"\\" not in raw and all(raw.count(key) == entries for key in (b'"data_offsets"', b'"dtype"', b'"shape"'))
    if not plain or raw.count(b'"__metadata__"') > 1:
        table = _loads(text, file, careful=True)
    return table


def _loads(text: str, file: str, *, careful: bool = False) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        if (double := json_faults.doubled(pairs)) is not None:
            raise MalformedFile(file, f"header has the key {double[:200]!r} twice")
        for key, _ in pairs:
            if not _encodable(key):
                raise MalformedFile(file, f"header has a key that is not valid Unicode: {key[:200]!r}")
        return dict(pairs)

    def constant(name: str) -> NoReturn:
        raise MalformedFile(file, f"header holds {name}, which is not JSON")

    try:
        value = json.loads(text, parse_constant=constant, object_pairs_hook=unique if careful else None)
    except json.JSONDecodeError as e:
        offset = _LENGTH + len(text[: e.pos].encode("utf-8", "replace"))
        raise MalformedFile(file, f"header is not JSON: {e.msg}", offset=offset) from None
    except RecursionError:
        raise MalformedFile(file, "header JSON is nested too deeply") from None
    except ValueError as e:
        raise MalformedFile(file, f"header is not JSON: {json_faults.words(e)}") from None
    if type(value) is not dict:
        raise MalformedFile(file, f"header is a JSON {type(value).__name__}, not an object")
    return value


def _encodable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _metadata(value: object, file: str) -> Mapping[str, str]:
    if value is None:
        return MappingProxyType({})
    if not isinstance(value, dict) or not all(isinstance(v, str) for v in value.values()):
        raise MalformedFile(file, "__metadata__ is not an object of strings")
    return MappingProxyType(value)


def _tensors(table: dict[str, Any], file: str) -> tuple[TensorInfo, ...]:
    """Tensors in the order of their offsets. Sizes are checked once per distinct (dtype, shape)."""
    keys: dict[tuple[str, tuple[int, ...]], tuple[str, tuple[int, ...], int | None]] = {}
    found: list[TensorInfo] = []
    new = tuple.__new__
    for name, entry in table.items():
        try:
            start, end = entry["data_offsets"]
            key = entry["dtype"], tuple(entry["shape"])
            known = keys.get(key)
            if known is None:
                known = keys[key] = (*key, _expected(key[0], key[1], name, file))
            dtype, shape, size = known
        except (TypeError, KeyError, ValueError):
            _refuse(name, entry, file)
        if type(start) is not int or type(end) is not int or not 0 <= start <= end <= _MAX_BYTES:
            raise MalformedFile(file, f"tensor {name[:200]!r} has data_offsets [{start!r}, {end!r}]")
        if end - start != size and size is not None:
            raise MalformedFile(
                file,
                f"tensor {name[:200]!r}: {dtype} {list(shape)} needs {size:,} bytes, its offsets span {end - start:,}",
            )
        found.append(new(TensorInfo, (name, dtype, shape, file, start, end)))
    position = 0
    for tensor in found:
        if tensor[4] < position:
            # Writers put names in the order of their data, so this is rare.
            found.sort(key=lambda t: (t[4], t[5]))
            break
        position = tensor[5]
    return tuple(found)


def _expected(dtype: object, shape: tuple[object, ...], name: str, file: str) -> int | None:
    """Bytes that dtype and shape need; None for a dtype that the reference does not know."""
    if not isinstance(dtype, str):
        raise TypeError
    elements = 1
    for dim in shape:
        if type(dim) is not int or dim < 0:
            raise MalformedFile(file, f"tensor {name[:200]!r} has the dimension {dim!r}")
        elements *= dim
        if elements > _MAX_BYTES:
            raise MalformedFile(file, f"tensor {name[:200]!r} has more than 2^63 elements")
    bits = BITS.get(dtype)
    if bits is None:
        return None
    if elements * bits % 8:
        raise MalformedFile(
            file,
            f"tensor {name[:200]!r}: {dtype} {list(shape)} is {elements * bits:,} bits, not a whole number of bytes",
        )
    return elements * bits // 8


def _refuse(name: str, entry: object, file: str) -> NoReturn:
    shown = repr(entry)[:120]
    raise MalformedFile(file, f"tensor {name[:200]!r} needs dtype, shape and two data_offsets, the header has {shown}")


def _tile(tensors: tuple[TensorInfo, ...], file: str) -> int:
    """Bytes covered, which must be contiguous from 0. Raises `MalformedFile` naming the tensor at the fault."""
    position = 0
    for tensor in tensors:
        if tensor[4] != position:
            fault = "a hole" if tensor[4] > position else "an overlap"
            raise MalformedFile(
                file,
                f"tensor {tensor.name[:200]!r} starts at {tensor.start:,} of the data, expected {position:,}: {fault}",
            )
        position = tensor[5]
    return position


def _fits(file: str, header: int, data_bytes: int, file_size: int | None) -> tuple[Note, ...]:
    if file_size is None or header + data_bytes == file_size:
        return ()
    if header + data_bytes < file_size:
        raise MalformedFile(
            file,
            f"header and tensors cover {header + data_bytes:,} bytes, file has {file_size:,}",
            "The rest belongs to no tensor; the file is not what its header says.",
        )
    return (
        Note(
            "truncated",
            f"header and tensors need {header + data_bytes:,} bytes, the file has {file_size:,}: it is cut off "
            "(figures are the header's)",
            file,
        ),
    )
