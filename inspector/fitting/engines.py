"""Serving engines as rows of `engines.toml`: what each takes of a device, and how it stores a cache."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Final

from inspector.errors import UsageError
from inspector.fitting.sizes import parse_size
from inspector.model import Json
from inspector.model.fit_model import KINDS, Cluster, Hardware, HardwareKind, Placement, Workload
from inspector.records import dataclass, replace
from inspector.units import gib

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DEFAULT: Final = "vllm"
_OF_FORMAT: Final = {"gguf": "llama.cpp"}
_ALIASES: Final = {
    "llamacpp": "llama.cpp",
    "llama-cpp": "llama.cpp",
    "trtllm": "tensorrt-llm",
    "trt-llm": "tensorrt-llm",
}


@dataclass(frozen=True, slots=True)
class Take:
    """What one budget takes of one kind of device: `fraction` x visible less a reserve in bytes.

    `upto` bounds the device that the row is for, in bytes; None for any.
    """

    budget: str
    kind: HardwareKind
    fraction: Fraction
    reserve_one: int
    reserve_more: int
    upto: int | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine: default placement, cache formats it has, budgets.

    `borrowed` are the kinds of device for which `takes` are the default engine's. `state_dtype`
    and `conv_dtype` are its own for recurrent and convolution state, None where the config decides. It may divide
    latent rows over ranks where `context_parallel`.
    """

    name: str
    placement: Placement
    state_dtype: str | None
    conv_dtype: str | None
    cache_formats: tuple[str, ...]
    takes: tuple[Take, ...]
    source: str
    borrowed: tuple[HardwareKind, ...] = ()
    context_parallel: bool = False

    def usable(self, budget: str, hardware: Hardware, devices: int, workload: Workload) -> int:
        """Bytes of one device that `budget` allows for weights and cache; `raw` is all that is visible.

        `workload.utilization` replaces the fraction, `workload.reserve` the reserve. Never negative.
        """
        if budget == "raw":
            return hardware.visible_bytes
        offers = [_offer(take, hardware.visible_bytes, devices, workload) for take in self.rows(budget, hardware.kind)]
        return max(0, *offers)

    def rows(self, budget: str, kind: HardwareKind) -> tuple[Take, ...]:
        """The rows of a budget for a kind of device; the default engine's where this one has none."""
        return tuple(t for t in self.takes if t.budget == budget and t.kind == kind)

    def covers(self, kind: HardwareKind) -> bool:
        """Whether the engine has figures of its own for this kind of device."""
        return kind not in self.borrowed

    def told(self, budget: str, hardware: Hardware, devices: int, workload: Workload) -> str:
        """A budget of one device in words: '0.85 x 121.69 GiB - 7.60 GiB (1.0 GiB ..., 6 GiB ...)'."""
        rows = self.rows(budget, hardware.kind)
        take = max(rows, key=lambda t: _offer(t, hardware.visible_bytes, devices, workload))
        fraction = take.fraction if workload.utilization is None else Fraction(str(workload.utilization))
        reserve = _reserve(take, devices, workload)
        words = "as asked" if workload.reserve is not None else take.words
        return f"{float(fraction):g} x {gib(hardware.visible_bytes)} - {gib(reserve)} ({words})"


@cache
def engines() -> tuple[Engine, ...]:
    """Every engine, the default first."""
    document = tomllib.loads((files("inspector.fitting") / "engines.toml").read_text(encoding="utf-8"))
    first, *others = [_engine(row) for row in document["engine"]]
    return first, *[_completed(engine, first) for engine in others]


def _completed(engine: Engine, default: Engine) -> Engine:
    missing = tuple(kind for kind in KINDS if not any(t.kind == kind for t in engine.takes))
    takes = (*engine.takes, *[t for t in default.takes if t.kind in missing])
    return replace(engine, takes=takes, borrowed=missing)


def engine_named(name: str) -> Engine:
    """The engine of that name. Raises `UsageError` with the nearest names."""
    key = name.strip().lower()
    rows = {engine.name: engine for engine in engines()}
    found = rows.get(_ALIASES.get(key, key))
    if found is None:
        import difflib

        near = difflib.get_close_matches(key, rows, n=2)
        advice = f"Did you mean {' or '.join(near)}?" if near else f"Known: {', '.join(rows)}."
        raise UsageError("--engine", f"{name[:60]!r} is not a known engine", advice)
    return found


def choose_engine(asked: str | None, weight_format: str, cluster: Cluster) -> tuple[Engine, str]:
    """The engine asked for, else llama.cpp for GGUF, mlx on Apple, vllm elsewhere; with the reason in words."""
    if asked is not None:
        return engine_named(asked), "as asked"
    if weight_format in _OF_FORMAT:
        return engine_named(_OF_FORMAT[weight_format]), f"the default for {weight_format.upper()}"
    if all(hardware.kind == "apple" for _, hardware in cluster.units):
        return engine_named("mlx"), "the default on Apple"
    return engine_named(DEFAULT), "the default"


def _offer(take: Take, visible: int, devices: int, workload: Workload) -> int:
    fraction = take.fraction if workload.utilization is None else Fraction(str(workload.utilization))
    size = visible if take.upto is None else min(visible, take.upto)
    return math.floor(size * fraction) - _reserve(take, devices, workload)


def _reserve(take: Take, devices: int, workload: Workload) -> int:
    if workload.reserve is not None:
        return workload.reserve
    return take.reserve_one if devices == 1 else take.reserve_more


def _engine(row: Mapping[str, Json]) -> Engine:
    return Engine(
        row["name"],
        row["placement"],
        row.get("state_dtype"),
        row.get("conv_dtype"),
        tuple(row["cache_formats"]),
        tuple(_take(t) for t in row["budgets"]),
        row["source"],
        context_parallel=row.get("context_parallel", False),
    )


def _take(row: Mapping[str, Json]) -> Take:
    return Take(
        row["budget"],
        row["kind"],
        Fraction(str(row["fraction"])),
        _bytes(row["reserve_one"]),
        _bytes(row["reserve_more"]),
        _bytes(row["upto"]) if "upto" in row else None,
        row["words"],
    )


def _bytes(text: str) -> int:
    size = parse_size(text)
    if size is None:
        raise ValueError(f"engines.toml: {text!r} is not a size")
    return size.bytes
