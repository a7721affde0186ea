"""Print and parse sizes and counts. GB is 10^9 bytes, GiB is 2^30; neither ever carries the other's name."""

from __future__ import annotations

_DECIMAL = ("B", "kB", "MB", "GB", "TB", "PB")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def gb(size: int) -> str:
    """Bytes in decimal units, three significant digits or more: 510,296,708,312 -> '510.30 GB'."""
    return _scaled(size, 1000, _DECIMAL)


def gib(size: int) -> str:
    """Bytes in binary units: 510,296,708,312 -> '475.25 GiB'."""
    return _scaled(size, 1024, _BINARY)


def both(size: int) -> str:
    """The two readings side by side: '510.30 GB (475.25 GiB)'."""
    return f"{gb(size)} ({gib(size)})" if abs(size) >= 1000 else gb(size)


def count(number: int) -> str:
    """A count in K, M, B (10^9) or T: 763,205,315,794 -> '763.21 B'."""
    for power, suffix in ((10**12, "T"), (10**9, "B"), (10**6, "M"), (10**3, "K")):
        if abs(number) >= power:
            return f"{number / power:.2f} {suffix}"
    return str(number)


def percent(part: int, whole: int) -> str:
    """A share: '54.6 %', '<0.1 %' for a trace, '>99.9 %' for all but a trace, '0 %' for none, '100 %' for all."""
    if not part or not whole:
        return "0 %"
    if part == whole:
        return "100 %"
    share = 100 * part / whole
    if 99.95 <= share < 100:
        return ">99.9 %"
    return "<0.1 %" if share < 0.05 else f"{share:.1f} %"


def _scaled(size: int, base: int, names: tuple[str, ...]) -> str:
    value, step = float(size), 0
    while abs(value) >= base and step < len(names) - 1:
        value /= base
        step += 1
    return f"{size} B" if step == 0 else f"{value:.2f} {names[step]}"
