"""compressed-tensors: groups of targets with their arguments, and a list of what to ignore.

A target or an ignored entry is a name, a class name or `re:` and a regex from the start
(compressed-tensors `utils/match.py`). A group is an object with `targets` and `weights`, or a list of targets under
the name of a preset (`quantization/quant_scheme.py`); its own `format` wins over the global one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, strings, table, without
from inspector.witness.patterns import Patterns, Test, Text, regex

METHODS = ("compressed-tensors",)

Weights = Mapping[str, Json]


def _int(bits: int, group: int | None = 128, symmetric: bool = True) -> Weights:
    strategy = "channel" if group is None else "group"
    return {"num_bits": bits, "type": "int", "symmetric": symmetric, "strategy": strategy, "group_size": group}


def _float(bits: int, strategy: str, group: int | None = None, scale: str | None = None) -> Weights:
    found: dict[str, Json] = {"num_bits": bits, "type": "float", "symmetric": True, "strategy": strategy}
    return {**found, "group_size": group, **({"scale_dtype": scale} if scale else {})}


_NVFP4 = _float(4, "tensor_group", 16, "torch.float8_e4m3fn")
_MXFP4 = _float(4, "group", 32, "torch.uint8")
_MXFP6 = _float(6, "group", 32, "torch.uint8")
_MXFP8 = _float(8, "group", 32, "torch.uint8")
PRESETS: Mapping[str, Weights | None] = {
    "UNQUANTIZED": None,
    **{f"W{w}A{a}": _int(w) for w in range(2, 9) for a in (4, 8, 16) if w <= a},
    "W8A8": _int(8, None),
    "INT8": _int(8, None),
    "W4A16_ASYM": _int(4, symmetric=False),
    "W4AFP8": _int(4),
    "FP8": _float(8, "tensor"),
    "FP8_DYNAMIC": _float(8, "channel"),
    "FP8_BLOCK": {**_float(8, "block"), "block_structure": [128, 128]},
    "NVFP4": _NVFP4,
    "NVFP4A16": _NVFP4,
    "MXFP4": _MXFP4,
    "MXFP4A16": _MXFP4,
    "MXFP4XFP8": _MXFP4,
    "MXFP6A16": _MXFP6,
    "MXFP6A8": _MXFP6,
    "MXFP8": _MXFP8,
    "MXFP8A16": _MXFP8,
}
"""Arguments of the weights by preset name (capitals); None leaves the weights alone."""


def rules(spoken: Spoken) -> Rules:
    """Ignored modules, then the first group with a target that matches."""
    body = spoken.body
    answers = Answers(spoken)
    ignored = Patterns(strings(body.get("ignore")), _ignored, f"{spoken.where}.ignore")
    bare = without(body, "config_groups", "ignore")
    targets: list[str] = []
    of: list[Declared] = []
    for name, group in table(body.get("config_groups")).items():
        key = f"config_groups.{name}"
        found, weights, form = _group(str(name), group)
        if found is None:
            answers.note("bad_quantisation_config", "a group that is no object and no preset", f"{spoken.where}.{key}")
            continue
        if weights is None:
            answer = answers.excluded(key)
        else:
            entry = {**bare, **weights, **({"format": form} if isinstance(form, str) else {})}
            answer = answers.of(entry, weights.get("num_bits"), weights.get("group_size"), key)
        targets += found
        of += [answer] * len(found)
    matched = Patterns(targets, _targeted, f"{spoken.where}.config_groups")
    out = answers.excluded("ignore")
    plain = answers.of(bare)

    def module(name: str) -> Declared:
        if name in ignored:
            return out
        found = matched.find(name)
        return plain if found is None else of[found]

    return Rules(module, ignored.per_name or matched.per_name, (*answers.notes, *ignored.notes, *matched.notes))


def _group(name: str, group: Json) -> tuple[list[str] | None, Weights | None, Json]:
    """(targets, arguments of the weights, own format); targets None where the group is neither form."""
    preset = name.upper()
    if isinstance(group, list) and preset in PRESETS:
        return strings(group), PRESETS[preset], None
    if not isinstance(group, dict):
        return None, None, None
    weights = group.get("weights")
    targets = strings(group.get("targets")) or ["Linear"]
    return targets, weights if isinstance(weights, dict) else None, group.get("format")


def _targeted(text: str) -> Sequence[Test]:
    """A target. Classes cannot be told from a header: `Embedding` is a name with "embed", any other is everything."""
    if text.startswith("re:"):
        return regex(text[3:])
    if text[:1].isupper() and "." not in text:
        return (Text("inside", "embed"),) if text == "Embedding" else regex(".*")
    return (Text("exact", text),)


def _ignored(text: str) -> Sequence[Test]:
    """An ignored entry: a class name excludes no module, as it may not be the module's."""
    if text[:1].isupper() and "." not in text:
        return (Text("inside", "embed"),) if text == "Embedding" else ()
    return _targeted(text)
