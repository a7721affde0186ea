"""What config files say about quantisation: a witness for the schemes, never the judge.

The object may stand at the top of config.json, in `text_config`, `llm_config`, `language_config` or
`thinker_config.text_config`, under `quantization_config`, `compression_config` or MLX's `quantization`, or in a file
of its own. Places: transformers `quantizers/auto.py`, vLLM `transformers_utils/config.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from inspector.model import Declared, Json

_NESTED: Final = (
    (),
    ("text_config",),
    ("llm_config",),
    ("language_config",),
    ("thinker_config", "text_config"),
)
_KEYS: Final = ("quantization_config", "compression_config", "quantization")
_MAX_PATTERN: Final = 512


def text_config(config: Json) -> Mapping[str, Json]:
    """The object that holds the language model's own fields; the top level where nothing is nested."""
    if not isinstance(config, dict):
        return MappingProxyType({})
    for path in _NESTED[1:]:
        found = _descend(config, path)
        if found is not None:
            return found
    return config


def num_hidden_layers(config: Json) -> int | None:
    """Layers of the main model; tensors of layers past it are draft layers."""
    for key in ("num_hidden_layers", "n_layers", "num_layers", "n_layer"):
        value = text_config(config).get(key)
        if type(value) is int and value > 0:
            return value
    return None


@dataclass(frozen=True, slots=True)
class Declaration:
    """The quantisation object of one part: `method`, where it was found, and what it says of each module."""

    method: str | None
    where: str
    body: Mapping[str, Json]
    expert_dtype: tuple[str, str] | None = None

    @property
    def per_name(self) -> bool:
        """True where two modules of one name template may be declared differently."""
        return self.method == "compressed-tensors" and any(
            re.search(r"\d", text) is not None for text in self._patterns()
        )

    def module(self, name: str) -> Declared:
        """What the object says of the module called `name`."""
        if self.method is None:
            return Declared()
        if self.method == "compressed-tensors":
            return self._compressed(name)
        skip = any(part in name for part in _strings(self.body.get("modules_to_not_convert")))
        return Declared(
            self.method,
            excluded=skip,
            bits=_positive(self.body.get("bits")),
            group=_positive(self.body.get("group_size")),
            where=self.where,
            entry=self.body,
        )

    def _compressed(self, name: str) -> Declared:
        if any(_matches(p, name) for p in _strings(self.body.get("ignore"))):
            return Declared(self.method, excluded=True, where=f"{self.where}.ignore")
        for key, group in self._groups():
            weights = group.get("weights")
            targets = _strings(group.get("targets"))
            if isinstance(weights, dict) and (not targets or any(_matches(t, name) for t in targets)):
                return Declared(
                    self.method,
                    bits=_positive(weights.get("num_bits")),
                    group=_positive(weights.get("group_size")),
                    where=f"{self.where}.config_groups.{key}",
                    entry=weights,
                )
        return Declared(self.method, where=self.where, entry=self.body)

    def _groups(self) -> Iterator[tuple[str, Mapping[str, Json]]]:
        groups = self.body.get("config_groups")
        if isinstance(groups, dict):
            yield from ((str(k), g) for k, g in groups.items() if isinstance(g, dict))

    def _patterns(self) -> Iterator[str]:
        yield from _strings(self.body.get("ignore"))
        for _, group in self._groups():
            yield from _strings(group.get("targets"))


NOTHING: Final = Declaration(None, "", MappingProxyType({}))


def read(documents: Mapping[str, Json]) -> Declaration:
    """The declaration in a part's documents (path -> parsed JSON); `NOTHING` where none is made."""
    for path, document in documents.items():
        if path.rpartition("/")[2] != "config.json" or not isinstance(document, dict):
            continue
        expert = _expert_dtype(document, path)
        for nest in _NESTED:
            outer = _descend(document, nest)
            for key in _KEYS:
                body = outer.get(key) if outer is not None else None
                if isinstance(body, dict):
                    method = body.get("quant_method")
                    where = ":".join((path, ".".join((*nest, key))))
                    return Declaration(method if isinstance(method, str) else None, where, body, expert)
        return Declaration(None, path, MappingProxyType({}), expert)
    return NOTHING


def _expert_dtype(config: Mapping[str, Json], path: str) -> tuple[str, str] | None:
    """(value, place) of `expert_dtype`: top level in V4, in quantization_config in V4.1, or in text_config."""
    for nest in ((), ("quantization_config",), ("text_config",), ("text_config", "quantization_config")):
        found = _descend(config, nest)
        value = found.get("expert_dtype") if found is not None else None
        if isinstance(value, str):
            return value, ":".join((path, ".".join((*nest, "expert_dtype"))))
    return None


def _descend(document: Mapping[str, Json], path: tuple[str, ...]) -> Mapping[str, Json] | None:
    here: Json = document
    for key in path:
        here = here.get(key) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else None


def _strings(value: Json) -> list[str]:
    return [v for v in value if isinstance(v, str)] if isinstance(value, list) else []


def _positive(value: Json) -> int | None:
    return value if type(value) is int and value > 0 else None


def _matches(pattern: str, name: str) -> bool:
    """A compressed-tensors target: `re:` regex from the start, else a name, its last part or a class name.

    Class names (`Linear`) cannot be told from a header: every packed module is taken to be one.
    """
    if not pattern.startswith("re:"):
        return pattern in (name, name.rpartition(".")[2]) or pattern[:1].isupper()
    try:
        return len(pattern) <= _MAX_PATTERN and re.match(pattern[3:], name) is not None
    except (re.error, RecursionError):
        return False
