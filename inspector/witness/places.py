"""Every place where files declare quantisation, and the name that each object goes by.

config.json (top, `text_config`, `llm_config`, `language_config`, `thinker_config`) under `quantization_config`,
`compression_config`, MLX's `quantization` or QuIP#'s `quip_params`; `hf_quant_config.json` (ModelOpt),
`quantization_config.json` (EXL3, AutoRound), `quantize_config.json` (AutoGPTQ), `quant_config.json` (AWQ),
`params.json` (Mistral), `quanto_qmap.json`; header metadata (torchao, ComfyUI).
Sources: transformers `quantizers/auto.py`, vLLM `transformers_utils/config.py` and `model_loader/weight_utils.py`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from inspector.model import Json, Note
from inspector.witness.declaration import Spoken, table

NESTS: Final = (
    (),
    ("text_config",),
    ("llm_config",),
    ("language_config",),
    ("thinker_config", "text_config"),
    ("thinker_config",),
)
"""Paths of objects in config.json that may hold the language model's own fields, outermost first."""
_KEYS: Final = ("quantization_config", "compression_config", "quantization")
_ALIASES: Final[Mapping[str, str]] = {
    "compressed_tensors": "compressed-tensors",
    "sparseml": "compressed-tensors",
    "modelopt_fp4": "modelopt",
    "modelopt_fp8": "modelopt",
    "modelopt_mixed": "modelopt",
    "modelopt_mxfp8": "modelopt",
    "nvidia": "modelopt",
    "auto_round": "auto-round",
    "autoround": "auto-round",
    "intel/auto-round": "auto-round",
    "bitsandbytes_4bit": "bitsandbytes",
    "bitsandbytes_8bit": "bitsandbytes",
    "bnb": "bitsandbytes",
    "gptq_marlin": "gptq",
    "marlin": "gptq",
    "bitblas": "gptq",
    "gptq_bitblas": "gptq",
    "gptqmodel": "gptq",
    "inc": "auto-round",
    "modelslim": "ascend",
    "awq_marlin": "awq",
    "fpquant": "fp_quant",
    "fp-quant": "fp_quant",
    "nunchaku": "svdq",
    "nunchaku_lite": "svdq",
    "svdquant": "svdq",
    "quip-sharp": "quip",
    "quip_sharp": "quip",
    "deepspeed_fp": "deepspeedfp",
}
_TELLING: Final = (
    ("load_in_4bit", "bitsandbytes"),
    ("load_in_8bit", "bitsandbytes"),
    ("quant_algo", "modelopt"),
    ("config_groups", "compressed-tensors"),
    ("qformat_weight", "mistral"),
    ("global_quant_config", "quark"),
    ("tensor_storage", "exl3"),
    ("svdq_w4a4", "svdq"),
    ("awq_w4a16", "svdq"),
    ("w_bit", "awq"),
    ("q_group_size", "awq"),
    ("desc_act", "gptq"),
    ("damp_percent", "gptq"),
)
"""Keys that give a method away where none is named; the first that holds anything decides."""
_Reader = Callable[[str, Mapping[str, Json], list[Note]], Iterator[Spoken]]
METADATA: Final = "header metadata"
"""The place of what headers say about themselves."""


def spoken(documents: Mapping[str, Json], metadata: Mapping[str, str]) -> tuple[list[Spoken], list[Note]]:
    """Every declaration in a part's documents (path -> JSON) and merged header metadata, the most binding first."""
    found: list[Spoken] = []
    notes: list[Note] = []
    by_name = [(path.rpartition("/")[2], path, document) for path, document in documents.items()]
    for name, read in _READERS.items():
        for other, path, document in by_name:
            if other != name:
                continue
            if isinstance(document, dict):
                found.extend(read(path, document, notes))
            elif name != "params.json":
                words = f"holds {type(document).__name__}, not an object; left out"
                notes.append(Note("bad_quantisation_config", words, path))
    found.extend(_metadata(metadata))
    return found, notes


