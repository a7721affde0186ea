"""What config files say about quantisation: a witness for the schemes, never the judge.

`read` finds every place that declares (`inspector/places.py`), takes the most binding one, fills it up from others of
the same method, and hands it to that method's dialect: one short file here each, with `METHODS` and
`rules(spoken) -> Rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from inspector.declared import (
    auto_round,
    awq,
    comfy,
    compressed_tensors,
    exllama,
    fp8,
    gemma,
    gptq,
    hqq,
    mistral,
    mlx,
    modelopt,
    per_layer,
    quanto,
    quark,
    sdnq,
    svdq,
    torchao,
    uniform,
)
from inspector.model import Json, Note
from inspector.witness.declaration import EMPTY, SILENT, Declaration, Rules, Spoken
from inspector.witness.places import METADATA, NESTS, descend, spoken
from inspector.witness.witnesses import differences, kv_cache, tool

__all__ = ["DIALECTS", "NOTHING", "Declaration", "num_hidden_layers", "read", "text_config"]

DIALECTS: Final[Mapping[str, Callable[[Spoken], Rules]]] = MappingProxyType(
    {
        name: dialect.rules
        for dialect in (
            auto_round,
            awq,
            comfy,
            compressed_tensors,
            exllama,
            fp8,
            gemma,
            gptq,
            hqq,
            mistral,
            mlx,
            modelopt,
            per_layer,
            quanto,
            quark,
            sdnq,
            svdq,
            torchao,
            uniform,
        )
        for name in dialect.METHODS
    }
)
"""Dialect by canonical method."""

NOTHING: Final = Declaration(None, "", EMPTY)
"""No file declares anything."""

GGUF: Final = Declaration("gguf", "", EMPTY)
"""The types are in the headers themselves; there is nothing to declare."""


def text_config(config: Json) -> Mapping[str, Json]:
    """The object that holds the language model's own fields; the top level where nothing is nested."""
    if not isinstance(config, dict):
        return EMPTY
    return next((found for path in NESTS[1:] if (found := descend(config, path)) is not None), config)


def num_hidden_layers(config: Json) -> int | None:
    """Layers of the main model; tensors of layers past it are draft layers."""
    for key in ("num_hidden_layers", "n_layers", "num_layers", "n_layer"):
        value = text_config(config).get(key)
        if type(value) is int and value > 0:
            return value
    return None


def read(documents: Mapping[str, Json], metadata: Mapping[str, str] = MappingProxyType({})) -> Declaration:
    """The declaration in a part's documents (path -> parsed JSON) and its headers' merged metadata.

    Never raises: what cannot be read is a note. `NOTHING` where no file says anything.
    """
    places, notes = spoken(documents, metadata)
    path, expert = _expert_dtype(documents)
    if not places:
        return Declaration(None, path, EMPTY, expert, notes=tuple(notes)) if path or notes else NOTHING
    named = [p for p in places if p.method is not None]
    main = named[0] if named else places[0]
    others = [p for p in named if p is not main]
    body = dict(main.body)
    for other in others:
        if other.method == main.method:
            body = {**other.body, **body}
    whole = Spoken(main.method, main.where, body, metadata)
    notes += differences([main, *(p for p in others if not p.where.startswith(METADATA))])
    rules = SILENT
    if main.method is not None:
        dialect = DIALECTS.get(main.method)
        if dialect is None:
            words = f"{main.method!r} is no known quant_method; bits and skip lists are read as others write them"
            notes.append(Note("unknown_quant_method", words, main.where))
        rules = (dialect or uniform.rules)(whole)
        notes += rules.notes
    return Declaration(
        main.method, main.where.rstrip(":"), body, expert, kv_cache(places), tool(places), tuple(notes), rules
    )


def _expert_dtype(documents: Mapping[str, Json]) -> tuple[str, tuple[str, str] | None]:
    """(path of config.json or '', (value, place)): top level in V4, in quantization_config in V4.1, or nested."""
    for path, config in documents.items():
        if path.rpartition("/")[2] != "config.json" or not isinstance(config, dict):
            continue
        for nest in (n for outer in NESTS for n in (outer, (*outer, "quantization_config"))):
            found = descend(config, nest)
            value = found.get("expert_dtype") if found is not None else None
            if isinstance(value, str):
                return path, (value, f"{path}:{'.'.join((*nest, 'expert_dtype'))}")
        return path, None
    return "", None
