"""Gemma QAT: bits for all, and by regex.

`module_quant_configs` {regex: {num_bits}}: joined into one search, so the leftmost match decides and the order only
among those; embeddings only with `quantize_embeddings`. Source: transformers `integrations/gemma_quant.py`. Here the
first entry in the order that matches anywhere decides: entries that both match one name at different places differ.
"""

from __future__ import annotations

from inspector.model import Declared
from inspector.witness.declaration import Answers, Rules, Spoken, strings, table, without
from inspector.witness.patterns import Patterns, searched, skipped

METHODS = ("gemma",)
_DEFAULT_BITS = 4


def rules(spoken: Spoken) -> Rules:
    """Skipped modules, unquantised embeddings, the matching entry, the one setting."""
    body = spoken.body
    answers = Answers(spoken)
    bare = without(body, "module_quant_configs", "modules_to_not_convert")
    skip = Patterns(strings(body.get("modules_to_not_convert")), skipped, f"{spoken.where}.modules_to_not_convert")
    listed = {k: v for k, v in table(body.get("module_quant_configs")).items() if isinstance(v, dict)}
    matched = Patterns(listed, searched, f"{spoken.where}.module_quant_configs")
    bits = body.get("num_bits", _DEFAULT_BITS)
    of = [answers.of({**bare, **v}, v.get("num_bits", bits), key="module_quant_configs") for v in listed.values()]
    plain = answers.of(bare, bits)
    out = answers.excluded("modules_to_not_convert")
    embedding = plain if body.get("quantize_embeddings") is True else answers.excluded("quantize_embeddings")

    def module(name: str) -> Declared:
        if name in skip:
            return out
        if embedding is not plain and "embed" in name.rpartition(".")[2]:
            return embedding
        found = matched.find(name)
        return plain if found is None else of[found]

    return Rules(module, skip.per_name or matched.per_name, (*answers.notes, *skip.notes, *matched.notes))
