"""optimum-quanto: `quanto_qmap.json` {module: {weights: "qint4", activations}} lists what is quantised.

Without the map a `QuantoConfig` {weights: "int4"} holds for all. Source: optimum-quanto `quantize.py`
`quantization_map`; transformers `QuantoConfig`.
"""

from __future__ import annotations

import re

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, strings, table, without
from inspector.witness.patterns import Patterns, core, skipped

METHODS = ("quanto",)
MAP = "qmap"
"""The key under which a body carries the file's map."""
_DIGITS = re.compile(r"\d+")


def rules(spoken: Spoken) -> Rules:
    """The map's entry; or the one setting but for the skip list."""
    body = spoken.body
    answers = Answers(spoken)
    listed = {k: v for k, v in table(body.get(MAP)).items() if isinstance(v, dict)}
    own = {k: _answer(answers, v) for k, v in listed.items()}
    own.update({core(k): v for k, v in own.items()})
    unlisted = answers.excluded("")
    plain = _answer(answers, without(body, MAP, "modules_to_not_convert"))
    key = "modules_to_not_convert"
    skip = Patterns(strings(body.get(key)), skipped, f"{spoken.where}.{key}")
    out = answers.excluded(key)

    def module(name: str) -> Declared:
        if own:
            return own.get(name) or own.get(core(name), unlisted)
        return out if name in skip else plain

    return Rules(module, bool(own) or skip.per_name, (*answers.notes, *skip.notes))


def _answer(answers: Answers, entry: Json) -> Declared:
    """`qint4` 4, `qfloat8_e4m3fn` 8; "none" or null is not quantised."""
    weights = entry.get("weights")
    if weights in (None, "none"):
        return answers.excluded("", entry)
    digits = _DIGITS.search(weights) if isinstance(weights, str) else None
    bits = int(digits[0][:2]) if digits is not None else None
    return answers.of(entry, bits or None)
