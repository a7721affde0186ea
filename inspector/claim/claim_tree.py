"""Find tables in a JSON, YAML or TOML tree: `models.*.quants.*` is a row per match, `$1` and `$2` the keys it met.

Aliases make a YAML tree share nodes, so every walk has a budget: what it expands to is bounded, not what it stores.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from inspector.claim.claim_model import Cell, Node, Place, Row, Table
from inspector.errors import UsageError
from inspector.records import replace

MAX_ROWS: Final = 200_000
MAX_NODES: Final = 2_000_000
MAX_DEPTH: Final = 64


class Lines:
    """Offsets of a text as (line, column), both from 1."""

    def __init__(self, text: str) -> None:
        self._starts = [0]
        at = text.find("\n")
        while at >= 0:
            self._starts.append(at + 1)
            at = text.find("\n", at + 1)

    def at(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


class _Budget:
    def __init__(self, file: str) -> None:
        self._file, self._left = file, MAX_NODES

    def spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            message = f"expands to more than {MAX_NODES:,} values"
            raise UsageError(self._file, message, "Split it, or write aliases out.")


def at_path(root: Node, pattern: str) -> Table:
    """The rows that a dotted pattern names; `*` stands for any key or index. Raises `UsageError` where none is."""
    budget = _Budget(root.place.file)
    found: list[tuple[Node, tuple[str, ...]]] = [(root, ())]
    for part in [p for p in pattern.split(".") if p]:
        below: list[tuple[Node, tuple[str, ...]]] = []
        for node, keys in found:
            for key, child in node.items:
                budget.spend()
                if part == "*":
                    below.append((child, (*keys, key)))
                elif part == key:
                    below.append((child, keys))
        found = below
    rows = [_row(node, budget, keys) for node, keys in found if node.kind == "mapping" or keys]
    if not rows:
        raise UsageError(root.place.file, f"has nothing at {pattern[:80]!r}", "Correct `rows` in the mapping.")
    return _table(rows, root.place.file)


def first_list(root: Node, wanted: Callable[[str], bool]) -> Table | None:
    """The first list, nearest to the root, that holds mappings with a wanted key; None where there is none."""
    budget = _Budget(root.place.file)
    queue = deque([(root, 0)])
    while queue:
        node, depth = queue.popleft()
        if node.kind == "list" and any(wanted(k) for _, item in node.items for k, _ in item.items):
            return _table([_row(item, budget) for _, item in node.items], root.place.file)
        for _, child in node.items:
            budget.spend()
            if child.kind != "scalar" and depth < MAX_DEPTH:
                queue.append((child, depth + 1))
    return None


def row(node: Node) -> Row:
    """A mapping as one row: nested scalars become cells named by their dotted path."""
    return _row(node, _Budget(node.place.file))


def _row(node: Node, budget: _Budget, keys: tuple[str, ...] = ()) -> Row:
    cells = {f"${i}": Cell(key, node.place) for i, key in enumerate(keys, 1)}
    if node.kind == "scalar":
        cells["value"] = _cell(node)
    elif node.kind == "list" and not keys:
        return Row(node.place, {}, "is a list where a row is expected")
    for path, leaf in _leaves(node, budget, ""):
        cells[path] = _cell(leaf)
    return Row(node.place, cells, "" if cells else "is empty")


def _cell(node: Node) -> Cell:
    return Cell(node.text, node.place, node.span)


def _leaves(node: Node, budget: _Budget, prefix: str, depth: int = 0) -> Iterator[tuple[str, Node]]:
    if depth > MAX_DEPTH:
        raise UsageError(str(node.place), f"nests deeper than {MAX_DEPTH} levels", "Flatten it.")
    for key, child in node.items:
        budget.spend()
        path = f"{prefix}{key}"
        if child.kind == "scalar":
            yield path, child
        else:
            yield from _leaves(child, budget, f"{path}.", depth + 1)


def _table(rows: list[Row], file: str) -> Table:
    check_rows(len(rows), file)
    return Table(tuple(dict.fromkeys(name for r in rows for name in r.cells)), tuple(rows))


def check_rows(count: int, file: str) -> None:
    """Raise `UsageError` for more rows than are read."""
    if count > MAX_ROWS:
        raise UsageError(file, f"has {count:,} rows or more, above {MAX_ROWS:,}", "Split the table.")


def placed(place: Place, key: str) -> Place:
    """The same place with one more key in its path."""
    return replace(place, key=f"{place.key}.{key}" if place.key else key)
