"""Hardware rows: from `hardware.toml` (measured), `hardware_nominal.toml` (marketed sizes) and a user's own file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Final

from inspector import toml_text
from inspector.errors import UsageError
from inspector.fitting.sizes import parse_size
from inspector.model import Json
from inspector.model.fit_model import KINDS, Hardware

_OWN: Final = "hardware.toml"
_NOMINAL: Final = "hardware_nominal.toml"
_BRANDS: Final = re.compile(r"^(nvidia|geforce|rtx|gtx|quadro|amd|radeon|rx|instinct|apple|intel|macstudio|macbookpro)")
_TEXTS: Final = ("name", "vendor", "source", "confidence", "rule", "variant_of")
_FLAGS: Final = ("nominal", "fp8", "fp4")
_KEYS: Final = frozenset({"id", "kind", "visible_bytes", "memory", "bandwidth_gbps", "aliases", *_TEXTS, *_FLAGS})
_LARGEST: Final = 1 << 50


def name_key(text: str) -> str:
    """What two spellings of one device share: 'NVIDIA H100 80 GB' and 'h100-80' give 'h10080'.

    Case, spaces, dashes, 'GB' after a number and brand words are dropped; a brand stays where no number follows
    (an RTX Spark is not a Spark).
    """
    key = re.sub(r"[^a-z0-9]", "", text.lower())
    key = re.sub(r"(?<=\d)gi?b(?!\d)", "", key)
    while True:
        rest = _BRANDS.sub("", key)
        if rest == key or not any(c.isdigit() for c in rest):
            return key
        key = rest


def load_hardware(extra: Path | None = None) -> tuple[Hardware, ...]:
    """Every row, a user's own file first: of two rows that share an id the earlier one counts.

    Raises `UsageError` naming the file, row and key where the user's file is wrong.
    """
    rows: dict[str, Hardware] = {}
    for row in (*(() if extra is None else user_hardware(extra)), *own_hardware(), *_shipped(_NOMINAL)):
        rows.setdefault(row.id, row)
    return tuple(rows.values())


def own_hardware() -> tuple[Hardware, ...]:
    """The rows with a source of their own, without the marketed sizes."""
    return _shipped(_OWN)


def user_hardware(path: Path) -> tuple[Hardware, ...]:
    """The `[[device]]` rows of a TOML file; `id` and `visible_bytes` (or `memory = "80 GiB"`) are enough."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(str(path), f"cannot be read ({error.strerror or error})", "Check the path.") from error
    except UnicodeDecodeError as error:
        raise UsageError(str(path), "is not UTF-8 text", "Save it as UTF-8.") from error
    except ValueError as error:
        raise UsageError(repr(str(path))[:200], "is no path", "Check it.") from error
    rows = _rows(toml_text.loads(text, str(path), "See docs/fit.md for an example."), str(path))
    if not rows:
        raise UsageError(str(path), "has no [[device]] rows", "See docs/fit.md for an example.")
    return rows


_SIZED: Final = re.compile(r"^(.*\S)[\s(-]*?(?<!\d)(\d{1,4})\s*gi?b?\s*\)?$", re.IGNORECASE)


def find_hardware(name: str, rows: Sequence[Hardware]) -> Hardware | None:
    """The row that a name, id or alias means, in any spelling; None where none does.

    A size after the name is as sold, so what the driver shows may be up to 15 % less: "RTX 5090 32GB".
    """
    found = _named(name, rows)
    sized = _SIZED.match(name) if found is None and len(name) <= 100 else None
    if sized is None:
        return found
    found, sold = _named(sized[1], rows), int(sized[2]) << 30
    return found if found is not None and 0.85 * sold <= found.visible_bytes <= 1.01 * sold else None


def _named(name: str, rows: Sequence[Hardware]) -> Hardware | None:
    key = name_key(name)
    return next((row for row in rows if key in _spellings(row)), None)


@lru_cache(maxsize=1024)
def _spellings(row: Hardware) -> frozenset[str]:
    """The keys of a row's names: one text is looked up several times, and a table has a cluster in every row."""
    return frozenset(name_key(n) for n in (row.id, row.name, *row.aliases))


def nearest(name: str, rows: Sequence[Hardware], limit: int = 5) -> tuple[str, ...]:
    """Ids of the rows whose names come closest: those that begin with it, then the similar ones."""
    key = name_key(name)
    ids = {spelling: row.id for row in reversed(rows) for n in (row.id, *row.aliases) for spelling in (name_key(n),)}
    begin = [row.id for row in rows if key and name_key(row.id).startswith(key)]
    import difflib

    close = [ids[k] for k in difflib.get_close_matches(key, ids, n=2 * limit, cutoff=0.5)]
    return tuple(dict.fromkeys([*begin, *close]))[:limit]


def _shipped(table: str) -> tuple[Hardware, ...]:
    text = (files("inspector.fitting") / table).read_text(encoding="utf-8")
    return _rows(toml_text.loads(text, table, ""), table)


def _rows(document: Mapping[str, Json], place: str) -> tuple[Hardware, ...]:
    entries = document.get("device", [])
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise UsageError(place, "device is not a list of tables", "Write each row under [[device]].")
    return tuple(_row(entry, f"{place}: device {number}") for number, entry in enumerate(entries, 1))


def _row(entry: Mapping[str, Json], place: str) -> Hardware:
    ident = entry.get("id")
    if not isinstance(ident, str) or not name_key(ident):
        raise UsageError(place, "has no id", 'Write id = "my-box".')
    place = f"{place} ({ident[:60]})"
    for key in entry:
        if key not in _KEYS:
            raise UsageError(place, f"has an unknown key {key[:60]!r}", f"Known: {', '.join(sorted(_KEYS))}.")
    texts = {k: _typed(entry, k, str, place) for k in _TEXTS if k in entry}
    flags = {k: _typed(entry, k, bool, place) for k in _FLAGS if k in entry}
    kind = entry.get("kind", "discrete")
    if kind not in KINDS:
        raise UsageError(place, f"kind is {str(kind)[:60]!r}", f"One of: {', '.join(KINDS)}.")
    aliases = entry.get("aliases", [])
    if not isinstance(aliases, list) or not all(isinstance(a, str) for a in aliases):
        raise UsageError(place, "aliases is not a list of names", 'Write aliases = ["box"].')
    bandwidth = entry.get("bandwidth_gbps")
    if bandwidth is not None and (isinstance(bandwidth, bool) or not isinstance(bandwidth, int | float)):
        raise UsageError(place, "bandwidth_gbps is not a number", "Write it in 10^9 bytes per second.")
    values = {"name": ident, **texts, **flags}
    return Hardware(
        id=ident,
        kind=kind,
        visible_bytes=_memory(entry, place),
        aliases=tuple(aliases),
        bandwidth_gbps=bandwidth,
        **values,
    )


def _memory(entry: Mapping[str, Json], place: str) -> int:
    value = entry.get("visible_bytes")
    if value is None and isinstance(entry.get("memory"), str):
        parsed = parse_size(entry["memory"])
        value = None if parsed is None else parsed.bytes
    if isinstance(value, bool) or not isinstance(value, int) or not 0 < value <= _LARGEST:
        advice = 'Write visible_bytes = 85520809984, or memory = "79.65 GiB".'
        raise UsageError(place, f"has no memory between 1 byte and {_LARGEST:,}", advice)
    return value


def _typed(entry: Mapping[str, Json], key: str, kind: type, place: str) -> Json:
    value = entry[key]
    if not isinstance(value, kind):
        raise UsageError(place, f"{key} is not a {kind.__name__}", "See docs/fit.md for an example.")
    return value
