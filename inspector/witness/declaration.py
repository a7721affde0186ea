"""What one place in a config file says about quantisation, and how a dialect answers for one module.

A `Spoken` is the raw object with its place; a dialect turns it into `Rules`; `Declaration` is what the rest of the
package reads. Values that are not what a key may hold become notes and None, never a guess.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from inspector.model import Declared, Json, Note
from inspector.records import dataclass, field

EMPTY: Final[Mapping[str, Json]] = MappingProxyType({})
_WORD_BITS: Final = 64


@dataclass(frozen=True, slots=True)
class Spoken:
    """One object that declares quantisation: canonical `method` (None: it names none), `where`, `body`.

    `metadata` are the headers' own string pairs, for the dialects that speak there.
    """

    method: str | None
    where: str
    body: Mapping[str, Json]
    metadata: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Rules:
    """A dialect's answers. `module` returns the same object for every module under the same rule.

    `per_name` is true where two modules of one name template may get different answers.
    """

    module: Callable[[str], Declared]
    per_name: bool = False
    notes: tuple[Note, ...] = ()


_NOTHING: Final = Declared()
SILENT: Final = Rules(lambda name: _NOTHING)
"""The rules where no method is declared."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """The quantisation of one part as its files declare it.

    `kv_cache` is (dtype name, place) of the KV cache, `expert_dtype` (value, place), `tool` who wrote the files.
    """

    method: str | None
    where: str
    body: Mapping[str, Json]
    expert_dtype: tuple[str, str] | None = None
    kv_cache: tuple[str, str] | None = None
    tool: str | None = None
    notes: tuple[Note, ...] = ()
    rules: Rules = SILENT

    @property
    def per_name(self) -> bool:
        """True where two modules of one name template may be declared differently."""
        return self.rules.per_name

    def module(self, name: str) -> Declared:
        """What the files say of the module called `name`; the same object for modules under the same rule."""
        return self.rules.module(name)


class Answers:
    """Makes one `Declared` per distinct answer of a dialect, and collects notes on unusable values."""

    def __init__(self, spoken: Spoken) -> None:
        self._spoken = spoken
        self._made: dict[tuple[object, ...], Declared] = {}
        self._notes: dict[Note, None] = {}

    @property
    def notes(self) -> tuple[Note, ...]:
        """Notes so far, each once."""
        return tuple(self._notes)

    def note(self, code: str, message: str, where: str) -> None:
        """Remember a note."""
        self._notes[Note(code, message, where)] = None

    def excluded(self, key: str, entry: Mapping[str, Json] = EMPTY) -> Declared:
        """The config says "not this module" at `key`."""
        return self._one(True, None, None, key, entry)

    def of(
        self,
        entry: Mapping[str, Json],
        bits: Json = None,
        group: Json = None,
        key: str = "",
    ) -> Declared:
        """The module is quantised as `entry` says, at `key`; `bits` and `group` are raw values of it."""
        place = self._place(key)
        return self._one(False, self._bits(bits, place), self._group(group, place), key, entry)

    def _place(self, key: str) -> str:
        where = self._spoken.where
        return where.rstrip(":") if not key else f"{where}{key}" if where.endswith(":") else f"{where}.{key}"

    def _one(
        self, excluded: bool, bits: int | None, group: int | None, key: str, entry: Mapping[str, Json]
    ) -> Declared:
        written = _written(entry)
        identity = excluded, bits, group, key, written
        made = self._made.get(identity)
        if made is None:
            made = Declared(self._spoken.method, excluded, bits, group, self._place(key), entry)
            self._made[identity] = made
        return made

    def _bits(self, value: Json, where: str) -> int | None:
        if value is None or (type(value) is float and math.isfinite(value) and value > 0):
            return None
        if type(value) is int and 1 <= value <= _WORD_BITS:
            return value
        self.note("bad_declared_value", f"{_shown(value)} is no number of bits; left out", where)
        return None

    def _group(self, value: Json, where: str) -> int | None:
        if value is None or (type(value) is int and value == -1) or value in ("channel", "tensor"):
            return None
        if type(value) is int and value > 0:
            return value
        self.note("bad_declared_value", f"{_shown(value)} is no group size; left out", where)
        return None


def strings(value: Json) -> list[str]:
    """The strings of a list; a lone string is a list of one; anything else is none."""
    if isinstance(value, str):
        return [value]
    return [v for v in value if isinstance(v, str)] if isinstance(value, (list, tuple)) else []


def table(value: Json) -> Mapping[str, Json]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else EMPTY


def without(body: Mapping[str, Json], *keys: str) -> dict[str, Json]:
    """The object without these keys: an entry that does not carry the lists and maps of all other modules."""
    return {k: v for k, v in body.items() if k not in keys}


def first(body: Mapping[str, Json], keys: Sequence[str]) -> Json:
    """The value of the first key that is there and not null."""
    return next((body[k] for k in keys if body.get(k) is not None), None)


def _written(entry: Mapping[str, Json]) -> object:
    try:
        return json.dumps(entry, sort_keys=True, default=str) if isinstance(entry, dict) else ""
    except (RecursionError, TypeError, ValueError):
        return id(entry)


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
