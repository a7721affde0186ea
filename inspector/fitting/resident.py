"""Which bytes must be on the devices: all that ships, less what is left out, kept on the host or read from disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from inspector.errors import UsageError
from inspector.model import COMPONENTS, Slice
from inspector.model.fit_model import Cluster, Workload
from inspector.records import dataclass

MAX_TOKENS = 1 << 40


@dataclass(frozen=True, slots=True)
class Resident:
    """The slices that stay, and bytes by component that are left out, on the host (`shared`: in the same pool)."""

    slices: tuple[Slice, ...]
    without: Mapping[str, int]
    host: Mapping[str, int]
    shared: Mapping[str, int]
    disk: Mapping[str, int]


def resident(slices: Sequence[Slice], cluster: Cluster, workload: Workload) -> Resident:
    """What is resident on the cluster. Host memory of unified machines is the same pool, so there it stays."""
    check(workload)
    unified = any(hardware.kind != "discrete" for _, hardware in cluster.units)
    kept: list[Slice] = []
    without: dict[str, int] = dict.fromkeys(workload.without, 0)
    places: dict[str, dict[str, int]] = {"host": {}, "shared": {}, "disk": {}}
    for part, where in workload.offload.items():
        places["shared" if where == "host" and unified else where][part] = 0
    for piece in slices:
        if piece.component in without:
            without[piece.component] += piece.bytes
            continue
        sent = workload.offload.get(piece.component)
        if sent is not None:
            place = "shared" if sent == "host" and unified else sent
            places[place][piece.component] += piece.bytes
            if place != "shared":
                continue
        kept.append(piece)
    proxies = [MappingProxyType(m) for m in (without, places["host"], places["shared"], places["disk"])]
    return Resident(tuple(kept), *proxies)


def check(workload: Workload) -> None:
    """Raise `UsageError` where options contradict each other or are out of range."""
    for flag, value in (("--context", workload.context), ("--sequences", workload.sequences)):
        if not 1 <= value <= MAX_TOKENS:
            raise UsageError(flag, f"is {value:,}, outside 1 to {MAX_TOKENS:,}", "Write a whole number of 1 or more.")
    if workload.utilization is not None and not 0 < workload.utilization <= 1:
        raise UsageError("--utilization", f"is {workload.utilization:g}, outside 0 to 1", "Write a fraction like 0.85.")
    if workload.reserve is not None and workload.reserve < 0:
        raise UsageError("--reserve", f"is {workload.reserve:,} bytes", "Write a size like 4GiB.")
    for flag, names in (("--without", workload.without), ("--offload", tuple(workload.offload))):
        for name in names:
            if name not in COMPONENTS:
                import difflib

                near = difflib.get_close_matches(name, COMPONENTS, n=2)
                advice = f"Did you mean {' or '.join(near)}?" if near else f"Parts: {', '.join(COMPONENTS)}."
                raise UsageError(flag, f"{name[:60]!r} is not a part of a model", advice)
    both = sorted(set(workload.without) & set(workload.offload))
    if both:
        raise UsageError("--offload", f"{both[0]} is also left out by --without", "Choose one of the two.")
    if workload.with_draft and "draft" in workload.without:
        raise UsageError("--with-draft", "draft is also left out by --without", "Choose one of the two.")


def parse_offload(values: Sequence[str]) -> dict[str, str]:
    """`PART=host|disk` as written on the command line. Raises `UsageError`."""
    found: dict[str, str] = {}
    for value in values:
        part, _, where = value.partition("=")
        part, where = part.strip(), where.strip().lower()
        if where not in ("host", "disk"):
            raise UsageError("--offload", f"{value[:60]!r} does not say where", "Write it like memory=disk or =host.")
        if found.setdefault(part, where) != where:
            raise UsageError("--offload", f"{part[:60]} is sent to host and to disk", "Choose one of the two.")
    return found
