"""What schemes see and say: groups of stored tensors, what is declared of them, claims."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from inspector.model.notes import Json, Note
from inspector.records import dataclass, field


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
