"""NVIDIA ModelOpt: one `quant_algo`, globs of what is excluded; MIXED_PRECISION lists each quantised module.

`hf_quant_config.json` `quantization` {quant_algo, group_size, exclude_modules, quantized_layers} or config.json with
`ignore` and `config_groups`. Source: nvidia-modelopt `export/quant_utils.py`, vLLM
`quantization/modelopt.py`: a module that MIXED_PRECISION does not list is left alone, but a fused `qkv_proj` or
`gate_up_proj` takes the entry of its parts, and an entry for `experts` holds for the experts below.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, strings, table, without
from inspector.witness.patterns import Patterns, glob

METHODS = ("modelopt",)
_EXCLUDES = ("exclude_modules", "ignore")
_ALGORITHMS: Mapping[str, tuple[int, int | None]] = {
    "FP8": (8, None),
    "FP8_PER_CHANNEL_PER_TOKEN": (8, None),
    "FP8_PB_WO": (8, None),
    "FP8_PB_REAL": (8, None),
    "NVFP4": (4, 16),
    "W4A16_NVFP4": (4, 16),
    "NVFP4_AWQ": (4, 16),
    "NVFP4_SVD": (4, 16),
    "W4A8_NVFP4_FP8": (4, 16),
    "W4A8_MXFP4_FP8": (4, 32),
    "MXFP4": (4, 32),
    "MXFP8": (8, 32),
    "W4A16_AWQ": (4, None),
    "W4A8_AWQ": (4, None),
    "INT4_AWQ": (4, None),
    "W8A16": (8, None),
    "W8A8_SQ_PER_CHANNEL": (8, None),
}
_PARTS = {"qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj")}


def rules(spoken: Spoken) -> Rules:
    """Excluded globs; then the listed module's own algorithm, or the one for all."""
    body = spoken.body
    answers = Answers(spoken)
    key = next((k for k in _EXCLUDES if strings(body.get(k))), _EXCLUDES[0])
    excluded = Patterns(strings(body.get(key)), glob, f"{spoken.where}.{key}")
    bare = without(body, *_EXCLUDES, "quantized_layers", "config_groups", "producer")
    listed = {k: v for k, v in table(body.get("quantized_layers")).items() if isinstance(v, dict)}
    layers = Patterns(listed, glob, f"{spoken.where}.quantized_layers")
    of = [_answer(answers, {**bare, **v}, "quantized_layers", {}) for v in listed.values()]
    weights: Mapping[str, Json] = next((g["weights"] for g in _groups(body) if isinstance(g.get("weights"), dict)), {})
    plain = _answer(answers, bare, "", weights)
    out = answers.excluded(key)
    unlisted = answers.excluded("quantized_layers") if listed else plain

    def module(name: str) -> Declared:
        if name in excluded:
            return out
        if not listed:
            return plain
        found = layers.find(name)
        if found is None:
            parent, _, last = name.rpartition(".")
            found = next((i for p in _PARTS.get(last, ()) if (i := layers.find(f"{parent}.{p}")) is not None), None)
        return unlisted if found is None else of[found]

    return Rules(module, excluded.per_name or layers.per_name, (*answers.notes, *excluded.notes, *layers.notes))


def _groups(body: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    return [g for g in table(body.get("config_groups")).values() if isinstance(g, dict)]


def _answer(answers: Answers, entry: Mapping[str, Json], key: str, weights: Mapping[str, Json]) -> Declared:
    """Bits that the algorithm fixes; its group unless the entry states one."""
    algorithm = entry.get("quant_algo")
    bits, usual = _ALGORITHMS.get(algorithm.upper() if isinstance(algorithm, str) else "", (None, None))
    group = entry.get("group_size")
    if group is None or (bits == 8 and usual is None):
        group = weights.get("group_size", usual)
    return answers.of(entry, weights.get("num_bits") if bits is None else bits, group, key)
