"""The values of a table under test: cells with their places, claims and measured repos.

Bytes are ints or exact fractions, `None` is unknown. Nothing here reads or decides.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, Protocol

from inspector.model import Json, Report
from inspector.model.cache_model import Cache, UnknownCache
from inspector.model.fit_model import Fit
from inspector.records import dataclass, field

Kind = Literal["bytes", "count", "number", "yesno", "word"]
"""What a quantity is measured in: bytes, things counted, a plain number, yes or no, a name."""

Measure = Fraction | bool | str
"""One measured figure: exact number, yes or no, or a name."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something stands: `line` and `column` from 1, `key` a column's name or a path of keys."""

    file: str
    line: int | None = None
    column: int | None = None
    key: str = ""

    def __str__(self) -> str:
        """As compilers write it, with the key behind it: `sizes.csv:3:12 (value)`."""
        text = self.file
        if self.line is not None:
            text += f":{self.line}"
            if self.column is not None:
                text += f":{self.column}"
        return f"{text} ({self.key})" if self.key else text


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell's text. `span` is where it stands in the document's text, None where it cannot be rewritten.

    `link` is the address that a Markdown cell links to.
    """

    text: str
    place: Place
    span: tuple[int, int] | None = None
    link: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row; `fault` says why it cannot be read (ragged, not JSON), empty where it can."""

    place: Place
    cells: Mapping[str, Cell]
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under named columns."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Node:
    """A value of a JSON, YAML or TOML document: `items` are (key, value), with indexes as keys in a list."""

    kind: Literal["mapping", "list", "scalar"]
    place: Place
    text: str = ""
    items: tuple[tuple[str, Node], ...] = ()
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read: its text with the tables in it, or the tree that tables are found in."""

    file: str
    text: str
    tables: tuple[Table, ...] = ()
    root: Node | None = None


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit as written, what it measures, and how many bytes, things or plain numbers one of it is."""

    name: str
    kind: Kind
    factor: Fraction


@dataclass(frozen=True, slots=True)
class Amount:
    """A number as written: `decimals` digits after the point, `span` of the number in the cell's text."""

    number: Fraction
    unit: Unit | None
    decimals: int = 0
    span: tuple[int, int] | None = None
    grouped: str = ""

    @property
    def value(self) -> Fraction:
        """In bytes, things or plain numbers."""
        return self.number * (self.unit.factor if self.unit else 1)

    @property
    def step(self) -> Fraction:
        """What one unit of the last digit written is worth."""
        return Fraction(1, 10**self.decimals) * (self.unit.factor if self.unit else 1)


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far a claim may be off: `relative` to the measured figure, or `absolute`; both None: as it rounds."""

    relative: Fraction | None = None
    absolute: Fraction | None = None

    def allows(self, measured: Fraction, step: Fraction) -> Fraction:
        """The largest difference that is still right; `step` is worth one of the claim's last digit."""
        if self.relative is not None:
            return abs(measured) * self.relative
        return self.absolute if self.absolute is not None else step / 2


@dataclass(frozen=True, slots=True)
class Subject:
    """What a claim is about: a repo as written, its revision, one of its sets of weights."""

    repo: str
    revision: str | None = None
    variant: str | None = None


@dataclass(frozen=True, slots=True)
class Setting:
    """What cache and fit claims depend on: tokens, cache dtype, cluster and placement as written."""

    context: int | None = None
    kv_dtype: str | None = None
    cluster: str | None = None
    placement: str | None = None


class Rule(Protocol):
    """A parsed rule: what it says, and the names of quantities in it."""

    @property
    def text(self) -> str:
        """As written."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The quantities that it needs, without unit suffix."""
        ...


@dataclass(frozen=True, slots=True)
class Claim:
    """One figure to be held against a repo. `said` is the cell's own text.

    `fault` says why the claim itself is wrong (malformed), `beyond` why no repo can answer it (unverifiable).
    `cell` is what `--fix` may rewrite; None for a figure derived from several.
    """

    place: Place
    subject: Subject
    quantity: str
    said: str
    kind: Kind = "number"
    claimed: Amount | bool | str | None = None
    rule: Rule | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    setting: Setting = field(default_factory=Setting)
    cell: Cell | None = None
    fault: str = ""
    beyond: str = ""


class Measured(Protocol):
    """One checkpoint that was read, with what can be worked out of it without reading more."""

    @property
    def report(self) -> Report:
        """Everything that the inspection found."""
        ...

    @property
    def config(self) -> Mapping[str, Json]:
        """The model's config.json, empty where there is none."""
        ...

    def cache(self, kv_dtype: str | None) -> Cache | UnknownCache:
        """One sequence's cache. Raises `UsageError` for an unknown dtype."""
        ...

    def fit(self, setting: Setting) -> Fit:
        """The fit on a cluster. Raises `UsageError` for a cluster that is not known."""
        ...
