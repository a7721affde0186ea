"""GPTQ, and QQQ made by the same tool: bits and group for all, and `dynamic` rules by regex.

`dynamic` {"+:regex": {...}, "-:regex": {}}: the first rule that matches from the start decides; `-:` leaves the
module alone, no sign is `+:` (gptqmodel `quantization/config.py` `_resolve_dynamic_override`). `lm_head` false says
that the head is not quantised; `modules_in_block_to_quantize` names the only ones that are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, first, table, without
from inspector.witness.patterns import Patterns, Test, Text, regex

METHODS = ("gptq", "qqq")


def rules(spoken: Spoken) -> Rules:
    """The first dynamic rule, else the one setting."""
    body = spoken.body
    answers = Answers(spoken)
    bare = without(body, "dynamic", "modules_in_block_to_quantize")
    overrides = dict(table(body.get("dynamic")))
    dynamic = Patterns(overrides, _rule, f"{spoken.where}.dynamic")
    of = [_override(answers, bare, k, v) for k, v in overrides.items()]
    plain = _answer(answers, bare, "")
    only = tuple(f".{m}" for m in _flat(body.get("modules_in_block_to_quantize")))
    outside = answers.excluded("modules_in_block_to_quantize")
    head = answers.excluded("lm_head") if body.get("lm_head") is False else plain

    def module(name: str) -> Declared:
        found = dynamic.find(name)
        if found is not None:
            return of[found]
        if only and not f".{name}".endswith(only):
            return outside
        return head if name.rpartition(".")[2] == "lm_head" else plain

    return Rules(module, dynamic.per_name, (*answers.notes, *dynamic.notes))


def _answer(answers: Answers, entry: Mapping[str, Json], key: str) -> Declared:
    return answers.of(entry, first(entry, ("bits", "w_bit")), first(entry, ("group_size", "q_group_size")), key)


def _override(answers: Answers, bare: Mapping[str, Json], key: str, value: Json) -> Declared:
    if key.startswith("-:") or value is False:
        return answers.excluded("dynamic")
    return _answer(answers, {**bare, **table(value)}, "dynamic")


def _rule(text: str) -> Sequence[Test]:
    body = text[2:] if text.startswith(("+:", "-:")) else text
    return (Text("exact", body), *regex(body))


def _flat(value: Json) -> Iterator[str]:
    for part in value if isinstance(value, list) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            yield from (p for p in part if isinstance(p, str))
