"""FP8 with scales: `quant_method` fp8 and mxfp8, with the modules of a skip list left alone.

`weight_block_size`, `activation_scheme`, `modules_to_not_convert` (MiniMax: `ignored_layers`):
transformers `quantizers/quantizer_finegrained_fp8.py`. ModelOpt re-exports of DeepSeek-V4 keep `fp8` and list their
NVFP4 experts in `quantized_layers`; what is not listed there stays FP8, so their `ignore` excludes nothing.
"""

from __future__ import annotations

from inspector.model import Declared
from inspector.witness.declaration import Answers, Rules, Spoken, strings, table, without
from inspector.witness.patterns import Patterns, glob, skipped

METHODS = ("fp8", "mxfp8")
_LISTS = ("modules_to_not_convert", "ignored_layers")
_BITS = {"NVFP4": 4, "W4A16_NVFP4": 4, "FP8": 8, "MXFP8": 8}


def rules(spoken: Spoken) -> Rules:
    """The one setting, the skip list, and overrides of listed modules and those below them."""
    body = spoken.body
    answers = Answers(spoken)
    key = next((k for k in _LISTS if strings(body.get(k))), _LISTS[0])
    skip = Patterns(strings(body.get(key)), skipped, f"{spoken.where}.{key}")
    bare = without(body, *_LISTS, "quantized_layers", "config_groups", "ignore", "producer")
    plain = answers.of(bare, body.get("bits"))
    out = answers.excluded(key)
    listed = {k: v for k, v in table(body.get("quantized_layers")).items() if isinstance(v, dict)}
    layers = Patterns(listed, glob, f"{spoken.where}.quantized_layers")
    overrides = [
        answers.of({**bare, **v}, _BITS.get(str(v.get("quant_algo"))), v.get("group_size"), "quantized_layers")
        for v in listed.values()
    ]

    def module(name: str) -> Declared:
        if name in skip:
            return out
        found = layers.find(name) if overrides else None
        return plain if found is None else overrides[found]

    return Rules(module, skip.per_name or layers.per_name, (*answers.notes, *skip.notes, *layers.notes))
