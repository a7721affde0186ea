"""AMD Quark: a global setting, overrides by glob, and a list of what is excluded.

`global_quant_config.weight`, `layer_quant_config` {glob: {weight}}, `exclude` (globs, or `re:` and a regex), `export`.
A two-level weight is a list of which the first entry is the stored one. `layer_type_quant_config` goes by class,
which a header does not tell. Source: amd-quark `torch/quantization/config`, vLLM `quantization/quark/quark.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, strings, table
from inspector.witness.patterns import Patterns, Test, glob, regex

METHODS = ("quark",)
_DIGITS = re.compile(r"\d+")


def rules(spoken: Spoken) -> Rules:
    """Excluded modules, then the first override whose glob matches, then the global setting."""
    body = spoken.body
    answers = Answers(spoken)
    excluded = Patterns(strings(body.get("exclude")), _pattern, f"{spoken.where}.exclude")
    overrides = {k: v for k, v in table(body.get("layer_quant_config")).items() if isinstance(v, dict)}
    layers = Patterns(overrides, _pattern, f"{spoken.where}.layer_quant_config")
    export = {"export": body["export"]} if isinstance(body.get("export"), dict) else {}
    of = [_answer(answers, v, "layer_quant_config", export) for v in overrides.values()]
    plain = _answer(answers, table(body.get("global_quant_config")), "global_quant_config", export)
    out = answers.excluded("exclude")

    def module(name: str) -> Declared:
        if name in excluded:
            return out
        found = layers.find(name)
        return plain if found is None else of[found]

    return Rules(module, excluded.per_name or layers.per_name, (*answers.notes, *excluded.notes, *layers.notes))


def _pattern(text: str) -> Sequence[Test]:
    return regex(text[3:]) if text.startswith("re:") else glob(text)


def _answer(answers: Answers, setting: Json, key: str, export: dict[str, Json]) -> Declared:
    weight = setting.get("weight")
    if isinstance(weight, list):
        weight = next((w for w in weight if isinstance(w, dict)), None)
    if not isinstance(weight, dict):
        return answers.excluded(key)
    group = weight.get("group_size") if weight.get("qscheme") in (None, "per_group") else None
    return answers.of({**export, **weight}, _bits(weight), group, f"{key}.weight")


def _bits(weight: Json) -> int | None:
    """`fp8_e4m3` 8, `int4` 4, `fp6_e2m3` 6; the old `mx` names its element."""
    dtype = weight.get("mx_element_dtype") if weight.get("dtype") == "mx" else weight.get("dtype")
    digits = _DIGITS.search(dtype) if isinstance(dtype, str) else None
    return int(digits[0][:2]) if digits is not None and 1 <= int(digits[0][:2]) <= 16 else None
