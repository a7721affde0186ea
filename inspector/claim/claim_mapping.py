"""A mapping: which column of a table is which quantity, in which unit, by which rule, about which repo. Only config.

`[tool.inspect]` of a pyproject.toml holds the same keys as a mapping file. Each of `[[tables]]` is one table; a file
with one table may leave that level out.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping
from pathlib import PurePath
from types import MappingProxyType
from typing import Final, NoReturn, TypeVar

from inspector.claim.claim_amounts import tolerance, unit
from inspector.claim.claim_build import said_of
from inspector.claim.claim_model import Node, Subject
from inspector.claim.claim_quantities import named, quantity
from inspector.claim.claim_rules import Expression, Named, parse
from inspector.errors import UsageError
from inspector.records import dataclass, field

T = TypeVar("T")

SHIPPED: Final = "shipped"
"""What a build's name maps to where the repo's own default set is meant."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column under test. `value` is worked out of the row's cells where the column is no single cell.

    `build` names the column that says which build a figure is about, `builds` which repo holds it; `at_least` a
    column of the same row that this one may not be below. Texts are as written, empty where nothing is said.
    """

    name: str
    quantity: str = ""
    rule: Expression | None = None
    value: Expression | None = None
    unit: str = ""
    tolerance: str = ""
    context: str = ""
    kv_dtype: str = ""
    cluster: str = ""
    repo: str = ""
    build: str = ""
    builds: Mapping[str, Subject | None] = field(default_factory=lambda: MappingProxyType({}))
    at_least: str = ""
    skip: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Layout:
    """One table's mapping. `rows` is a path into a tree, `number` a Markdown table's, from 1.

    `names` are columns of the long form under other names, `repos` display names and what they stand for.
    """

    file: str = ""
    rows: str = ""
    number: int | None = None
    names: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    repos: Mapping[str, Subject] = field(default_factory=lambda: MappingProxyType({}))
    columns: tuple[Column, ...] = ()
    tolerance: str = ""

    def is_for(self, file: str) -> bool:
        """Whether a file is meant: no pattern means any."""
        path = PurePath(file)
        return not self.file or fnmatch.fnmatch(path.name, self.file) or fnmatch.fnmatch(path.as_posix(), self.file)


ROLES: Final = ("repo", "revision", "variant", "quantity", "value", "unit", "tolerance", "context", "kv_dtype")
_LAYOUT: Final = frozenset(
    {"file", "rows", "table", "repo", "revision", "variant", "names", "repos", "builds", "columns", "tolerance"}
    | {"context", "kv_dtype", "cluster", "skip", "build"}
)
_COLUMN: Final = frozenset(
    {"column", "quantity", "rule", "value", "unit", "tolerance", "context", "kv_dtype", "cluster", "repo", "build"}
    | {"builds", "at_least", "skip"}
)


def layouts(root: Node) -> tuple[Layout, ...]:
    """The mapping in a document's tree. Raises `UsageError` with the key where it is wrong."""
    if root.kind != "mapping":
        _wrong(root, "is no mapping of keys", "See docs/check.md.")
    listed = _get(root, "tables")
    if listed is None:
        return (_layout(root),)
    if listed.kind != "list" or len(root.items) > 1:
        _wrong(listed, "must be the only key and a list", "Write [[tables]] before each table.")
    return tuple(_layout(node) for _, node in listed.items)


def within(root: Node, *path: str) -> Node | None:
    """The node below some keys, None where one is missing."""
    node: Node | None = root
    for key in path:
        node = _get(node, key) if node is not None else None
    return node


def _layout(node: Node) -> Layout:
    _known(node, _LAYOUT)
    repos_node, number = _get(node, "repos"), _text(node, "table")
    repos = {} if repos_node is None else {k: _subject(n) for k, n in repos_node.items}
    names_node = _get(node, "names")
    names = {} if names_node is None else {k: _scalar(n) for k, n in names_node.items}
    for role in ("repo", "revision", "variant"):
        if _text(node, role):
            names[role] = _text(node, role)
    if number and re.fullmatch(r"0*[1-9]\d{0,8}", number, re.ASCII) is None:
        _wrong(node, f"table {number[:60]!r} is no number from 1", "")
    listed = _get(node, "columns")
    columns = () if listed is None else tuple(_column(n, node, repos, k) for k, n in listed.items)
    _checked(node, "tolerance", lambda t: tolerance(t, "count"))
    return Layout(
        file=_text(node, "file"),
        rows=_text(node, "rows"),
        number=int(number) if number else None,
        names=MappingProxyType(names),
        repos=MappingProxyType(repos),
        columns=columns,
        tolerance=_text(node, "tolerance"),
    )


