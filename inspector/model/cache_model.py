"""What one sequence's context costs in memory: frozen values, exact fractions, bytes rounded up once at the end."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from inspector.records import dataclass

Sharding = Literal["kv_heads", "heads", "replicated"]


@dataclass(frozen=True, slots=True)
class CachePart:
    """One kind of memory that a layer keeps for one sequence.

    `row_bytes` are bytes per cached token; with `window` at most that many tokens are held. `state_bytes` do not
    depend on the length. `sharding` says what tensor parallelism does: `kv_heads` and `heads` split by `heads`
    (KV heads are duplicated beyond their number), `replicated` is a full copy on every rank.
    """

    name: str
    row_bytes: Fraction = Fraction(0)
    window: int | None = None
    state_bytes: Fraction = Fraction(0)
    sharding: Sharding = "replicated"
    heads: int = 1

    @property
    def bytes_per_token(self) -> Fraction:
        """Growth per token beyond any window."""
        return Fraction(0) if self.window is not None else self.row_bytes

    @property
    def fixed_bytes(self) -> Fraction:
        """State plus the full window."""
        return self.state_bytes + (self.row_bytes * self.window if self.window is not None else 0)

    def bytes_at(self, tokens: int) -> Fraction:
        """Bytes held after `tokens` tokens; a window shorter than that is full."""
        held = tokens if self.window is None else min(tokens, self.window)
        return self.state_bytes + self.row_bytes * held

    def rank_share(self, ranks: int) -> Fraction:
        """The fraction that the fullest of `ranks` tensor-parallel ranks holds: 1 where every rank keeps a copy."""
        if self.sharding == "replicated":
            return Fraction(1)
        return Fraction(-(-self.heads // ranks), self.heads)


@dataclass(frozen=True, slots=True)
class LayerCache:
    """One layer: `family` names its attention design, `draft` is true for a draft (MTP) layer."""

    family: str
    parts: tuple[CachePart, ...] = ()
    draft: bool = False

    @property
    def bytes_per_token(self) -> Fraction:
        """Growth per token."""
        return sum((p.bytes_per_token for p in self.parts), Fraction(0))

    @property
    def fixed_bytes(self) -> Fraction:
        """Full windows and states."""
        return sum((p.fixed_bytes for p in self.parts), Fraction(0))

    @property
    def window(self) -> int | None:
        """The longest window of the layer, None where it has none."""
        return max((p.window for p in self.parts if p.window is not None), default=None)

    def bytes_at(self, tokens: int, ranks: int = 1) -> Fraction:
        """Bytes after `tokens` tokens, on the fullest of `ranks` tensor-parallel ranks."""
        return sum((p.bytes_at(tokens) * p.rank_share(ranks) for p in self.parts), Fraction(0))


@dataclass(frozen=True, slots=True)
class Cache:
    """The cache of one sequence, minimal: no page rounding, windows full in `fixed_bytes`.

    `layers` are in the model's order, draft layers last. `max_positions` bounds the context (None: not stated).
    """

    layers: tuple[LayerCache, ...]
    kv_dtype: str
    kv_dtype_reason: str
    state_dtype: str
    conv_dtype: str
    max_positions: int | None
    num_attention_heads: int | None

    @property
    def bytes_per_token(self) -> Fraction:
        """Growth per token of all layers; may be a fraction (DeepSeek-V4-Flash: 3850.25)."""
        return sum((x.bytes_per_token for x in self.layers), Fraction(0))

    @property
    def fixed_bytes(self) -> int:
        """Bytes per sequence that do not grow, once windows are full."""
        return math.ceil(sum((x.fixed_bytes for x in self.layers), Fraction(0)))

    def bytes_at(self, tokens: int, ranks: int = 1) -> int:
        """Bytes of one sequence of `tokens` tokens, on the fullest of `ranks` tensor-parallel ranks."""
        return math.ceil(sum((x.bytes_at(tokens, ranks) for x in self.layers), Fraction(0)))

    @property
    def families(self) -> tuple[tuple[str, int], ...]:
        """Number of layers per family, in order of first appearance."""
        found: dict[str, int] = {}
        for layer in self.layers:
            found[layer.family] = found.get(layer.family, 0) + 1
        return tuple(found.items())


@dataclass(frozen=True, slots=True)
class UnknownCache:
    """Why no figure is given: `where` is the config key that decides, or empty."""

    reason: str
    where: str = ""
