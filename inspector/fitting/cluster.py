"""Read a cluster as people write it: '2x dgx-spark', '8 x H200', 'h200', '256GB', '2x rtx-4090 + 1x rtx-3090'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from inspector.errors import UsageError
from inspector.fitting.hardware import find_hardware, load_hardware, name_key, nearest
from inspector.fitting.sizes import parse_size
from inspector.model.fit_model import Cluster, Hardware
from inspector.units import both

MAX_DEVICES: Final = 4096
_FLAG: Final = "--cluster"
_COUNT: Final = re.compile(r"^([-+]?\d+(?:\.\d+)?)\s*[x×*]\s*(\S.*)$", re.IGNORECASE)
_AFTER: Final = re.compile(r"^(\S.*?)\s+[x×*]\s*([-+]?\d+)$", re.IGNORECASE)
_PLUS: Final = re.compile(r"\s+\+\s+|\s*\+\s*(?=\d+\s*[x×*])")


def parse_cluster(text: str, rows: Sequence[Hardware] | None = None) -> Cluster:
    """The cluster that `text` names among `rows` (by default those shipped).

    Bare memory is one discrete device, decimal unless GiB is written. Raises `UsageError` for unknown names (with
    the nearest ones), for no units and for more than 4,096.
    """
    known = load_hardware() if rows is None else rows
    shown = text.strip()
    if not shown:
        raise UsageError(_FLAG, "is empty", _EXAMPLE)
    units: list[tuple[int, Hardware]] = []
    assumptions: list[str] = []
    parts = [shown] if find_hardware(shown, known) else _PLUS.split(shown)
    if len(parts) == 1 and shown.endswith(" +"):
        raise UsageError(_FLAG, f"{shown[:60]!r} has nothing after its plus", _EXAMPLE)
    for part in parts:
        count, hardware = _unit(part.strip(), known)
        units.append((count, hardware))
        assumptions += [a for a in _read_as(part.strip(), hardware) if a not in assumptions]
    total = sum(count for count, _ in units)
    if total > MAX_DEVICES:
        raise UsageError(_FLAG, f"{shown[:60]!r} is {total:,} devices, more than {MAX_DEVICES:,}", "Name fewer.")
    return Cluster(tuple(units), tuple(assumptions))


def count_only(text: str) -> bool:
    """True for a count without hardware ('2x'), which takes the next word of a command line."""
    return re.fullmatch(r"\s*[-+]?\d+\s*[x×*]\s*", text, re.IGNORECASE) is not None


_EXAMPLE: Final = 'Write it like "2x dgx-spark"; `inspect hardware` lists names.'


def _unit(part: str, rows: Sequence[Hardware]) -> tuple[int, Hardware]:
    whole = find_hardware(part, rows) or _memory(part)
    if whole is not None:
        return 1, whole
    found = _COUNT.match(part)
    after = _AFTER.match(part) if found is None else None
    if found is None and after is None:
        raise _unknown(part, rows)
    number, name = (found[1], found[2]) if found is not None else (after[2], after[1]) if after else ("", "")
    if not number.isdigit() or not 0 < int(number[:9]) <= MAX_DEVICES or len(number) > 9:
        message = f"{part[:60]!r} asks for {number[:20]} units, not a whole number from 1 to {MAX_DEVICES:,}"
        raise UsageError(_FLAG, message, _EXAMPLE)
    hardware = find_hardware(name, rows) or _memory(name)
    if hardware is None:
        raise _unknown(name, rows)
    return int(number), hardware


def _memory(text: str) -> Hardware | None:
    size = parse_size(text)
    if size is None:
        return None
    if size.bytes <= 0 or size.bytes >= 1 << 50:
        raise UsageError(_FLAG, f"{text[:60]!r} is not a size between 1 byte and 1 PiB", "Write it like 256GB.")
    name = re.sub(r"\s+", "", text)
    return Hardware(name, name, "discrete", size.bytes, source="as written", confidence="given")


def _read_as(part: str, hardware: Hardware) -> list[str]:
    if hardware.confidence == "given" and not hardware.source.endswith(".toml"):
        binary = hardware.name[-2:-1].lower() == "i"
        unit = "binary (2^30 per GiB)" if binary else "decimal (10^9 per GB)"
        return [f"{hardware.name} is read as {unit}: one discrete device of {hardware.visible_bytes:,} bytes"]
    if hardware.nominal:
        size = both(hardware.visible_bytes)
        return [f"{hardware.id}: nominal {size}, no driver figure known; drivers show 0 to 7 % less"]
    return []


def _unknown(name: str, rows: Sequence[Hardware]) -> UsageError:
    near = nearest(name, rows)
    shown = name if len(name) <= 60 else name[:57] + "..."
    if not near or not name_key(name):
        return UsageError(_FLAG, f"{shown!r} is not known hardware", _EXAMPLE)
    return UsageError(_FLAG, f"{shown!r} is not known hardware", f"Nearest: {', '.join(near)}. {_LIST}")


_LIST: Final = "`inspect hardware` lists all."
