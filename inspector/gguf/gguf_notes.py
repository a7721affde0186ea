"""Where the headers of one GGUF set disagree: with each other about the split, with its labels about its types.

Rules: `split.no` counts from 0, `split.count` is the number of parts, `split.tensors.count` that of all their tensors
(llama.cpp `tools/gguf-split`); a model without `output.weight` uses `token_embd.weight` twice (`llama-model.cpp`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from inspector.gguf.gguf_keys import FILE_TYPES, disagreement, file_type
from inspector.gguf.quant_names import label, taken_apart
from inspector.model import Header, Json, Note, Part

_KEYS: Final = ("split.no", "split.count", "split.tensors.count")
_LABELS: Final = frozenset(FILE_TYPES.values())


def notes(parts: Sequence[Part], headers: Sequence[Header]) -> list[Note]:
    """What a reader must know of each part's headers."""
    found: list[Note] = []
    for part in parts:
        own = [h for f in part.files for h in headers if h.file == f.path]
        if own:
            found += _split(part, own)
            found += _labels(part, own)
            found += _tied(own)
    return found


def leading(headers: Sequence[Header]) -> Mapping[str, Json]:
    """The metadata of the whole set: that of the part which names its architecture, in the order of the parts."""
    ordered = sorted(headers, key=lambda h: _number(h, "split.no") or 0)
    return next((h.metadata for h in ordered if "general.architecture" in h.metadata), ordered[0].metadata)


def _number(header: Header, key: str) -> int | None:
    value = header.metadata.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _split(part: Part, headers: Sequence[Header]) -> list[Note]:
    """Notes on the split keys of a set."""
    if not any(k in h.metadata for h in headers for k in _KEYS):
        if len(headers) > 1:
            words = (
                f"{len(headers):,} files are named as parts of one set, none of their headers says so (no split.count)"
            )
            return [Note("split_undeclared", words, headers[0].file)]
        return []
    return [*_count(part, headers), *_tensors(part, headers), *_order(headers)]


def _count(part: Part, headers: Sequence[Header]) -> list[Note]:
    there = 1 if part.joined else len(part.files)
    out = []
    for header in headers:
        count = _number(header, "split.count")
        if count is None or count == there or (count == 0 and there == 1):
            continue
        code = "missing_shard" if count > there else "split_count"
        out.append(Note(code, f"split.count says {count:,} parts, {there:,} are there", header.file))
    return out[:1] if len({n.message for n in out}) == 1 else out


def _tensors(part: Part, headers: Sequence[Header]) -> list[Note]:
    if len(headers) < (1 if part.joined else len(part.files)):
        return []
    total = sum(len(h.tensors) for h in headers)
    for header in headers:
        said = _number(header, "split.tensors.count")
        if said is not None and said != total:
            return [Note("split_tensors", f"split.tensors.count says {said:,}, the parts hold {total:,}", header.file)]
    return []


def _order(headers: Sequence[Header]) -> list[Note]:
    out = []
    for header in headers:
        named, said = taken_apart(header.file.rpartition("/")[2]).number, _number(header, "split.no")
        if named is not None and said is not None and said + 1 != named and "split.count" in header.metadata:
            words = f"is part {named:,} by its name, split.no says {said:,} (counted from 0, so part {said + 1:,})"
            out.append(Note("split_order", words, header.file))
    return out


def _labels(part: Part, headers: Sequence[Header]) -> list[Note]:
    """Notes where name, general.file_type and the bytes do not say the same."""
    first = part.files[0]
    named = label(taken_apart(first.name).stem, first.folder)
    said = file_type(leading(headers))
    by_type: dict[str, int] = {}
    for header in headers:
        for tensor in header.tensors:
            by_type[tensor.dtype] = by_type.get(tensor.dtype, 0) + tensor.nbytes
    out = []
    if named is not None:
        both = "file name and general.file_type" if named == said else "file name"
        out.append(disagreement(named, both, by_type))
    if said is not None and said != named:
        out.append(disagreement(said, "general.file_type", by_type))
    if named in _LABELS and said is not None and said != named and not any(out):
        words = f"called {named} by file name, general.file_type says {said}"
        out.append(Note("file_type_disagrees", words, first.path))
    return [Note(n.code, n.message, first.path) for n in out if n is not None]


def _tied(headers: Sequence[Header]) -> list[Note]:
    tensors = {t.name: t for h in headers for t in h.tensors}
    embedding = tensors.get("token_embd.weight")
    if embedding is None or "output.weight" in tensors or "output_norm.weight" not in tensors:
        return []
    words = (
        f"output.weight is absent: the head is token_embd.weight ({embedding.nbytes:,} bytes), counted once; llama.cpp "
        "loads it twice where head and embedding are on different devices"
    )
    return [Note("tied_head", words, embedding.file)]
