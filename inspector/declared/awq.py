"""AWQ, and ParoQuant in AWQ's layout: one setting, and parts of names that are left alone.

config.json {bits, group_size, version, modules_to_not_convert} or `quant_config.json` {w_bit, q_group_size, version}.
A part of a name anywhere in it is enough: AutoAWQ `models/base.py`, vLLM `awq.py` `is_layer_skipped_awq`.
"""

from __future__ import annotations

from inspector.model import Declared
from inspector.witness.declaration import Answers, Rules, Spoken, first, strings, without
from inspector.witness.patterns import Patterns, anywhere

METHODS = ("awq", "paroquant")
_LIST = "modules_to_not_convert"


def rules(spoken: Spoken) -> Rules:
    """The one setting, but for the skip list."""
    body = spoken.body
    answers = Answers(spoken)
    skip = Patterns(strings(body.get(_LIST)), anywhere, f"{spoken.where}.{_LIST}")
    plain = answers.of(
        without(body, _LIST), first(body, ("bits", "w_bit")), first(body, ("group_size", "q_group_size"))
    )
    out = answers.excluded(_LIST)

    def module(name: str) -> Declared:
        return out if name in skip else plain

    return Rules(module, skip.per_name, (*answers.notes, *skip.notes))
