"""What was found: cells, verdict, footprint, cost, and the report that holds all of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, NamedTuple

from inspector.model.listing import Excluded, Variant
from inspector.model.notes import UNESTABLISHED, UNREAD, Json, Note
from inspector.records import dataclass

if TYPE_CHECKING:
    from inspector.model.cache_model import Cache
    from inspector.model.fit_model import Fit


Verdict = Literal["yes", "partly", "no", "unknown"]


@dataclass(frozen=True, slots=True)
class Cell:
    """Bytes and parameters of one component in one precision.

    `precision` is a name, "unknown" for payloads that no scheme (or two) claims, None for overhead that serves no
    weight. `parameters` is None for unknown payloads. weight bytes + overhead bytes = stored bytes.
    """

    component: str
    precision: str | None
    bits: float | None
    storage_dtypes: tuple[str, ...]
    blocks: tuple[tuple[int, int], ...]
    tensors: int
    parameters: int | None
    weight_bytes: int
    overhead_bytes: int

    @property
    def bytes(self) -> int:
        """All stored bytes of the cell."""
        return self.weight_bytes + self.overhead_bytes


@dataclass(frozen=True, slots=True)
class DtypeTotal:
    """Tensors and bytes of one storage dtype, as headers spell it."""

    dtype: str
    tensors: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """One observation behind a verdict: a config key with its value, or tensors with dtype, shape and companion."""

    where: str
    fact: str


@dataclass(frozen=True, slots=True)
class Prequantised:
    """Whether the checkpoint ships quantised, how, and on what evidence."""

    verdict: Verdict
    method: str | None
    summary: str
    evidence: tuple[Evidence, ...] = ()


class Slice(NamedTuple):
    """Stored bytes that a server places together: one layer (None: not in one), component and way of sharing.

    `share` says what tensor parallelism does: `split` over the ranks, `kv_heads` split by KV heads and duplicated
    beyond them, `experts` split by expert or across each, `copied` to every rank. `experts` is how many there are
    in the layer, 0 where unknown or none.
    """

    layer: int | None
    share: Literal["split", "kv_heads", "experts", "copied"]
    component: str
    bytes: int
    experts: int = 0


@dataclass(frozen=True, slots=True)
class Footprint:
    """Cells by (component, precision), with the totals by storage dtype and the verdict they support."""

    cells: tuple[Cell, ...]
    dtypes: tuple[DtypeTotal, ...]
    parameters: int | None
    prequantised: Prequantised
    notes: tuple[Note, ...] = ()
    slices: tuple[Slice, ...] = ()
    """The same bytes by how they are placed on devices; empty where not asked for."""

    @property
    def tensor_bytes(self) -> int:
        """Sum of all stored bytes."""
        return sum(c.bytes for c in self.cells)


@dataclass(frozen=True, slots=True)
class TensorRow:
    """One stored tensor with what was made of it, for `--tensors`."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    file: str
    component: str
    precision: str | None
    role: Literal["weight", "overhead", "unknown"]


@dataclass(frozen=True, slots=True)
class Cost:
    """What the answer cost: HTTP requests, body bytes taken from sockets, and how many lay past a header."""

    requests: int = 0
    bytes_fetched: int = 0
    weight_bytes_read: int = 0
    cached_files: int = 0
    seconds: float = 0.0
    retried: tuple[tuple[str, int], ...] = ()
    """Why requests were sent again, and how many for each reason."""


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one inspection found; renderers read this and nothing else."""

    repo: str
    revision: str | None
    format: str
    kind: str
    incomplete: bool
    variant: str | None
    files: int
    tensors: int | None
    file_bytes: int | None
    tensor_bytes: int | None
    parameters: int | None
    bits_per_weight: float | None
    prequantised: Prequantised
    dtypes: tuple[DtypeTotal, ...]
    cells: tuple[Cell, ...]
    menu: tuple[Variant, ...]
    excluded: tuple[Excluded, ...]
    excluded_bytes: int | None
    other_bytes: int | None
    repo_bytes: int | None
    index_total_size: int | None
    hub_total: int | None
    base_model: str | None
    notes: tuple[Note, ...]
    cost: Cost
    tensor_rows: tuple[TensorRow, ...] | None = None
    cache: Cache | None = None
    """What one sequence's context costs; None where the attention design is unknown (a note says why)."""
    fits: tuple[Fit, ...] = ()
    """One per cluster asked about."""
    metadata: Mapping[str, Mapping[str, Json]] | None = None
    """Headers' own key-values by file, where they were asked for."""

    @property
    def unread(self) -> bool:
        """True where tensors of the checkpoint could not be read: totals are of those that were."""
        return any(n.code in UNREAD for n in self.notes)

    @property
    def faults(self) -> tuple[str, ...]:
        """What makes the report incomplete, each in a line that names its file."""
        return tuple(f"{n.where}: {n.message}" if n.where else n.message for n in self.notes if n.code in UNESTABLISHED)
