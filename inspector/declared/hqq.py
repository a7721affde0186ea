"""HQQ: one setting, or one per kind of layer.

`quant_config.weight_quant_params` {nbits, group_size, axis}; `dynamic_config` and `skip_modules` go by tag: the
module's name without `model`, `layers` and numbers (transformers `integrations/hqq.py` `name_to_linear_tag`).
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.model import Declared, Json
from inspector.witness.declaration import Answers, Rules, Spoken, strings, table, without

METHODS = ("hqq",)


def rules(spoken: Spoken) -> Rules:
    """By tag: skipped, with its own setting, or the one setting."""
    body = spoken.body
    answers = Answers(spoken)
    bare = without(body, "quant_config", "dynamic_config", "skip_modules")
    skip = frozenset(strings(body.get("skip_modules")))
    setting = table(body.get("quant_config"))
    own = {
        **table(body.get("dynamic_config")),
        **{k: v for k, v in setting.items() if "weight_quant_params" in table(v)},
    }
    by_tag = {k: _answer(answers, bare, v, "dynamic_config") for k, v in own.items()}
    plain = _answer(answers, bare, setting, "quant_config")
    out = answers.excluded("skip_modules")

    def module(name: str) -> Declared:
        tag = ".".join(p for p in name.split(".") if p not in ("model", "layers") and not p.isnumeric())
        if tag in skip or name in skip or name.rpartition(".")[2] in skip:
            return out
        return by_tag.get(tag, plain)

    return Rules(module, any(c.isdigit() for t in (*skip, *by_tag) for c in t), answers.notes)


def _answer(answers: Answers, bare: Mapping[str, Json], setting: Json, key: str) -> Declared:
    own = table(setting)
    weights = table(own.get("weight_quant_params", own))
    return answers.of({**bare, **weights}, weights.get("nbits"), weights.get("group_size"), key)
