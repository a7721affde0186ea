"""The values of a fit: hardware as it shows its memory, a cluster, what is asked of it, and the answer.

Bytes are ints, `None` is unknown. Nothing here computes more than a sum.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from inspector.records import dataclass, field

HardwareKind = Literal["discrete", "unified", "apple"]
Placement = Literal["tp", "pp", "ep", "dp", "layers"]
Answer = Literal["fits", "tight", "does_not_fit", "unknown"]

Part = tuple[str, int, int]
"""A component on one device: its name, its bytes there, and how many of these another device before it holds too."""

KINDS: tuple[HardwareKind, ...] = ("discrete", "unified", "apple")
PLACEMENTS: tuple[Placement, ...] = ("tp", "pp", "ep", "dp", "layers")
BUDGETS = ("raw", "tight", "server")


@dataclass(frozen=True, slots=True)
class Hardware:
    """One device. `visible_bytes` is what its driver or OS shows (Apple: the working-set limit), not the sticker.

    `nominal` is true where no driver figure is known and the marketed size stands in. `bandwidth_gbps` is 10^9 bytes
    per second. `fp8` and `fp4` say whether the silicon multiplies in that format. `rule` tells what the visible
    figure depends on, `variant_of` names the row that this one is another setting of.
    """

    id: str
    name: str
    kind: HardwareKind
    visible_bytes: int
    vendor: str = ""
    aliases: tuple[str, ...] = ()
    nominal: bool = False
    bandwidth_gbps: float | None = None
    fp8: bool | None = None
    fp4: bool | None = None
    source: str = ""
    confidence: str = ""
    rule: str = ""
    variant_of: str = ""


@dataclass(frozen=True, slots=True)
class Cluster:
    """Named hardware in numbers: `units` in the order written, `assumptions` about how the text was read."""

    units: tuple[tuple[int, Hardware], ...]
    assumptions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The cluster in one spelling: '2x rtx-4090 + 1x rtx-3090'."""
        return " + ".join(f"{count}x {hardware.id}" for count, hardware in self.units)

    @property
    def devices(self) -> tuple[Hardware, ...]:
        """Every single device, in order."""
        return tuple(hardware for count, hardware in self.units for _ in range(count))

    @property
    def visible_bytes(self) -> int:
        """What all devices show together."""
        return sum(count * hardware.visible_bytes for count, hardware in self.units)


@dataclass(frozen=True, slots=True)
class Workload:
    """What is asked: `context` tokens in each of `sequences`, and every assumption that the user overrides.

    `utilization` replaces an engine's fraction, `reserve` (bytes per device) all its reserves. `offload` maps a
    component to `host` or `disk`, `without` names components that are not loaded.
    """

    context: int = 8192
    sequences: int = 1
    kv_dtype: str | None = None
    engine: str | None = None
    placement: Placement | None = None
    utilization: float | None = None
    reserve: int | None = None
    offload: Mapping[str, Literal["host", "disk"]] = field(default_factory=lambda: MappingProxyType({}))
    without: tuple[str, ...] = ()
    with_draft: bool = False

    def __post_init__(self) -> None:
        # One form for one meaning: a kept report is found by what was asked.
        object.__setattr__(self, "offload", MappingProxyType(dict(self.offload)))


@dataclass(frozen=True, slots=True)
class Budget:
    """What may be used of a cluster, together; `headroom_bytes` is what resident weights leave of it (may be < 0).

    `max_context` is per sequence and decided by the worst device: 0 where not one token fits, None where the cache
    is unknown. Both are None where not all weights are known.
    """

    name: str
    usable_bytes: int
    headroom_bytes: int | None
    max_context: int | None


@dataclass(frozen=True, slots=True)
class Device:
    """One device under the server budget: `usable_bytes` - `weights` - `cache` = `free`, which may be negative.

    `replicated_bytes` are those of `weights` that a device before it holds too, `overhead` is what the budget keeps
    back of the visible memory. `cache` and `free` are None where the cache is unknown. `longer` are (tokens, bytes of
    cache) for 8,192, 131,072 and the largest context, where that is more than asked and still fits. `parts` sum to
    `weights` and `replicated_bytes`, the largest first; empty in a survey of many machines.
    """

    name: str
    usable_bytes: int
    weights: int
    replicated_bytes: int
    cache: int | None
    overhead: int
    free: int | None
    longer: tuple[tuple[int, int], ...] = ()
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True)
class Fit:
    """The answer for one cluster; `headroom_bytes` and `max_context` are the server budget's.

    `min_units` is the smallest count of the same unit that holds the asked context under the server budget, None
    where none up to the search's end does (said in `assumptions`). `stops_at` is the first context that does not
    even fit the tight budget, 0 where weights alone do not, None where the model's own limit comes first. `blocked`
    says why the placement is impossible. `devices` is empty where no weight is known.
    """

    cluster: str
    engine: str
    placement: Placement
    context: int
    sequences: int
    kv_dtype: str | None
    verdict: Answer
    budgets: tuple[Budget, ...]
    devices: tuple[Device, ...]
    min_units: int | None
    stops_at: int | None
    assumptions: tuple[str, ...]
    blocked: str = ""

    @property
    def headroom_bytes(self) -> int | None:
        """The server budget's headroom."""
        return self.budget("server").headroom_bytes

    @property
    def max_context(self) -> int | None:
        """The server budget's maximum context."""
        return self.budget("server").max_context

    def budget(self, name: str) -> Budget:
        """One of the three budgets by name."""
        return next(b for b in self.budgets if b.name == name)
