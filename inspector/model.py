"""The values that cross a layer: frozen, no functions but derived properties, bytes are ints, `None` is unknown.

`TensorInfo` and `Stored` are named tuples, not dataclasses: Kimi-K3 has 497,220 tensors and building a frozen
dataclass costs six times as much as building a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, overload

if TYPE_CHECKING:
    from inspector.cache_model import Cache
    from inspector.fit_model import Fit

Json = Any
"""A decoded JSON value."""

COMPONENTS = (
    "routed_experts",
    "shared_experts",
    "attention",
    "recurrent",
    "mlp",
    "router",
    "embedding",
    "head",
    "norm",
    "memory",
    "vision",
    "audio",
    "draft",
    "other",
)
"""The parts of a model, by their contract names; every stored tensor belongs to exactly one."""

Verdict = Literal["yes", "partly", "no", "unknown"]

ALL = "all"
"""The variant that stands for every set of a menu: all headers are read, the figures are the default's."""


@dataclass(frozen=True, slots=True)
class Ref:
    """What was inspected: `repo` as the source names it, `revision` the commit sha (None for local files)."""

    repo: str
    revision: str | None
    kind: Literal["model", "dataset", "space", "local", "url"] = "model"


@dataclass(frozen=True, slots=True)
class File:
    """One file of a listing: `path` with `/`, `size` in bytes, `content_id` (sha256 of LFS content, else git oid).

    `pointer` is true for a Git LFS pointer on disk: `size` is then the size that the pointer states. `holds` is the
    weight format that its first bytes show, where its name shows none.
    """

    path: str
    size: int | None
    content_id: str | None = None
    pointer: bool = False
    holds: str | None = None

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def folder(self) -> str:
        """The path without its last part; empty at the root."""
        return self.path.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Listing:
    """All files of one revision, and what the Hub itself claims about them (`{dtype: count}` and total)."""

    ref: Ref
    files: tuple[File, ...]
    hub_parameters: Mapping[str, int] | None = None
    hub_total: int | None = None
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader must know: `code` is stable, `where` names a file, tensor or key."""

    code: str
    message: str
    where: str = ""


UNESTABLISHED = frozenset(
    {
        "unread_file",
        "unreadable_document",
        "lfs_pointer",
        "truncated",
        "missing_shard",
        "format_not_read",
        "nothing_loadable",
        "listing_cut",
    }
)
"""Codes of notes that leave something of a checkpoint unknown: the report is incomplete, the exit status 3."""

UNREAD = frozenset({"unread_file", "lfs_pointer", "missing_shard", "format_not_read"})
"""Those of them that leave tensors out: totals are of what was read, parameters are unknown."""


class TensorInfo(NamedTuple):
    """One stored tensor as its header states it. Bytes are `end - start`, never shape x dtype."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    file: str
    start: int
    end: int

    @property
    def nbytes(self) -> int:
        """Stored bytes."""
        return self.end - self.start


class Alike(Sequence[TensorInfo]):
    """The tensors of a file whose header is another's but for one prefix of all names (`layers.3.`, `layers.4.`).

    They are made when somebody looks at them: `model` are the other's, `old` and `own` the prefixes.
    """

    __slots__ = ("file", "model", "old", "own")

    def __init__(self, model: tuple[TensorInfo, ...], old: str, own: str, file: str) -> None:
        self.model, self.old, self.own, self.file = model, old, own, file

    def __len__(self) -> int:
        return len(self.model)

    def __iter__(self) -> Iterator[TensorInfo]:
        cut, own, file, new = len(self.old), self.own, self.file, tuple.__new__
        for t in self.model:
            yield new(TensorInfo, (own + t[0][cut:], t[1], t[2], file, t[4], t[5]))

    @overload
    def __getitem__(self, at: int) -> TensorInfo: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[TensorInfo, ...]: ...
    def __getitem__(self, at: int | slice) -> TensorInfo | tuple[TensorInfo, ...]:
        return tuple(self)[at]

    def names(self) -> list[str]:
        """The names alone."""
        cut, own = len(self.old), self.own
        return [own + t[0][cut:] for t in self.model]


@dataclass(frozen=True, slots=True)
class Header:
    """One file's header. `length` counts the bytes before the tensor data, `file_size` the whole file."""

    file: str
    length: int
    file_size: int | None
    tensors: Sequence[TensorInfo]
    metadata: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    notes: tuple[Note, ...] = ()

    @property
    def tensor_bytes(self) -> int:
        """Sum of the tensors' stored bytes."""
        return sum([t[5] - t[4] for t in self.decoded])

    @property
    def decoded(self) -> Sequence[TensorInfo]:
        """The tensors whose dtypes, shapes and offsets these are: another file's where the header is like its."""
        return self.tensors.model if isinstance(self.tensors, Alike) else self.tensors

    @property
    def names(self) -> list[str]:
        """The names of the tensors."""
        return self.tensors.names() if isinstance(self.tensors, Alike) else [t[0] for t in self.tensors]


@dataclass(frozen=True, slots=True)
class ShardIndex:
    """A `*.safetensors.index.json`: `weight_map` tensor -> file, `total_size` as it claims (None if absent)."""

    file: str
    weight_map: Mapping[str, str]
    total_size: int | None


