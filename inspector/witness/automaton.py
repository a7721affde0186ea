"""Many patterns matched in one pass over a name, without backtracking.

Patterns come out of strangers' config files, and `re` may need for ever on one of them. Here they become one
automaton whose states are made as names need them (Thompson 1968), so a match costs at most the length of the name
times the size of the patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from inspector.records import dataclass, field
from inspector.witness.expressions import ALWAYS, ANY, AT_END, AT_START, CharacterSet, Parser, Tree, UnusablePattern

MAX_NODES: Final = 4096
"""Automaton nodes of one set of patterns: what they may cost at most per character."""
_MAX_STATES: Final = 2048


@dataclass(slots=True, eq=False)
class _State:
    """A set of nodes, where each character leads, and what is accepted if the name ends here."""

    nodes: frozenset[int]
    onward: dict[str, _State] = field(default_factory=dict)
    accepted: list[int] | None = None


class Automaton:
    """A set of patterns; `matches` gives the numbers of those that match a name."""

    def __init__(self) -> None:
        self._free: list[list[tuple[int, int]]] = [[]]
        self._edge: list[tuple[CharacterSet, int] | None] = [None]
        self._ends: dict[int, int] = {}
        self._rules: list[tuple[int, list[tuple[bool, int]]]] = []
        self._states: dict[frozenset[int], _State] = {}

    def __len__(self) -> int:
        return len(self._rules)

    def add(self, pattern: str, *, search: bool = False, whole: bool = False, boundary: bool = False) -> int:
        """The number of a new pattern; raises `UnusablePattern` and changes nothing.

        It must match from the start of a name (`search`: anywhere), to the end (`whole`) or to a dot or the end
        (`boundary`), otherwise to anywhere.
        """
        assertions, tree = Parser(pattern).whole()
        size = len(self._free), len(self._free[0])
        numbers: list[tuple[bool, int]] = []
        ends = dict(self._ends)
        try:
            for wanted, asserted in assertions:
                numbers.append((wanted, self._pattern(asserted, search=False, tail=("times", (("set", ANY), 0, None)))))
            number = self._pattern(tree, search=search and not assertions, tail=_tail(whole, boundary))
        except UnusablePattern:
            del self._free[size[0] :], self._edge[size[0] :], self._free[0][size[1] :]
            self._ends = ends
            raise
        self._rules.append((number, numbers))
        self._states.clear()
        return len(self._rules) - 1

    def matches(self, name: str) -> list[int]:
        """Numbers of the patterns that match, lowest first."""
        state = self._state(self._reach([0], True, False))
        for character in name:
            following = state.onward.get(character)
            if following is None:
                nodes = [e[1] for n in state.nodes if (e := self._edge[n]) and _takes(e[0], character)]
                following = state.onward[character] = self._state(self._reach(nodes, False, False))
            state = following
        if state.accepted is None:
            state.accepted = self._accepted(state, not name)
        return state.accepted

    def _accepted(self, state: _State, empty: bool) -> list[int]:
        found = {self._ends[n] for n in self._reach(state.nodes, empty, True) if n in self._ends}
        return [
            i for i, (n, needs) in enumerate(self._rules) if n in found and all((k in found) is w for w, k in needs)
        ]

    def _state(self, nodes: frozenset[int]) -> _State:
        state = self._states.get(nodes)
        if state is None:
            if len(self._states) >= _MAX_STATES:
                self._states.clear()
            state = self._states[nodes] = _State(nodes)
        return state

    def _reach(self, nodes: Iterable[int], start: bool, end: bool) -> frozenset[int]:
        seen = set(nodes)
        todo = list(seen)
        while todo:
            for condition, target in self._free[todo.pop()]:
                open_ = condition == ALWAYS or (start if condition == AT_START else end)
                if open_ and target not in seen:
                    seen.add(target)
                    todo.append(target)
        return frozenset(seen)

    def _node(self) -> int:
        if len(self._free) >= MAX_NODES:
            raise UnusablePattern(f"the patterns need more than {MAX_NODES:,} states")
        self._free.append([])
        self._edge.append(None)
        return len(self._free) - 1

    def _pattern(self, tree: Tree, *, search: bool, tail: Tree) -> int:
        start = self._node()
        self._free[0].append((ALWAYS, start))
        head = [("times", (("set", ANY), 0, None))] if search else []
        end = self._build(("all", [*head, tree, tail]), start)
        self._ends[end] = len(self._ends)
        return self._ends[end]

    def _build(self, tree: Tree, start: int) -> int:
        kind, value = tree
        end = self._node()
        if kind == "set":
            self._edge[start] = value, end
        elif kind == "at":
            self._free[start].append((value, end))
        elif kind == "all":
            self._free[start].append((ALWAYS, self._chain(value, start, end)))
        elif kind == "or":
            for branch in value:
                first = self._node()
                self._free[start].append((ALWAYS, first))
                self._free[self._build(branch, first)].append((ALWAYS, end))
        else:
            self._repeat(value, start, end)
        return end

    def _chain(self, trees: Sequence[Tree], start: int, end: int) -> int:
        """Lay `trees` one after the other up to `end`; the node that they begin at."""
        first = here = self._node()
        for tree in trees:
            fresh = self._node()
            self._free[here].append((ALWAYS, fresh))
            here = self._build(tree, fresh)
        self._free[here].append((ALWAYS, end))
        return first

    def _repeat(self, value: tuple[Tree, int, int | None], start: int, end: int) -> None:
        tree, low, high = value
        here = start
        for count in range(low if high is None else high):
            if count >= low:
                self._free[here].append((ALWAYS, end))
            fresh = self._node()
            self._free[here].append((ALWAYS, fresh))
            here = self._build(tree, fresh)
        if high is None:
            loop = self._node()
            self._free[here].append((ALWAYS, loop))
            body = self._node()
            self._free[loop] += [(ALWAYS, body), (ALWAYS, end)]
            self._free[self._build(tree, body)].append((ALWAYS, loop))
        else:
            self._free[here].append((ALWAYS, end))


def _tail(whole: bool, boundary: bool) -> Tree:
    anything: Tree = ("times", (("set", ANY), 0, None))
    if whole:
        return ("at", AT_END)
    if not boundary:
        return anything
    dotted: Tree = ("all", [("set", CharacterSet(False, frozenset("."))), anything])
    return ("or", [("at", AT_END), dotted])


def _takes(test: CharacterSet, character: str) -> bool:
    return (character in test.characters) is not test.inverted
