"""Tensor bytes of quants whose headers were not read, from that of one that was.

Quants of one model hold the same tensors in other types, so a file's size minus its header's length is the tensors'
bytes. The header differs by a few keys (`quantize.imatrix.*`, split keys), the data only by multiples of a power of
two, the unit, which divides what any type of ggml takes for these shapes. So the length of an unread header is known
modulo the unit; where that puts it within half a kilobyte of the one that was read, its length is known. Where the
unit is too small to tell, or the remainder does not fit, header or tensors may be others and bytes stay unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Final

from inspector.gguf.ggml_types import READINGS, SETTLED
from inspector.gguf.gguf_keys import types_of
from inspector.gguf.quant_names import base, label, taken_apart
from inspector.model import Checkpoint, Header, Variant
from inspector.records import replace

_SLACK: Final = 512
"""Bytes by which headers of two quants of one model may differ: keys of an importance matrix take some 350."""
_LEAST: Final = 4 * _SLACK
"""The smallest unit that tells anything: half of all wrong lengths would pass, so all sets must, and be several."""
_ALONE: Final = 16 * _SLACK
"""From this unit on a set is judged by itself."""
_SEVERAL: Final = 3
_SPLIT_KEYS: Final = 82
"""split.no (u16), split.count (u16) and split.tensors.count (i32) with their names, in each part."""
_START: Final = 24
"""Magic, version and counts of each further part."""
_PADDING: Final = 16
"""On average, of each further part's header."""
_MAINLINE: Final = tuple(READINGS[n][0] for n in sorted(SETTLED | {39, 41, 42}))
_NAMES: Final = frozenset(kind.name for kind in _MAINLINE) | {"Q8_K"}
"""ik_llama.cpp's types have bytes per row, which no power of two divides. Q8_K is in labels only (UD-Q8_K_XL)."""


def derived(checkpoint: Checkpoint, variants: Iterable[Variant], parameters: int) -> list[Variant]:
    """The sets of the chosen one's model with figures, marked; those left out have none.

    `parameters` are the chosen set's, all of whose headers were read.
    """
    selection = checkpoint.selection
    unit, fixed = _unit(checkpoint.headers)
    length = sum(h.length for h in checkpoint.headers)
    length -= _overhead(1 if selection.parts[0].joined else len(selection.files))
    model = _model(selection.files[0].path)
    alike = [v for v in variants if v.file_bytes is not None and _model(v.files[0].path) == model]
    telling = [v for v in alike if types_of(_label(v) or "") <= _NAMES] if unit >= _LEAST else []
    bytes_of = {v.name: _bytes(v, unit, fixed, length) for v in telling}
    if unit < _ALONE and (None in bytes_of.values() or len(bytes_of) < _SEVERAL):
        bytes_of = dict.fromkeys(bytes_of)
    # A set whose remainder does not fit may hold other tensors: not even its parameters are known.
    return [
        replace(v, tensor_bytes=bytes_of.get(v.name), parameters=parameters, derived=True)
        for v in alike
        if v.name not in bytes_of or bytes_of[v.name] is not None
    ]


def whole(checkpoint: Checkpoint) -> bool:
    """True where every header of the chosen set was read."""
    files = checkpoint.selection.files
    needed = files[:1] if checkpoint.selection.parts[0].joined else files
    return {f.path for f in needed} <= {h.file for h in checkpoint.headers}


def joined(variant: Variant) -> bool:
    """True where a set is raw pieces of one file."""
    return taken_apart(variant.files[0].name).piece


def _bytes(variant: Variant, unit: int, fixed: int, length: int) -> int | None:
    """File bytes less the header; None where no header of about `length` bytes leaves a possible size."""
    size, parts = variant.file_bytes or 0, 1 if joined(variant) else len(variant.files)
    guess = length + _overhead(parts)
    off = (size - guess - fixed + unit // 2) % unit - unit // 2
    return size - guess - off if abs(off) <= _SLACK + _PADDING * (parts - 1) else None


def _unit(headers: Sequence[Header]) -> tuple[int, int]:
    """(the largest power of two that divides the data of every type, bytes of the tensors that keep their type).

    One-dimensional tensors and those that are F32 (routers, state) keep their type in every quant (llama.cpp
    `llama-quant.cpp`). 0 where a tensor may need padding: file size and tensor bytes then differ by an unknown amount.
    """
    unit, fixed = 0, 0
    shapes: dict[tuple[int, ...], int] = {}
    for header in headers:
        for tensor in header.tensors:
            if len(tensor.shape) < 2 or min(tensor.shape) == 1 or tensor.dtype == "F32":
                fixed += tensor.nbytes
                if tensor.nbytes % 32:
                    return 0, 0
            else:
                shapes[tensor.shape] = 1
    for shape in shapes:
        for kind in _MAINLINE:
            unit = math.gcd(unit, kind.nbytes(shape[::-1]) or 0)
    unit &= -unit
    return (0, 0) if unit % 32 else (unit, fixed)


def _overhead(parts: int) -> int:
    return 0 if parts == 1 else parts * _SPLIT_KEYS + (parts - 1) * (_START + _PADDING)


def _model(path: str) -> str:
    """What the quants of one model share: the path without label, folder of the label and part number."""
    folder, _, name = path.rpartition("/")
    last = folder.rpartition("/")
    outer = last[0] if label(last[2]) else folder
    return f"{outer}/{base(taken_apart(name).stem)}"


def _label(variant: Variant) -> str | None:
    return label(taken_apart(variant.files[0].name).stem, variant.files[0].folder)