def method(body: Mapping[str, Json]) -> str | None:
    """The canonical name of an object's method, or what its keys give away."""
    stated = body.get("quant_method")
    if isinstance(stated, str) and stated.strip():
        name = stated.strip().lower()
        return _ALIASES.get(name, name)
    if table(body.get("producer")).get("name") == "modelopt" and body.get("quant_algo") is not None:
        return "modelopt"
    return next((m for key, m in _TELLING if body.get(key) not in (None, False)), None)


def descend(document: Json, path: tuple[str, ...]) -> Mapping[str, Json] | None:
    """The object at a path of keys, None where there is none."""
    here: Json = document
    for key in path:
        here = here.get(key) if isinstance(here, dict) else None
    return here if isinstance(here, dict) else None


def _config(path: str, document: Mapping[str, Json], notes: list[Note]) -> Iterator[Spoken]:
    for nest in NESTS:
        outer = descend(document, nest)
        for key in _KEYS if outer is not None else ():
            where = f"{path}:{'.'.join((*nest, key))}"
            body = outer.get(key) if outer is not None else None
            if isinstance(body, dict):
                yield Spoken(method(body) or _mlx(body), where, body)
            elif body is not None and key != "quantization":
                words = f"holds {type(body).__name__}, not an object; left out"
                notes.append(Note("bad_quantisation_config", words, where))
    params = document.get("quip_params")
    if isinstance(params, dict):
        yield Spoken("quip", f"{path}:quip_params", params)


def _mlx(body: Mapping[str, Json]) -> str | None:
    """MLX names no method: integers `bits` and `group_size` of an object without one are its."""
    return "mlx" if type(body.get("bits")) is int and type(body.get("group_size")) is int else None


def _modelopt(path: str, document: Mapping[str, Json], notes: list[Note]) -> Iterator[Spoken]:
    body = document.get("quantization")
    if not isinstance(body, dict):
        notes.append(Note("bad_quantisation_config", "holds no object `quantization`; left out", path))
        return
    producer = {"producer": document["producer"]} if isinstance(document.get("producer"), dict) else {}
    named = "modelopt" if body.get("quant_algo") is not None else None
    yield Spoken(method(document) or named, f"{path}:quantization", {**producer, **body})


def _whole(usual: str | None) -> _Reader:
    def read(path: str, document: Mapping[str, Json], notes: list[Note]) -> Iterator[Spoken]:
        found = method(document)
        sized = "bits" in document or "group_size" in document
        yield Spoken(found or (usual if sized else None), f"{path}:", document)

    return read


def _params(path: str, document: Mapping[str, Json], notes: list[Note]) -> Iterator[Spoken]:
    body = document.get("quantization")
    if isinstance(body, dict):
        yield Spoken(method(body), f"{path}:quantization", body)


def _qmap(path: str, document: Mapping[str, Json], notes: list[Note]) -> Iterator[Spoken]:
    yield Spoken("quanto", f"{path}:", {"qmap": document})


def _metadata(metadata: Mapping[str, str]) -> Iterator[Spoken]:
    text = metadata.get("_quantization_metadata")
    body: Json = None
    if text is not None:
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            body = None
    if isinstance(body, dict):
        yield Spoken("comfy", f"{METADATA}:_quantization_metadata", body)
    elif "quant_format" in metadata:
        yield Spoken("comfy", f"{METADATA}:quant_format", {"quant_format": metadata["quant_format"]})
    if "tensor_names" in metadata and any('"_type"' in v and "_tensor_data_names" in v for v in metadata.values()):
        yield Spoken("torchao", METADATA, {})


_READERS: Final[Mapping[str, _Reader]] = {
    "config.json": _config,
    "hf_quant_config.json": _modelopt,
    "quantization_config.json": _whole(None),
    "quantize_config.json": _whole("gptq"),
    "quant_config.json": _whole("awq"),
    "params.json": _params,
    "quanto_qmap.json": _qmap,
}
"""Reader by file name, the most binding first."""