def _column(node: Node, outer: Node, repos: Mapping[str, Subject], key: str) -> Column:
    if node.kind != "mapping":
        _wrong(node, "is no column", "Write column, quantity and unit.")
    _known(node, _COLUMN)
    # Columns may be a list with `column`, or a mapping of their names.
    name = _text(node, "column") or ("" if key.isdigit() else key)
    what, rule_text, value_text = _text(node, "quantity"), _text(node, "rule"), _text(node, "value")
    if bool(what) == bool(rule_text):
        _wrong(node, "needs one of quantity and rule", 'As in rule = "tensor_bytes * 1.2".')
    if not name and not value_text:
        _wrong(node, "names no column", 'Write column = "...".')
    if what:
        kind = _checked(node, "quantity", quantity).kind
        rule = None
    else:
        rule = _checked(node, "rule", lambda t: parse(t, named))
        kind = rule.kind
    unit_text = _text(node, "unit")
    if unit_text and unit(unit_text, kind) is None:
        _wrong(node, f"{unit_text!r} is no unit of {what or rule_text}", "Write GB, GiB, B or %.")
    _checked(node, "tolerance", lambda t: tolerance(t, kind))
    builds_node = _get(node, "builds") or _get(outer, "builds")
    builds = {} if builds_node is None else {k: _build(n, repos) for k, n in builds_node.items}
    skip = _get(node, "skip") or _get(outer, "skip")
    return Column(
        name=name or value_text,
        quantity=what,
        rule=rule,
        value=_checked(node, "value", lambda t: parse(t, _cell_name)) if value_text else None,
        unit=unit_text,
        tolerance=_text(node, "tolerance"),
        context=_text(node, "context") or _text(outer, "context"),
        kv_dtype=_text(node, "kv_dtype") or _text(outer, "kv_dtype"),
        cluster=_text(node, "cluster") or _text(outer, "cluster"),
        repo=_text(node, "repo"),
        build=_text(node, "build") or _text(outer, "build"),
        builds=MappingProxyType(builds),
        at_least=_text(node, "at_least"),
        skip=tuple(_scalar(n) for _, n in skip.items) if skip is not None else (),
    )


def _cell_name(name: str) -> Named:
    return Named(name, "number")


def _subject(node: Node) -> Subject:
    if node.kind == "scalar":
        return Subject(_scalar(node))
    _known(node, frozenset({"repo", "revision", "variant"}))
    if not _text(node, "repo"):
        _wrong(node, "names no repo", "Write org/name.")
    return Subject(_text(node, "repo"), _text(node, "revision") or None, _text(node, "variant") or None)


def _build(node: Node, repos: Mapping[str, Subject]) -> Subject | None:
    """What holds a build; None for the row's own repo as it ships."""
    if node.kind == "scalar" and node.text == SHIPPED:
        return None
    found = _subject(node)
    return repos.get(found.repo, found)


def _checked(node: Node, key: str, read: Callable[[str], T]) -> T:
    """What `read` makes of a key's text. Raises `UsageError` at the key."""
    child = _get(node, key)
    try:
        return read(child.text if child is not None and child.text else "0")
    except UsageError as error:
        place = child.place if child is not None else node.place
        raise UsageError(str(place), said_of(error)) from None


def _known(node: Node, keys: frozenset[str]) -> None:
    for key, child in node.items:
        if key not in keys:
            _wrong(child, f"{key[:60]!r} is no key of a mapping", f"There are: {', '.join(sorted(keys))}.")


def _get(node: Node, key: str) -> Node | None:
    return next((n for k, n in node.items if k == key), None)


def _text(node: Node, key: str) -> str:
    found = _get(node, key)
    return "" if found is None else _scalar(found)


def _scalar(node: Node) -> str:
    if node.kind != "scalar":
        _wrong(node, f"is a {node.kind} where a word is expected", "")
    return node.text.strip()


def _wrong(node: Node, message: str, advice: str) -> NoReturn:
    raise UsageError(str(node.place), message, advice)
