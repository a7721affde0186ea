"""What config files say about quantisation: a witness for the schemes, never the judge.

`read` finds every place that declares (`inspector/places.py`), takes the most binding one, fills it up from others of
the same method, and hands it to that method's dialect: one short file here each, with `METHODS` and
`rules(spoken) -> Rules`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

from inspector.model import Json, Note
from inspector.witness.declaration import EMPTY, SILENT, Declaration, Spoken
from inspector.witness.places import METADATA, NESTS, descend, spoken
from inspector.witness.witnesses import differences, kv_cache, tool

__all__ = ["DIALECTS", "NOTHING", "Declaration", "num_hidden_layers", "read", "text_config"]

DIALECTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "auto-round": "auto_round",
        "awq": "awq",
        "paroquant": "awq",
        "comfy": "comfy",
        "compressed-tensors": "compressed_tensors",
        "exl2": "exllama",
        "exl3": "exllama",
        "fp8": "fp8",
        "mxfp8": "fp8",
        "gemma": "gemma",
        "gptq": "gptq",
        "qqq": "gptq",
        "hqq": "hqq",
        "mistral": "mistral",
        "mlx": "mlx",
        "modelopt": "modelopt",
        "vptq": "per_layer",
        "spqr": "per_layer",
        "quip": "per_layer",
        "quanto": "quanto",
        "quark": "quark",
        "sdnq": "sdnq",
        "svdq": "svdq",
        "torchao": "torchao",
        "mxfp4": "uniform",
        "bitnet": "uniform",
        "eetq": "uniform",
        "fp_quant": "uniform",
        "higgs": "uniform",
        "sinq": "uniform",
        "deepspeedfp": "uniform",
        "bitsandbytes": "uniform",
        "metal": "uniform",
        "fouroversix": "uniform",
        "nvfp4": "uniform",
        "w4afp8": "uniform",
        "fbgemm_fp8": "uniform",
        "gguf": "uniform",
        "aqlm": "uniform",
        "ptpc_fp8": "uniform",
        "blockwise_int8": "uniform",
        "w8a8_int8": "uniform",
        "w8a8_fp8": "uniform",
        "experts_int8": "uniform",
        "moe_wna16": "uniform",
        "qoq": "uniform",
        "ascend": "uniform",
    }
)
"""The dialect of each canonical method: a module here, imported where a config speaks it."""

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
        dialect = import_module(f"inspector.declared.{DIALECTS.get(main.method, 'uniform')}")
        if main.method not in DIALECTS:
            words = f"{main.method!r} is no known quant_method; bits and skip lists are read as others write them"
            notes.append(Note("unknown_quant_method", words, main.where))
        rules = dialect.rules(whole)
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