@dataclass(frozen=True, slots=True)
class Excluded:
    """A file (or a folder's files of one reason) that is in the repo and not in the checkpoint."""

    path: str
    bytes: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Part:
    """One loadable module set: the whole of a plain repo (`folder` ''), or one component of a pipeline.

    `files` are weight files, `index` the path of its shard index, `configs` the paths of its config files. `joined` is
    true where the files are raw pieces of one file: only the first has a header.
    """

    folder: str
    files: tuple[File, ...]
    index: str | None = None
    configs: tuple[str, ...] = ()
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Selection:
    """The one loadable set and the ledger: chosen + excluded + other = all files of the listing."""

    format: str
    variant: str | None
    parts: tuple[Part, ...]
    excluded: tuple[Excluded, ...]
    other: tuple[File, ...]
    kind: str = "model"
    menu: tuple[Variant, ...] = ()
    notes: tuple[Note, ...] = ()

    @property
    def files(self) -> tuple[File, ...]:
        """All chosen weight files."""
        return tuple(f for part in self.parts for f in part.files)


@dataclass(frozen=True, slots=True)
class Variant:
    """One of several equal sets of a repo. `derived` is true where figures are inferred, not read.

    `missing` counts files of the set that are not there: it has no figures then.
    """

    name: str
    files: tuple[File, ...]
    default: bool = False
    tensor_bytes: int | None = None
    parameters: int | None = None
    derived: bool = False
    missing: int = 0

    @property
    def file_bytes(self) -> int | None:
        """Sum of the file sizes, None where one is unknown or a file is missing."""
        sizes = [f.size for f in self.files]
        return None if self.missing or None in sizes else sum(s for s in sizes if s is not None)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A validated set of headers with the documents (parsed JSON by path) that speak about it."""

    listing: Listing
    selection: Selection
    headers: tuple[Header, ...]
    documents: Mapping[str, Json]
    indexes: tuple[ShardIndex, ...]
    notes: tuple[Note, ...]

    @property
    def incomplete(self) -> bool:
        """True where a file could not be read, or contradicts itself."""
        return any(n.code in UNESTABLISHED for n in self.notes)

    @property
    def unread(self) -> bool:
        """True where tensors of the checkpoint are not among the headers."""
        return any(n.code in UNREAD for n in self.notes)


@dataclass(frozen=True, slots=True)
class Precision:
    """What numbers are: `name` (`bf16`, `fp8_e4m3`, `fp4_e2m1`, `int4`, `Q4_K` ...), nominal `bits` each.

    `block` is the number of weights that share one scale, as (rows, columns); None without scales.
    """

    name: str
    bits: float
    block: tuple[int, int] | None = None

    @property
    def quantised(self) -> bool:
        """Nominal precision below 16 bits."""
        return self.bits < 16


class Stored(NamedTuple):
    """One tensor of a group, without its name."""

    dtype: str
    shape: tuple[int, ...]
    nbytes: int

    @property
    def elements(self) -> int:
        """Product of the stored shape; 1 for a scalar."""
        n = 1
        for d in self.shape:
            n *= d
        return n


@dataclass(frozen=True, slots=True)
class Declared:
    """What config files say of one module: a witness, never the judge.

    `method` is the quant_method (None: nothing declared), `excluded` true where the config says "not this
    module", `where` names the file and key. `entry` is the method's own object for this module.
    """

    method: str | None = None
    excluded: bool = False
    bits: int | None = None
    group: int | None = None
    where: str = ""
    entry: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}), compare=False, hash=False)


@dataclass(frozen=True, slots=True)
class Group:
    """Stored tensors that share a base name: role suffix (`.weight`, `.scale`, `_blocks`) -> tensor."""

    base: str
    tensors: Mapping[str, Stored]
    declared: Declared
    metadata: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}), compare=False, hash=False)


@dataclass(frozen=True, slots=True)
class Claim:
    """One scheme's reading of (some of) a group's tensors.

    `parameters` counts logical weights; `payload` and `overhead` are the roles claimed, disjoint. A claim without
    a payload has `precision` None and 0 parameters: lookup tables, buffers, scales that serve no weight.
    """

    scheme: str
    precision: Precision | None
    parameters: int
    payload: tuple[str, ...]
    overhead: tuple[str, ...] = ()
    shape: tuple[int, ...] | None = None
    evidence: str = ""
    notes: tuple[Note, ...] = ()


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
class Progress:
    """How far one inspection is: `stage` in words, files `done` of `total`, body bytes so far, and what is not in yet.

    `waiting` are names, the one asked for first in front.
    """

    stage: str
    done: int
    total: int
    bytes: int
    waiting: tuple[str, ...] = ()


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


class Source(Protocol):
    """The one seam for bytes: a listing with sizes, and ranges of its files. All methods are thread-safe.

    Every method raises `SourceError` when bytes cannot be had; none ever returns bytes other than those asked.
    """

    @property
    def jobs(self) -> int:
        """How many files are worth reading at once."""
        ...

    def listing(self) -> Listing:
        """All files of the resolved revision; the same value however often it is asked."""
        ...

    def stream(self, path: str, start: int, length: int, feed: Callable[[bytes], bool]) -> int:
        """Hand bytes `start..start+length` (clipped at the end of the file) to `feed` in order, in chunks.

        Stops reading as soon as `feed` returns True. Returns how many bytes were handed over.
        """
        ...

    def small(self, path: str) -> bytes:
        """The whole of a small text file: config, index."""
        ...

    def cost(self) -> Cost:
        """Requests and body bytes so far (`weight_bytes_read` is the caller's to fill)."""
        ...

    def close(self) -> None:
        """Give back connections and file handles."""
        ...
