"""What declarations say beside the weights (KV cache, the tool that wrote them), and where two of them differ."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from inspector.model import Json, Note
from inspector.witness.declaration import Spoken, first, strings, table

_EXCLUDES: Final = ("exclude_modules", "ignore", "modules_to_not_convert", "ignored_layers", "exclude", "skip_modules")
_VERSIONED: Final[Mapping[str, str]] = {
    "compressed-tensors": "compressed-tensors",
    "exl2": "exllamav2",
    "exl3": "exllamav3",
    "quark": "quark",
    "sdnq": "sdnq",
}
"""Tools whose `version` is their own; AWQ's is a layout's."""
_NUMBERED: Final = re.compile(r"[\w.+\-]{1,64}")


def kv_cache(spoken: Sequence[Spoken]) -> tuple[str, str] | None:
    """(dtype name, place) that the KV cache is declared in, where scales are expected; None where none is."""
    for place in spoken:
        for key in ("kv_cache_scheme", "kv_cache_quant_algo"):
            name = _kv_name(place.body.get(key))
            if name is not None:
                return name, _at(place, key)
        for key in ("kv_cache_quant_config", "kv_cache_quant"):
            for setting in table(place.body.get(key)).values():
                output = table(table(setting).get("output_tensors"))
                if isinstance(output.get("dtype"), str):
                    return output["dtype"], _at(place, key)
    return None


def _kv_name(value: Json) -> str | None:
    if isinstance(value, str):
        return value.lower() if value.lower() not in ("", "none", "auto") else None
    scheme = table(value)
    bits, kind = scheme.get("num_bits"), scheme.get("type")
    if type(bits) is not int or kind not in ("float", "int") or scheme.get("dynamic") is True:
        return None
    return f"{'fp' if kind == 'float' else 'int'}{bits}"


def tool(spoken: Sequence[Spoken]) -> str | None:
    """Name and version of the program that wrote the files, as far as they say."""
    return next((t for place in spoken if (t := _tool(place)) is not None), None)


def _tool(place: Spoken) -> str | None:
    body = place.body
    producer = table(body.get("producer"))
    quantizer = table(body.get("meta")).get("quantizer")
    named = next(iter(strings(quantizer)), None)
    if isinstance(producer.get("name"), str):
        return _with_version(producer["name"], producer.get("version"))
    if named is not None:
        return _with_version(*named.partition(":")[::2])
    if "autoround_version" in body:
        return _with_version("auto-round", body["autoround_version"])
    usual = _VERSIONED.get(place.method or "")
    version = first(body, ("version", "quark_version", "sdnq_version"))
    return _with_version(usual, version) if usual is not None and isinstance(version, str) else None


def _with_version(name: str, version: Json) -> str | None:
    if not _NUMBERED.fullmatch(name):
        return None
    return f"{name} {version}" if isinstance(version, str) and _NUMBERED.fullmatch(version) else name


def differences(spoken: Sequence[Spoken]) -> list[Note]:
    """A note for each place that contradicts the first, with both sides of everything that differs."""
    notes = []
    for other in spoken[1:]:
        here = spoken[0]
        if other.body == here.body or here.method is None or other.method is None:
            continue
        found = [
            f"{word} is {_shown(a)} here and {_shown(b)} there"
            for word, fact in _FACTS.items()
            if (a := fact(here)) is not None and (b := fact(other)) is not None and a != b
        ]
        found += _lists(here, other)
        if found:
            words = f"{other.where.rstrip(':')} declares otherwise: {'; '.join(found)}"
            notes.append(Note("declarations_differ", words, here.where))
    return notes


def _method(place: Spoken) -> str | None:
    """The method; `fp8` with a ModelOpt algorithm is either's word for one thing."""
    return None if "quant_algo" in place.body else place.method


def _plain(*keys: str) -> Callable[[Spoken], Json]:
    def fact(place: Spoken) -> Json:
        value = first(place.body, keys)
        if isinstance(value, float) and math.isnan(value):
            return None
        return value if isinstance(value, (str, int, float)) else None

    return fact


def _kv(place: Spoken) -> str | None:
    found = kv_cache([place])
    return None if found is None else found[0]


_FACTS: Final[Mapping[str, Callable[[Spoken], Json]]] = {
    "method": _method,
    "quant_algo": _plain("quant_algo"),
    "bits": _plain("bits", "w_bit", "num_bits"),
    "group size": _plain("group_size", "q_group_size"),
    "KV cache": _kv,
}


def _lists(here: Spoken, other: Spoken) -> list[str]:
    """What differs between the lists of excluded modules, where both places have one."""
    a, b = (next((set(strings(p.body[k])) for k in _EXCLUDES if k in p.body), None) for p in (here, other))
    if not a or not b or a == b:
        return []
    only = [f"{len(s):,} only {w} (such as {min(s)!r})" for s, w in ((a - b, "here"), (b - a, "there")) if s]
    return [f"excluded modules: {', '.join(only)}"]


def _at(place: Spoken, key: str) -> str:
    return f"{place.where}{key}" if place.where.endswith(":") else f"{place.where}.{key}"


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
