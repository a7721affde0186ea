"""Figures for every set of a menu: measured where its headers were read, else derived where arithmetic allows it."""

from __future__ import annotations

from collections.abc import Mapping

from inspector.derived import derived, joined, whole
from inspector.measure import measure
from inspector.model import Checkpoint, Footprint, Header, Part, Variant
from inspector.records import replace


def filled(checkpoint: Checkpoint, found: Footprint, others: Mapping[str, Header]) -> tuple[Variant, ...]:
    """The menu of a checkpoint with what is known of each set. `others` are headers of sets that were not chosen."""
    chosen = frozenset(checkpoint.selection.files)
    figures: dict[str, Variant] = {}
    rest: list[Variant] = []
    for variant in checkpoint.selection.menu:
        if variant.missing or not variant.files:
            continue
        if chosen == frozenset(variant.files):
            if whole(checkpoint):
                figures[variant.name] = replace(variant, tensor_bytes=found.tensor_bytes, parameters=found.parameters)
        elif (read := _read(checkpoint, variant, others)) is not None:
            figures[variant.name] = read
        else:
            rest.append(variant)
    if checkpoint.selection.format == "gguf" and whole(checkpoint) and found.parameters is not None:
        figures |= {v.name: v for v in derived(checkpoint, rest, found.parameters)}
    return tuple(figures.get(v.name, v) for v in checkpoint.selection.menu)


def _read(checkpoint: Checkpoint, variant: Variant, others: Mapping[str, Header]) -> Variant | None:
    """The figures of a set whose headers were all read."""
    needed = variant.files[: 1 if joined(variant) else None]
    headers = tuple(others[f.path] for f in needed if f.path in others)
    if len(headers) != len(needed):
        return None
    part = Part(variant.files[0].folder, variant.files, joined=joined(variant))
    selection = replace(checkpoint.selection, parts=(part,))
    found, _ = measure(replace(checkpoint, selection=selection, headers=headers, notes=()))
    return replace(variant, tensor_bytes=found.tensor_bytes, parameters=found.parameters)
