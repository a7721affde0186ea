"""YAML by PyYAML's events: scalars as written, with line, column and path, so that nothing is converted or lost.

Working on events keeps the nesting, the number of nodes and what aliases expand to bounded.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from inspector.claim.claim_model import Document, Node, Place
from inspector.claim.claim_tree import MAX_DEPTH, MAX_NODES
from inspector.errors import UsageError
from inspector.records import dataclass, field, replace


def read(file: str, text: str) -> Document:
    """The first document of a file as a tree. Raises `UsageError` at the place where it is not YAML."""
    import yaml

    # A text without the mark: libyaml's offsets do not count it.
    bom = text.startswith("\ufeff")
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = _Tree(file, int(bom), yaml).build(yaml.parse(text[bom:], Loader=loader))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = Place(file, mark.line + 1, mark.column + 1) if mark else Place(file)
        raise UsageError(str(place), f"is not YAML: {error.problem}", "Correct it there.") from None
    except yaml.YAMLError as error:
        raise UsageError(file, f"is not YAML: {' '.join(str(error).split())[:200]}") from None
    if root is None:
        raise UsageError(file, "holds nothing", "Give a file with rows.")
    return Document(file, text, root=root)


_PLAIN_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come: `key` waits for its value, `merged` came in by `<<`."""

    kind: Literal["mapping", "list"]
    place: Place
    anchor: str | None
    items: dict[str, Node] = field(default_factory=dict)
    merged: dict[str, Node] = field(default_factory=dict)
    key: str | None = None

    def closed(self) -> Node:
        more = {k: n for k, n in self.merged.items() if k not in self.items}
        return Node(self.kind, self.place, items=(*self.items.items(), *more.items()))


class _Tree:
    """Nodes from events; a stack of open collections, no recursion."""

    def __init__(self, file: str, shift: int, yaml: Any) -> None:
        self._file, self._shift, self._yaml = file, shift, yaml
        self._anchors: dict[str, Node] = {}
        self._stack: list[_Open] = []
        self._count = 0

    def build(self, events: Any) -> Node | None:
        yaml = self._yaml
        for event in events:
            done: Node | None = None
            if isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
                if len(self._stack) >= MAX_DEPTH:
                    raise UsageError(str(self._place(event)), f"nests deeper than {MAX_DEPTH} levels", "Flatten it.")
                mapping = isinstance(event, yaml.MappingStartEvent)
                self._stack.append(_Open("mapping" if mapping else "list", self._place(event), event.anchor))
            elif isinstance(event, yaml.ScalarEvent):
                done = self._scalar(event)
            elif isinstance(event, yaml.AliasEvent):
                done = self._alias(event)
            elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
                top = self._stack.pop()
                done = top.closed()
                if top.anchor:
                    self._anchors[top.anchor] = done
            elif isinstance(event, yaml.DocumentEndEvent):
                break
            if done is not None and not self._stack:
                return done
            if done is not None:
                self._add(done)
        return None

    def _add(self, node: Node) -> None:
        top = self._stack[-1]
        if top.kind == "list":
            top.items[str(len(top.items))] = node
        elif top.key is None:
            top.key = self._key(node)
        else:
            key, top.key = top.key, None
            if key == "<<" and node.kind != "scalar":
                for source in [node] if node.kind == "mapping" else [n for _, n in node.items]:
                    self._count += len(source.items)
                    top.merged = {**dict(source.items), **top.merged}
                return
            if key in top.items:
                raise UsageError(str(node.place), f"the key {key[:60]!r} stands twice", "Remove one of them.")
            top.items[key] = node

    def _key(self, node: Node) -> str:
        if node.kind != "scalar":
            raise UsageError(str(node.place), "a key is a list or a mapping", "Use words as keys.")
        return node.text

    def _scalar(self, event: Any) -> Node:
        self._spend(event)
        text = event.value
        start, end = event.start_mark.index + self._shift, event.end_mark.index + self._shift
        span: tuple[int, int] | None = (start, end)
        if event.style in ("'", '"'):
            span = (start + 1, end - 1)
        elif event.style in ("|", ">"):
            span = None
        elif text in _PLAIN_NULL:
            text = ""
        node = Node("scalar", self._place(event), text, span=span)
        if event.anchor:
            self._anchors[event.anchor] = node
        return node

    def _alias(self, event: Any) -> Node:
        self._spend(event)
        found = self._anchors.get(event.anchor)
        if found is None:
            raise UsageError(str(self._place(event)), f"the alias {event.anchor[:60]!r} has no anchor before it")
        # Rewriting what an alias stands for would change other rows.
        return replace(found, span=None) if found.kind == "scalar" else found

    def _spend(self, event: Any) -> None:
        self._count += 1
        if self._count > MAX_NODES:
            raise UsageError(str(self._place(event)), f"holds more than {MAX_NODES:,} values", "Split the table.")

    def _place(self, event: Any) -> Place:
        keys = [str(len(top.items)) if top.kind == "list" else top.key for top in self._stack]
        path = ".".join(k for k in keys if k is not None)
        return Place(self._file, event.start_mark.line + 1, event.start_mark.column + 1, path)
