"""Ways of storing a weight: one short file each, one line here.

A scheme has `NAME`, `ROLES` (the suffixes that it knows; the longest match splits a tensor's name into base and
role) and `recognise(group) -> Claim | None`, which looks at dtypes and shapes first and at the declared config only
for what bytes cannot say. No scheme has priority: `read` gives every tensor to exactly one claim or to none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Protocol

from inspector.model import Claim, Group, Note, Stored
from inspector.records import dataclass, replace
from inspector.schemes import (
    aqlm,
    awq,
    bitnet,
    bitsandbytes,
    buffers,
    compressed_tensors,
    dense,
    eetq,
    exl2,
    exl3,
    fake_quantized,
    fp4_in_int8,
    fp8,
    fp_quant,
    gemma,
    ggml,
    gptq,
    higgs,
    hqq,
    int8,
    marlin,
    marlin_24,
    mlx,
    modelopt_int4,
    mxfp4,
    mxfp4_blocks,
    mxfp6,
    mxfp8,
    native_narrow,
    nunchaku,
    nvfp4,
    quanto,
    quark_bytes,
    quark_words,
    quip,
    sdnq,
    sinq,
    sparse_bitmask,
    spqr,
    torchao,
    vptq,
    w4afp8,
)
from inspector.storing.companions import ATTENDANTS, COMPANIONS


class Scheme(Protocol):
    """What a module of this folder offers."""

    @property
    def NAME(self) -> str:
        """The scheme's word in reports."""
        ...

    @property
    def ROLES(self) -> tuple[str, ...]:
        """The suffixes that it knows."""
        ...

    def recognise(self, group: Group, /) -> Claim | None:
        """The scheme's reading of the group, or None if it is not this scheme's."""
        ...


SCHEMES: Final[tuple[Scheme, ...]] = (
    dense,
    buffers,
    fp8,
    fp4_in_int8,
    mxfp4_blocks,
    compressed_tensors,
    fake_quantized,
    int8,
    marlin_24,
    modelopt_int4,
    mxfp4,
    mxfp6,
    mxfp8,
    native_narrow,
    nvfp4,
    quark_bytes,
    quark_words,
    sparse_bitmask,
    w4afp8,
    ggml,
    aqlm,
    awq,
    bitnet,
    bitsandbytes,
    eetq,
    exl2,
    exl3,
    fp_quant,
    gemma,
    gptq,
    higgs,
    hqq,
    marlin,
    mlx,
    nunchaku,
    quanto,
    quip,
    sdnq,
    sinq,
    spqr,
    torchao,
    vptq,
)

ROLES: Final = tuple(sorted({r for s in SCHEMES for r in s.ROLES} | set(ATTENDANTS), key=lambda r: (-len(r), r)))
"""All role suffixes, longest first."""
_LONGER: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        last: tuple(r for r in ROLES if r.endswith(last) and r != last)
        for last in {role[at:] for role in ROLES for at, char in enumerate(role) if char == "." and at}
    }
)
"""A last part of names -> the roles that end in it and begin before it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What all schemes together make of a group: claims on disjoint roles, and the roles nobody may count."""

    claims: tuple[Claim, ...]
    unknown: tuple[str, ...]
    notes: tuple[Note, ...]


def splitter() -> tuple[Callable[[str], tuple[str, str]], Mapping[str, tuple[str, tuple[str, ...]]]]:
    """A function name -> (base, role), and the last parts of names that it has met (a few hundred per checkpoint).

    Of each, `.weight`, they tell the role, and the longer roles that end so.
    """
    known: dict[str, tuple[str, tuple[str, ...]]] = {}

    def search(name: str) -> str:
        # One look at all of them first: a file of a million names without a dot would ask each of each.
        if not name.endswith(ROLES):
            return ""
        return next((r for r in ROLES if name.endswith(r) and len(r) < len(name)), "")

    def split(name: str) -> tuple[str, str]:
        at = name.rfind(".")
        if at < 1:
            role = search(name)
            return (name[: -len(role)], role) if role else (name, "")
        last = name[at:]
        found = known.get(last)
        if found is None:
            # What the last part decides by itself, and the longer roles that end in it: `.centroids.weight`.
            shorter = next((r for r in ROLES if last.endswith(r)), "") if last.endswith(ROLES) else ""
            found = known[last] = shorter, _LONGER.get(last, ())
        role, longer = found
        if longer and name.endswith(longer):
            role = search(name)
        return (name[: -len(role)], role) if role else (name, "")

    return split, known


def read(group: Group) -> Reading:
    """Ask every scheme; two claims on one tensor, or none, leave it unknown with a note."""
    claims = [c for c in (scheme.recognise(group) for scheme in SCHEMES) if c is not None]
    taken: dict[str, list[str]] = {}
    for claim in claims:
        for role in (*claim.payload, *claim.overhead):
            taken.setdefault(role, []).append(claim.scheme)
    notes: list[Note] = []
    disputed = {role: names for role, names in taken.items() if len(names) > 1}
    if disputed:
        names = sorted({n for several in disputed.values() for n in several})
        notes.append(Note("two_schemes", f"claimed by {' and '.join(names)}; precision unknown", group.base))
        claims = [c for c in claims if not disputed.keys() & {*c.payload, *c.overhead}]
        taken = {role: [c.scheme] for c in claims for role in (*c.payload, *c.overhead)}
    left = [role for role in group.tensors if role not in taken]
    return _settle(group, claims, left, notes)


def _settle(group: Group, claims: list[Claim], left: list[str], notes: list[Note]) -> Reading:
    """Give companions that no scheme named to the one payload they serve; the rest is unknown."""
    served = [c for c in claims if c.payload]
    attendants = tuple(r for r in left if r in ATTENDANTS or group.tensors[r].dtype == "F8_E8M0")
    unknown = tuple(r for r in left if r not in attendants)
    if not served and all(r in COMPANIONS for r in unknown):
        orphans = tuple(r for r in left if r in COMPANIONS)
        notes.extend(Note("orphan_scale", _orphan(group.tensors[r]), group.base + r) for r in orphans)
        attendants, unknown = tuple(left), ()
    if attendants and len(served) == 1 and not unknown:
        claims[claims.index(served[0])] = replace(served[0], overhead=served[0].overhead + attendants)
    elif attendants:
        claims.append(Claim("scales", None, 0, (), attendants, evidence="scales without a weight of their own"))
    notes.extend(Note("unknown_precision", _why(group, group.tensors[r], r), group.base + r) for r in unknown)
    for claim in claims:
        notes.extend(claim.notes)
    return Reading(tuple(claims), unknown, tuple(notes))


def _orphan(tensor: Stored) -> str:
    stored = f"{tensor.dtype} {list(tensor.shape)}"
    return f"{stored} serves a weight that is not stored beside it; counted as overhead, not as parameters"


def _why(group: Group, tensor: Stored, role: str) -> str:
    others = ", ".join(f"{r or '(itself)'} {t.dtype} {list(t.shape)}" for r, t in group.tensors.items() if r != role)
    beside = f" beside {others}" if others else ""
    stored = f"{tensor.dtype} {list(tensor.shape)}{beside}"
    return f"{stored} fits no known way of storing a weight; bytes counted, parameters not"
