"""Where a config says one thing of a module and its tensors another; the tensors win, both sides are told.

One note per distinct contradiction, with how many modules it holds for and one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from inspector.declared import Declaration
from inspector.model import Claim, Declared, Note
from inspector.records import dataclass

_CACHE_SCALES: Final = (
    "k_scale",
    "v_scale",
    "kv_scale",
    "k_proj.output_scale",
    "v_proj.output_scale",
    "k_cache_scale",
    "v_cache_scale",
    "k_fake_quantizer.qscale_act",
    "v_fake_quantizer.qscale_act",
)
"""Endings of the tensors that scale a KV cache: vLLM `weight_utils.py` `maybe_remap_kv_scale_name`; Mistral, Gemma."""


_CODE: Final = "config_contradicts_headers"
"""Of these notes, and of those that a scheme makes itself."""


@dataclass(frozen=True, slots=True)
class Seen:
    """`modules` of one kind: what is declared of them, the roles they store, and what schemes make of these."""

    example: str
    declared: Declared
    roles: tuple[str, ...]
    claims: tuple[Claim, ...]
    modules: int


def disagreements(declaration: Declaration, seen: Sequence[Seen]) -> list[Note]:
    """Notes on modules stored otherwise than declared, and on KV cache scales that are not there."""
    if declaration.method is None and declaration.kv_cache is None:
        return []
    notes = [n for find in (_excluded, _bits, _group, _block) for n in _gathered(seen, find)]
    if declaration.kv_cache is not None and not any(_scales_cache(s) for s in seen):
        dtype, where = declaration.kv_cache
        words = f"declares a KV cache in {dtype}, but ships no k_scale or v_scale; runtimes take 1.0"
        notes.append(Note("kv_scales_missing", words, where))
    return notes


def _gathered(seen: Iterable[Seen], find: Callable[[Seen, Claim], tuple[str, str] | None]) -> Iterator[Note]:
    """One note for each distinct (words, place) that `find` makes of a quantised claim, unless its scheme told."""
    found: dict[tuple[str, str], tuple[int, str]] = {}
    for kind in seen:
        for claim in kind.claims:
            if claim.precision is None or not claim.precision.quantised or not claim.payload:
                continue
            key = find(kind, claim)
            told = any(n.code == _CODE for n in claim.notes)
            if key is not None and not (told and find in (_bits, _group)):
                count, example = found.get(key, (0, kind.example))
                found[key] = count + kind.modules, example
    for (words, where), (count, example) in found.items():
        modules = f"{count:,} modules such as {example}" if count > 1 else f"module {example}"
        yield Note(_CODE, f"{words}: {modules}; the headers win", where)


def _excluded(kind: Seen, claim: Claim) -> tuple[str, str] | None:
    if not kind.declared.excluded or claim.precision is None:
        return None
    return f"declared as not quantised, stored as {claim.precision.name}", kind.declared.where


def _bits(kind: Seen, claim: Claim) -> tuple[str, str] | None:
    bits = kind.declared.bits
    if bits is None or claim.precision is None or claim.precision.bits == bits:
        return None
    return f"{bits} bits declared, {claim.precision.bits:g} stored ({claim.precision.name})", kind.declared.where


def _group(kind: Seen, claim: Claim) -> tuple[str, str] | None:
    """A group along the rows: differs from the declared one, and is not just all of a shorter row."""
    size, precision = kind.declared.group, claim.precision
    if size is None or precision is None or precision.block is None:
        return None
    rows, columns = precision.block
    if rows != 1 or columns == size or (claim.shape is not None and columns == claim.shape[-1] < size):
        return None
    return f"one scale per {size} weights declared, one per {columns} stored ({precision.name})", kind.declared.where


def _block(kind: Seen, claim: Claim) -> tuple[str, str] | None:
    """`weight_block_size` against the tile of FP8 weights."""
    size, precision = kind.declared.entry.get("weight_block_size"), claim.precision
    if precision is None or precision.block is None or not precision.name.startswith("fp8") or kind.declared.excluded:
        return None
    if not isinstance(size, list) or len(size) != 2 or not all(type(s) is int for s in size):
        return None
    if precision.block == tuple(size):
        return None
    rows, columns = precision.block
    return f"one scale per {size[0]}x{size[1]} declared, one per {rows}x{columns} stored", kind.declared.where


def _scales_cache(kind: Seen) -> bool:
    return any((kind.example + role).endswith(_CACHE_SCALES) for role in kind.roles)
