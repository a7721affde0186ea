"""torchao: `quant_type` in config.json, and the type of each tensor in the headers' own metadata.

`quant_type.default` {_type, _data}, or an `FqnToConfig` / `ModuleFqnToConfig` of names, `re:` regexes over the whole
name and `_default` (torchao `quantization/quant_api.py` `fqn_matches_fqn_config`). Metadata `"mod.weight"` is JSON
{_type, _data, _tensor_data_names} (torchao `prototype/safetensors`); a plain `Tensor` there is not quantised.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, first, strings, table, without
from inspector.witness.patterns import Patterns, Test, Text, core, regex, skipped

METHODS = ("torchao",)
_BITS = re.compile(r"(?:int|float|fp)([1-9])", re.IGNORECASE)
_WEIGHT_BITS = re.compile(r"(?:int|float|fp)([1-9])(?=weight)", re.IGNORECASE)


def rules(spoken: Spoken) -> Rules:
    """The header's word on the tensor, then the named or matching entry, then the default."""
    body = spoken.body
    answers = Answers(spoken)
    bare = without(body, "quant_type", "modules_to_not_convert")
    stored = {n: _answer(answers, {**bare, **v}, "") for n, v in types(spoken.metadata).items()}
    stored.update({core(k): v for k, v in stored.items()})
    default, named = _quant_type(body.get("quant_type"))
    of = [_answer(answers, {**bare, **table(v)}, "quant_type") for v in named.values()]
    patterns = Patterns(named, _pattern, f"{spoken.where}.quant_type")
    plain = _answer(answers, {**bare, **default}, "quant_type")
    key = "modules_to_not_convert"
    skip = Patterns(strings(body.get(key)), skipped, f"{spoken.where}.{key}")
    out = answers.excluded(key)

    def module(name: str) -> Declared:
        found = stored.get(name) or stored.get(core(name))
        if found is not None:
            return found
        if name in skip:
            return out
        index = patterns.find(name) if of else None
        return plain if index is None else of[index]

    per_name = bool(stored) or skip.per_name or patterns.per_name
    return Rules(module, per_name, (*answers.notes, *skip.notes, *patterns.notes))


def types(metadata: Mapping[str, str]) -> dict[str, Mapping[str, Json]]:
    """Module -> the object that the headers' metadata gives its weight; values that are no such object are passed."""
    found: dict[str, Mapping[str, Json]] = {}
    for name, text in metadata.items():
        if '"_type"' in text:
            try:
                value = json.loads(text)
            except (ValueError, RecursionError):
                continue
            if isinstance(value, dict) and isinstance(value.get("_type"), str):
                found[name.removesuffix(".weight")] = value
    return found


def _quant_type(value: Json) -> tuple[Mapping[str, Json], dict[str, Json]]:
    """(the default's object, entries by name or pattern)."""
    default = table(value)
    default = table(default.get("default", default))
    data = table(default.get("_data"))
    named = table(first(data, ("fqn_to_config", "module_fqn_to_config")))
    if not named:
        return default, {}
    return table(named.get("_default")), {k: v for k, v in named.items() if k != "_default"}


def _pattern(text: str) -> Sequence[Test]:
    return regex(text[3:], whole=True) if text.startswith("re:") else (Text("exact", text.removesuffix(".weight")),)


def _answer(answers: Answers, entry: Mapping[str, Json], key: str) -> Declared:
    kind = entry.get("_type")
    if not isinstance(kind, str) or kind == "Tensor":
        return answers.excluded(key, entry)
    data = table(entry.get("_data"))
    inside = first(data, ("target_dtype", "weight_dtype", "elem_dtype", "dtype"))
    spelt = json.dumps(inside) if kind.lower().startswith(("intx", "uintx", "mx")) else kind
    bits = _WEIGHT_BITS.search(spelt) or _BITS.search(spelt)
    block = data.get("block_size")
    group = data.get("group_size")
    if group is None and isinstance(block, list) and block:
        group = block[-1]
    return answers.of(entry, int(bits[1]) if bits is not None else None, group, key)
