"""Stored tensors become groups, and groups become a few hundred kinds that schemes look at once each.

Half a million tensors have a few hundred shapes of group. So tensors are grouped by base name; a group is keyed by
its name with digits replaced, by the rule that the config has for it, and by the dtypes and shapes of its roles;
schemes are asked once per key. Linear in tensors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from inspector import components
from inspector.declared import Declaration
from inspector.experts import Pile
from inspector.model import Claim, Declared, Group, Stored, TensorInfo
from inspector.records import dataclass
from inspector.schemes import Reading, read, splitter
from inspector.storing.dtypes import canonical

_DIGITS: Final = re.compile(r"\d+")

Members = dict[str, TensorInfo]
"""Role suffix -> tensor."""


@dataclass(slots=True)
class Kind:
    """All groups of one name template and one signature: what schemes made of the first, and how many there are."""

    component: str
    example: str
    reading: Reading
    tensors: Mapping[str, Stored]
    declared: Declared
    count: int = 0

    def claims(self) -> Iterator[tuple[Claim | None, tuple[str, ...], tuple[str, ...]]]:
        """(claim, payload roles, overhead roles) of each claim; unknown roles as a claim of None."""
        for claim in self.reading.claims:
            yield claim, claim.payload, claim.overhead
        if self.reading.unknown:
            yield None, self.reading.unknown, ()

    def holder(self, role: str) -> tuple[Claim | None, bool]:
        """The claim that holds a role, and whether as payload."""
        for claim, payload, overhead in self.claims():
            if role in payload or role in overhead:
                return claim, role in payload
        raise KeyError(role)

    def nbytes(self, roles: Sequence[str]) -> int:
        """Stored bytes of these roles in one group."""
        return sum(self.tensors[r].nbytes for r in roles)


@dataclass(frozen=True, slots=True)
class Groups:
    """Groups by base name, and the tensors whose name had been stored before: (base, role, tensor).

    `times` is parallel to `members`: how many groups there are like each, it counted.
    """

    members: Mapping[str, Members]
    again: tuple[tuple[str, str, TensorInfo], ...]
    times: Sequence[int]


def group(piles: Sequence[Pile]) -> Groups | None:
    """Tensors by base name and role; a name that comes again is handed back apart.

    None where tensors of two piles belong together and one of the piles stands for more than itself: `experts.3.weight`
    among experts, and `experts.3_scale` outside of them. Those are to be looked at one by one.
    """
    split, known = splitter()
    groups: dict[str, Members] = {}
    again: list[tuple[str, str, TensorInfo]] = []
    counts: list[int] = []
    many: set[str] = set()
    for pile in piles:
        before = len(groups)
        own: set[str] = set()
        for tensor in pile.tensors:
            name = tensor[0]
            # What `split` would say, without calling it, where the last part of the name has been met.
            at = name.rfind(".")
            found = known.get(name[at:]) if at > 0 else None
            if found is None or found[1]:
                base, role = split(name)
            else:
                role = found[0]
                base = name[: -len(role)] if role else name
            members = groups.get(base)
            if members is not None and base not in own and (pile.times > 1 or base in many):
                return None
            if pile.times > 1:
                own.add(base)
            if members is None:
                groups[base] = {role: tensor}
            elif role in members:
                again.append((base, role, tensor))
            else:
                members[role] = tensor
        many |= own
        counts += [pile.times] * (len(groups) - before)
    return Groups(groups, tuple(again), counts)


def classify(groups: Groups, declaration: Declaration, layers: int | None) -> tuple[list[Kind], list[Kind]]:
    """The distinct kinds, and the kind of every group in the order of `groups`.

    `layers` is num_hidden_layers; modules of layers past it are draft layers.
    """
    names = [base.rpartition(".") for base in groups.members]
    recurrent: set[str] = set()
    if not components.STATE.isdisjoint([leaf for _, _, leaf in names]):
        recurrent = {p for p in map(components.recurrent_parent, groups.members) if p is not None}
    kinds: dict[tuple[object, ...], Kind] = {}
    of: list[Kind] = []
    parents: dict[str, tuple[str, bool]] = {}
    leaves: dict[str, str] = {}
    per_name = declaration.per_name
    for (base, members), (parent, _, leaf), times in zip(groups.members.items(), names, groups.times, strict=True):
        # Three projections share a parent, and a hundred thousand parents share a few leaves: look at each once.
        if parent not in parents:
            owner, _, number = parent.rpartition(".")
            if number.isdigit() and owner in parents and owner.endswith("experts"):
                parents[parent] = f"{parents[owner][0]}.#", parents[owner][1]
            else:
                marked = _DIGITS.sub("#", _mixer(parent, recurrent) if recurrent else parent)
                parents[parent] = marked, components.draft_layer(f"{parent}.", layers)
                if number.isdigit() and owner.endswith("experts") and not recurrent:
                    parents[owner] = _DIGITS.sub("#", owner), components.draft_layer(f"{owner}.", layers)
        if leaf not in leaves:
            leaves[leaf] = _DIGITS.sub("#", leaf)
        template, draft = parents[parent]
        said = declaration.module(base) if per_name else None
        key = (
            template,
            leaves[leaf],
            id(said),
            draft,
            *[(role, t[1], t[2], t[5] - t[4]) for role, t in members.items()],
        )
        kind = kinds.get(key)
        if kind is None:
            name = f"{_mixer(parent, recurrent)}.{leaf}" if parent else leaf
            kind = kinds[key] = _kind(base, name, draft, members, said or declaration.module(base))
        kind.count += times
        of.append(kind)
    return list(kinds.values()), of


def _mixer(parent: str, recurrent: set[str]) -> str:
    """The name of a module's parent, with `@recurrent` after a mixer that holds recurrent state."""
    if parent in recurrent:
        return f"{parent}.@recurrent"
    owner, _, rest = parent.rpartition(".")
    return f"{owner}.@recurrent.{rest}" if owner in recurrent else parent


def _kind(base: str, name: str, draft: bool, members: Members, said: Declared) -> Kind:
    tensors = {role: Stored(canonical(t.dtype), t.shape, t.nbytes) for role, t in members.items()}
    component = components.component(name)
    if draft:
        component = components.as_draft(component)
    return Kind(component, base, read(Group(base, tensors, said)), tensors, said)
