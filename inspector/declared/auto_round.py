"""AutoRound: one setting, `extra_config` by name or regex, and the blocks that it was run on.

A key of `extra_config` is a module's name, else a regex found anywhere in one; names win over regexes, 16 bits or
more leave the module alone. Outside `block_name_to_quantize` only what `extra_config` names is quantised.
Source: auto-round `inference/convert_model.py` `get_layer_config`, `inference/utils.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, table, without
from inspector.witness.patterns import Patterns, core, named, searched

METHODS = ("auto-round",)


def rules(spoken: Spoken) -> Rules:
    """A named module, then the first regex, then the blocks, then the one setting."""
    body = spoken.body
    answers = Answers(spoken)
    bare = without(body, "extra_config", "block_name_to_quantize", "to_quant_block_names")
    extra = {k: v for k, v in table(body.get("extra_config")).items() if isinstance(v, dict)}
    where = f"{spoken.where}.extra_config"
    names = Patterns(extra, named, where)
    found_in = Patterns(extra, searched, where)
    of = [_answer(answers, {**bare, **v}, "extra_config") for v in extra.values()]
    plain = _answer(answers, bare, "")
    key = "block_name_to_quantize" if body.get("block_name_to_quantize") else "to_quant_block_names"
    blocks = tuple(f"{core(b)}." for b in _flat(body.get(key)))
    outside = answers.excluded(key)

    def module(name: str) -> Declared:
        index = names.find(name)
        if index is None:
            index = found_in.find(name)
        if index is not None:
            return of[index]
        return outside if blocks and not f"{core(name)}.".startswith(blocks) else plain

    return Rules(module, bool(extra) and (names.per_name or found_in.per_name), (*answers.notes, *found_in.notes))


def _answer(answers: Answers, entry: Mapping[str, Json], key: str) -> Declared:
    bits = entry.get("bits")
    if type(bits) is int and bits >= 16:
        return answers.excluded(key, entry)
    return answers.of(entry, bits, entry.get("group_size"), key)


def _flat(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield from (v.strip() for v in value.split(",") if v.strip())
    for part in value if isinstance(value, list) else ():
        if isinstance(part, str):
            yield part
        elif isinstance(part, list):
            yield from (p for p in part if isinstance(p, str))
