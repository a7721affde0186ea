"""What headers say: tensors, headers, indexes, and the checkpoint they make."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, overload

from inspector.model.listing import Listing, Selection
from inspector.model.notes import UNESTABLISHED, UNREAD, Json, Note
from inspector.records import dataclass, field


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


class WeightMap(Mapping[str, str]):
    """The `weight_map` of an index that says what `headers` (of one `folder`) say: made when somebody looks into it."""

    __slots__ = ("_made", "folder", "headers")

    def __init__(self, headers: tuple[Header, ...], folder: str) -> None:
        self.headers, self.folder = headers, folder
        self._made: dict[str, str] | None = None

    @property
    def shards(self) -> frozenset[str]:
        """The files that it names, as it names them."""
        cut = len(self.folder) + 1 if self.folder else 0
        return frozenset(h.file[cut:] for h in self.headers)

    def __getitem__(self, name: str) -> str:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return sum(len(h.tensors) for h in self.headers)

    def _all(self) -> dict[str, str]:
        if self._made is None:
            cut = len(self.folder) + 1 if self.folder else 0
            self._made = {name: h.file[cut:] for h in self.headers for name in h.names}
        return self._made


@dataclass(frozen=True, slots=True)
class ShardIndex:
    """A `*.safetensors.index.json`: `weight_map` tensor -> file, `total_size` as it claims (None if absent)."""

    file: str
    weight_map: Mapping[str, str]
    total_size: int | None

    @property
    def shards(self) -> frozenset[str]:
        """The files that it names."""
        return self.weight_map.shards if isinstance(self.weight_map, WeightMap) else frozenset(self.weight_map.values())


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
