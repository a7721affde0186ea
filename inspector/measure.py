"""A checkpoint becomes a footprint: every stored byte in one cell, every logical weight counted once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final

from inspector import components, declared, twins
from inspector.contradictions import Seen, disagreements
from inspector.declared import Declaration
from inspector.experts import Pile, piles
from inspector.gguf.gguf_keys import main_layers
from inspector.gguf.gguf_notes import leading
from inspector.grouping import Groups, Kind, classify, group
from inspector.hub_count import compare, tally
from inspector.model import (
    Cell,
    Checkpoint,
    Claim,
    DtypeTotal,
    Evidence,
    Footprint,
    Header,
    Note,
    Slice,
    TensorInfo,
    TensorRow,
)
from inspector.noting import merged
from inspector.records import dataclass, field, replace
from inspector.verdict import contradictions, judge

UNKNOWN: Final = "unknown"
"""The precision name of payloads that no scheme, or more than one, claims."""


@dataclass(frozen=True, slots=True)
class _Measured:
    """One part of the checkpoint with its groups classified; `of` is parallel to `groups.members`."""

    headers: tuple[Header, ...]
    declaration: Declaration
    groups: Groups
    kinds: list[Kind]
    of: list[Kind]

    def by_base(self) -> dict[str, Kind]:
        return dict(zip(self.groups.members, self.of, strict=True))


@dataclass(slots=True)
class _Sum:
    """A cell while it grows."""

    bits: float | None = None
    tensors: int = 0
    parameters: int | None = 0
    weight_bytes: int = 0
    overhead_bytes: int = 0
    dtypes: set[str] = field(default_factory=set)
    blocks: set[tuple[int, int]] = field(default_factory=set)


def measure(
    checkpoint: Checkpoint, wanted: Callable[[str], bool] | None = None, *, sliced: bool = False
) -> tuple[Footprint, tuple[TensorRow, ...] | None]:
    """The footprint, and one row per stored tensor whose name is `wanted` (None: no rows).

    `sliced` adds the same bytes by layer and by how devices share them.
    """
    named = wanted is not None or sliced
    if named:
        checkpoint = replace(checkpoint, headers=tuple(map(twins.apart_from, checkpoint.headers)))
    parts = [_part(checkpoint, i, named=named) for i in range(len(checkpoint.selection.parts))]
    sums: dict[tuple[str, str | None], _Sum] = {}
    notes: list[Note] = []
    notes.extend(merged((n, kind.count) for part in parts for kind in part.kinds for n in kind.reading.notes))
    for part in parts:
        for kind in part.kinds:
            _add(sums, kind)
        notes.extend(_add_again(sums, part))
    cells = _cells(sums)
    declarations = [p.declaration for p in parts]
    kinds = [k for p in parts for k in p.kinds]
    notes.extend(n for d in declarations for n in d.notes)
    if checkpoint.selection.format != "gguf" and cells and not checkpoint.unread:
        notes.extend(contradictions(cells, declarations))
    if checkpoint.listing.hub_total is not None and not checkpoint.unread:
        notes.extend(compare(checkpoint.listing.hub_total, tally(kinds)))
    for part in parts if not checkpoint.unread else ():
        notes.extend(disagreements(part.declaration, [_seen(k) for k in part.kinds]))
    shares: tuple[Slice, ...] = ()
    if sliced:
        from inspector.slicing import slices

        shares = tuple(s for p in parts for s in slices(p.groups, p.of))
    unknown = checkpoint.unread or any(c.parameters is None for c in cells)
    parameters = None if unknown else sum(c.parameters or 0 for c in cells)
    footprint = Footprint(
        cells,
        _dtypes(checkpoint.headers),
        parameters,
        judge(cells, _evidence(kinds), declarations, unread=_unread(checkpoint)),
        tuple(notes),
        shares,
    )
    rows = None if wanted is None else tuple(r for p in parts for r in _rows(p, wanted))
    return footprint, rows


def _unread(checkpoint: Checkpoint) -> int | None:
    """Bytes of chosen files without a header; None where a size is unknown, or a file is not there at all."""
    if any(n.code == "missing_shard" for n in checkpoint.notes):
        return None
    read = {h.file for h in checkpoint.headers}
    sizes = [f.size for f in checkpoint.selection.files if f.path not in read]
    return None if None in sizes else sum(s for s in sizes if s is not None)


def _part(checkpoint: Checkpoint, number: int, *, named: bool) -> _Measured:
    """One part. Where names are asked for (`named`), or the config has rules for single ones, none stands for more."""
    part = checkpoint.selection.parts[number]
    files = {f.path for f in part.files}
    documents = {p: checkpoint.documents[p] for p in part.configs if p in checkpoint.documents}
    config = next((d for p, d in documents.items() if p.rpartition("/")[2] == "config.json"), None)
    headers = tuple(h for h in checkpoint.headers if h.file in files)
    if checkpoint.selection.format == "gguf":
        groups = _one_by_one(headers)
        layers = main_layers(leading(headers)) if headers else None
        return _Measured(headers, declared.GGUF, groups, *classify(groups, declared.GGUF, layers))
    said = {k: v for h in headers for k, v in h.metadata.items() if isinstance(v, str)}
    declaration = declared.read(documents, said)
    layers = declared.num_hidden_layers(config)
    folded = None if named or declaration.per_name else group(piles(*twins.apart(headers, _same(layers))))
    groups = _one_by_one(headers) if folded is None else folded
    return _Measured(headers, declaration, groups, *classify(groups, declaration, layers))


def _one_by_one(headers: Sequence[Header]) -> Groups:
    groups = group([Pile(h.tensors, 1) for h in headers])
    if groups is None:
        raise AssertionError("a pile of one stands for itself")
    return groups


def _same(layers: int | None) -> Callable[[str, str], bool]:
    return lambda a, b: components.draft_layer(a, layers) == components.draft_layer(b, layers)


def _seen(kind: Kind) -> Seen:
    return Seen(kind.example, kind.declared, tuple(kind.tensors), kind.reading.claims, kind.count)


def _add(sums: dict[tuple[str, str | None], _Sum], kind: Kind) -> None:
    for claim, payload, overhead in kind.claims():
        total = sums.setdefault((kind.component, _name(claim)), _Sum())
        total.tensors += kind.count * (len(payload) + len(overhead))
        total.weight_bytes += kind.count * kind.nbytes(payload)
        total.overhead_bytes += kind.count * kind.nbytes(overhead)
        total.dtypes.update(kind.tensors[r].dtype for r in payload or overhead)
        if claim is None:
            total.parameters = None
        elif claim.precision is not None:
            if total.parameters is not None:
                total.parameters += kind.count * claim.parameters
            total.bits = claim.precision.bits
            if claim.precision.block is not None:
                total.blocks.add(claim.precision.block)


def _add_again(sums: dict[tuple[str, str | None], _Sum], part: _Measured) -> list[Note]:
    """Add tensors stored a second time: their bytes to the cell of the first, no parameters."""
    again = part.groups.again
    if not again:
        return []
    of = part.by_base()
    for base, role, tensor in again:
        claim, payload = of[base].holder(role)
        total = sums[of[base].component, _name(claim)]
        total.tensors += 1
        if payload:
            total.weight_bytes += tensor.nbytes
        else:
            total.overhead_bytes += tensor.nbytes
    size = sum(t.nbytes for _, _, t in again)
    words = f"{len(again):,} stored more than once: the copies' {size:,} bytes are counted, their parameters are not"
    return [Note("stored_twice", f"tensors {words}", again[0][2].name)]


def _cells(sums: dict[tuple[str, str | None], _Sum]) -> tuple[Cell, ...]:
    cells = [
        Cell(
            component,
            precision,
            s.bits,
            tuple(sorted(s.dtypes)),
            tuple(sorted(s.blocks)),
            s.tensors,
            s.parameters,
            s.weight_bytes,
            s.overhead_bytes,
        )
        for (component, precision), s in sums.items()
    ]
    return tuple(sorted(cells, key=lambda c: (-c.bytes, c.component, c.precision or "")))


def _name(claim: Claim | None) -> str | None:
    if claim is None:
        return UNKNOWN
    return None if claim.precision is None else claim.precision.name


def _evidence(kinds: Sequence[Kind]) -> list[Evidence]:
    """The largest quantised kind of each (component, precision, fact's scheme), largest first."""
    found: dict[tuple[str, str, str], tuple[int, Evidence]] = {}
    for kind in kinds:
        for claim, payload, overhead in kind.claims():
            if claim is None or claim.precision is None or not claim.precision.quantised:
                continue
            size = kind.count * kind.nbytes((*payload, *overhead))
            key = kind.component, claim.precision.name, claim.scheme
            fact = f"{claim.evidence}; {kind.count:,} like this, {size:,} bytes"
            if size > found.get(key, (-1, None))[0]:
                found[key] = size, Evidence(kind.example + payload[0], fact)
    return [e for _, e in sorted(found.values(), key=lambda f: -f[0])]


def _dtypes(headers: Sequence[Header]) -> tuple[DtypeTotal, ...]:
    totals: dict[str, list[int]] = {}
    alike = Counter(id(h.decoded) for h in headers)
    for tensors in {id(h.decoded): h.decoded for h in headers}.values():
        times = alike[id(tensors)]
        counts = Counter(map(itemgetter(1), tensors))
        sizes = dict.fromkeys(counts, 0)
        for _, dtype, _, _, start, end in tensors:
            sizes[dtype] += end - start
        for dtype, count in counts.items():
            total = totals.setdefault(dtype, [0, 0])
            total[0] += times * count
            total[1] += times * sizes[dtype]
    return tuple(DtypeTotal(d, n, b) for d, (n, b) in sorted(totals.items(), key=lambda item: -item[1][1]))


def _rows(part: _Measured, wanted: Callable[[str], bool]) -> list[TensorRow]:
    of = part.by_base()
    found: list[tuple[TensorInfo, TensorRow]] = []
    everything = [(b, r, t) for b, members in part.groups.members.items() for r, t in members.items()]
    for base, role, tensor in (*everything, *part.groups.again):
        if wanted(tensor.name):
            claim, payload = of[base].holder(role)
            kind = "unknown" if claim is None else "weight" if payload else "overhead"
            row = TensorRow(
                tensor.name,
                tensor.dtype,
                tensor.shape,
                tensor.nbytes,
                tensor.file,
                of[base].component,
                _name(claim),
                kind,  # type: ignore[arg-type]
            )
            found.append((tensor, row))
    return [row for _, row in sorted(found, key=lambda pair: (pair[0].file, pair[0].start, pair[0].end))]
