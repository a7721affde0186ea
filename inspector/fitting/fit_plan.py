"""One placement of one model on given devices: what each holds, and whether a budget has room for it."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import Final

from inspector.fitting.engines import Engine
from inspector.fitting.parts import sharded_parts, staged_parts
from inspector.fitting.placement import Load, Stages, balanced, by_memory, even, sharded, stages
from inspector.model import Slice
from inspector.model.cache_model import Cache, LayerCache, UnknownCache
from inspector.model.fit_model import Hardware, Part, Placement, Workload
from inspector.records import dataclass, replace

_HELD: Final = {"tp": ("copied",), "ep": ("copied",), "dp": ("copied", "split", "kv_heads")}
"""What every rank holds whole, by placement."""
_MANY: Final = 1 << 40
"""More ranks than there are heads."""


@dataclass(frozen=True)
class Plan:
    """Resident slices and a cache on devices under one placement."""

    slices: tuple[Slice, ...]
    cache: Cache | UnknownCache
    placement: Placement
    devices: tuple[Hardware, ...]
    workload: Workload
    engine: Engine

    def over(self, devices: tuple[Hardware, ...]) -> Plan:
        """The same on other devices, with what was worked out of the layers alone: a search asks hundreds of counts."""
        other = replace(self, devices=devices)
        staged = ("_stages",) if self.placement in ("pp", "layers") else ()
        for name in ("weights", "_kinds", "_main_layers", "_pieces", "_known", "_drafts", *staged):
            other.__dict__[name] = getattr(self, name)
        return other

    @property
    def distinct(self) -> tuple[LayerCache, ...]:
        """The few distinct layers of the cache."""
        return self._kinds[0]

    @cached_property
    def weights(self) -> int:
        """Resident bytes, each counted once."""
        return sum(s.bytes for s in self.slices)

    def usable(self, budget: str) -> list[int]:
        """Bytes of each device that a budget allows."""
        count = len(self.devices)
        # By identity: a cluster has one value of each hardware, and to hash a row of data takes longer than all else.
        kinds = {id(hardware): hardware for hardware in self.devices}
        known = {key: self.engine.usable(budget, kind, count, self.workload) for key, kind in kinds.items()}
        return [known[id(hardware)] for hardware in self.devices]

    def loads(self, context: int, budget: str = "server") -> list[Load]:
        """What each device holds; whole layers are spread for that context and budget, as evenly as they go."""
        if self.placement not in ("pp", "layers"):
            return self._sharded
        if self.placement == "pp":
            return self._stages.loads(even(len(self._stages.layers), len(self.devices)))
        return self._stages.loads(balanced(self._sums(context), self._ends(context), self.usable(budget)))

    def holds(self, budget: str, context: int) -> bool:
        """Whether weights and the caches of `context` tokens are within a budget on every device."""
        usable = self.usable(budget)
        if self.placement == "layers":
            return by_memory(self._sums(context), self._ends(context), usable) is not None
        loads = self.loads(context)
        held = self.caches(loads, context) or [0] * len(loads)
        return all(x.weights + size <= room for x, size, room in zip(loads, held, usable, strict=True))

    def holds_weights(self, budget: str) -> bool:
        """Whether weights alone are within a budget on every device."""
        loads = self.loads(0, budget)
        return all(load.weights <= room for load, room in zip(loads, self.usable(budget), strict=True))

    def caches(self, loads: Sequence[Load], context: int) -> list[int] | None:
        """Bytes of cache on each device; None where the cache is unknown."""
        if not isinstance(self.cache, Cache):
            return None
        count, sequences = len(self.devices), self.workload.sequences
        if self.placement == "dp":
            each, more = divmod(sequences, count)
            whole = self._whole(context, 1)
            return [(each + (1 if rank < more else 0)) * whole for rank in range(count)]
        if self.placement in ("tp", "ep"):
            return [sequences * self._whole(context, count)] * count
        main = len(self._main_layers)
        kinds, of = self._kinds
        sizes = [x.bytes_at(context) for x in kinds]
        held = [sum((sizes[of[n]] for n in load.layers or () if n < main), Fraction(0)) for load in loads]
        held[-1] += self._draft(context)
        return [sequences * math.ceil(size) for size in held]

    def _whole(self, context: int, ranks: int) -> int:
        assert isinstance(self.cache, Cache)
        kinds, of = self._kinds
        counts = Counter(of)
        return math.ceil(sum((counts[at] * x.bytes_at(context, ranks) for at, x in enumerate(kinds)), Fraction(0)))

    def _draft(self, context: int) -> Fraction:
        """Draft layers' cache, which is on the last device."""
        return sum((x.bytes_at(context) for x in self._drafts), Fraction(0))

    @cached_property
    def _drafts(self) -> tuple[LayerCache, ...]:
        return tuple(x for x in self.cache.layers if x.draft) if isinstance(self.cache, Cache) else ()

    def _sums(self, context: int) -> list[int]:
        """Bytes of the first 0, 1, 2 … layers together, with their caches."""
        if context not in self._known:
            kinds, of = self._kinds
            caches = [self.workload.sequences * math.ceil(x.bytes_at(context)) for x in kinds]
            main = len(self._main_layers)
            costs = (size + (caches[of[n]] if n < main else 0) for n, size in self._stages.layers)
            self._known[context] = [0, *accumulate(costs)]
        return self._known[context]

    @cached_property
    def _known(self) -> dict[int, list[int]]:
        """What `_sums` has worked out."""
        return {}

    def _ends(self, context: int) -> list[int]:
        """Bytes that each device holds besides layers, with the cache of draft layers."""
        ends = self._stages.ends(len(self.devices))
        ends[-1] += self.workload.sequences * math.ceil(self._draft(context))
        return ends

    @cached_property
    def _kinds(self) -> tuple[tuple[LayerCache, ...], tuple[int, ...]]:
        """The few distinct layers, and which of them each layer is."""
        numbers: dict[LayerCache, int] = {}
        layers = self.cache.layers if isinstance(self.cache, Cache) else ()
        of = tuple(numbers.setdefault(layer, len(numbers)) for layer in layers)
        return tuple(numbers), of

    @cached_property
    def _main_layers(self) -> tuple[LayerCache, ...]:
        return tuple(x for x in self.cache.layers if not x.draft) if isinstance(self.cache, Cache) else ()

    @cached_property
    def _stages(self) -> Stages:
        return stages(self.slices, len(self._main_layers))

    @cached_property
    def _sharded(self) -> list[Load]:
        return sharded(self._pieces, self.placement, len(self.devices))

    @cached_property
    def _pieces(self) -> list[Slice]:
        sums: dict[Slice, int] = {}
        for piece, key in self._alike():
            sums[key] = sums.get(key, 0) + piece.bytes
        return [k._replace(bytes=n) for k, n in sums.items()]

    def _alike(self) -> Iterator[tuple[Slice, Slice]]:
        """Each slice with what all that share like it have in common: a few sums do instead of hundreds of slices.

        Layers share alike, with the KV heads in the layer's place; components do, but for memory tables.
        """
        heads = {at: n for at, layer in enumerate(self._main_layers) if (n := kv_heads(layer))}
        least = min(heads.values(), default=0)
        for piece in self.slices:
            at = heads.get(-1 if piece.layer is None else piece.layer, least) if piece.share == "kv_heads" else 0
            part = "memory" if piece.component == "memory" else ""
            yield piece, Slice(at, piece.share, part, 0, piece.experts)

    def parts(self, loads: Sequence[Load]) -> list[list[Part]]:
        """What each of these loads is made of."""
        if self.placement in ("pp", "layers"):
            return staged_parts(self.slices, loads, tied=len(loads) > 1 and self._stages.tied > 0)
        mixes: dict[Slice, Counter[str]] = {}
        for piece, key in self._alike():
            mixes.setdefault(key, Counter())[piece.component] += piece.bytes
        pieces = [(key._replace(bytes=mix.total()), mix) for key, mix in mixes.items()]
        return sharded_parts(pieces, self.placement, len(loads))

    def least_devices(self, budget: str, context: int) -> int | None:
        """A count of the first device below which it cannot hold, for a search to start at; None where none can.

        Whatever the count, a device has the copied bytes and the cache rows that no rank is spared.
        """
        unit = self.devices[0]
        room = max(self.engine.usable(budget, unit, count, self.workload) for count in (1, 2))
        held = _HELD.get(self.placement, ())
        fixed = sum(s.bytes for s in self._pieces if s.share in held and s.component != "memory")
        spread = self.weights - fixed
        if self.placement == "dp":
            fixed += self._whole(context, 1)
        elif held:
            fixed += self.workload.sequences * self._whole(context, _MANY)
        if room < fixed or (room == fixed and spread):
            return None
        return max(1, -(-spread // (room - fixed))) if spread else 1

    @property
    def most_devices(self) -> int:
        """The count beyond which another device takes nothing off the others."""
        if self.placement in ("pp", "layers"):
            return max(1, len(self._stages.layers))
        if self.placement == "dp":
            return max(1, self.workload.sequences, *(s.experts for s in self.slices))
        return max(1, *(s.bytes for s in self.slices)) if self.slices else 1


def kv_heads(layer: LayerCache) -> int:
    """KV heads of a layer that splits its cache by them; 0 where it does not."""
    return max((p.heads for p in layer.parts if p.sharding == "kv_heads"), default=0)


def blocked(placement: Placement, cache: Cache | UnknownCache, devices: int) -> str:
    """Why this many devices cannot share the model under tp or ep, in words; empty where they can.

    Attention heads must divide; KV heads must divide or be divided (vLLM `ModelConfig.verify_with_parallel_config`,
    QKVParallelLinear).
    """
    if placement not in ("tp", "ep") or devices == 1 or not isinstance(cache, Cache):
        return ""
    heads = cache.num_attention_heads
    if heads is not None and heads % devices:
        return f"{heads} heads over {devices} devices do not divide"
    for layer in dict.fromkeys(cache.layers):
        for part in layer.parts:
            if part.sharding == "kv_heads" and part.heads % devices and devices % part.heads:
                return f"{part.heads} KV heads over {devices} devices do not divide"
            if part.sharding == "heads" and part.heads % devices:
                return f"{part.heads} state heads over {devices} devices do not divide"
    return ""
