"""A report as JSON that becomes the same report again: for the cache, where nothing may be run that was read.

Only the frozen classes of the model are made, from their fields in order; every other name is refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from inspector import model
from inspector.model import cache_model, fit_model


class NotKept(ValueError):
    """A value, or a form, that is none of the model's."""


def pack(value: object) -> bytes:
    """The form of a report. Raises `NotKept` for what it cannot hold."""
    return json.dumps(_packed(value), separators=(",", ":"), ensure_ascii=True).encode()


def unpack(form: bytes) -> Any:
    """The value again. Raises `NotKept` for a form that is none."""
    try:
        return _unpacked(json.loads(form), _classes())
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as e:
        raise NotKept(str(e)) from None


def _packed(value: object) -> object:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    names = getattr(type(value), "__match_args__", None)
    if names is not None:
        return {"c": type(value).__name__, "v": [_packed(getattr(value, name)) for name in names]}
    if isinstance(value, tuple):
        return [_packed(v) for v in value]
    if isinstance(value, list):
        return {"l": [_packed(v) for v in value]}
    if isinstance(value, Mapping):
        return {"m": [[_packed(k), _packed(v)] for k, v in value.items()]}
    if isinstance(value, Fraction):
        return {"q": [value.numerator, value.denominator]}
    if isinstance(value, frozenset):
        return {"s": [_packed(v) for v in sorted(value)]}
    raise NotKept(f"a {type(value).__name__} is not kept")


def _unpacked(form: Any, classes: Mapping[str, type]) -> Any:
    if isinstance(form, list):
        return tuple([_unpacked(v, classes) for v in form])
    if not isinstance(form, dict):
        return form
    if "c" in form:
        return classes[form["c"]](*[_unpacked(v, classes) for v in form["v"]])
    if "l" in form:
        return [_unpacked(v, classes) for v in form["l"]]
    if "m" in form:
        return MappingProxyType({_unpacked(k, classes): _unpacked(v, classes) for k, v in form["m"]})
    if "q" in form:
        return Fraction(*form["q"])
    return frozenset(_unpacked(v, classes) for v in form["s"])


def _classes() -> dict[str, type]:
    named = [pair for module in (model, cache_model, fit_model) for pair in vars(module).items()]
    return {n: v for n, v in named if isinstance(v, type) and hasattr(v, "__match_args__")}
