"""EXL2 and EXL3: average bits for the model, and EXL3's list of what each module is stored as.

`quantization_config.json` `tensor_storage[module]` {quant_format, bits_per_weight, stored_tensors}: exllamav3
`conversion/quant_config.py`; a module without `quant_format` is stored as it was. `bits` is an average and no
module's own.
"""

from __future__ import annotations

from inspector.model import Declared
from inspector.witness.declaration import Answers, Rules, Spoken, table, without
from inspector.witness.patterns import core

METHODS = ("exl2", "exl3")
_KEY = "tensor_storage"


def rules(spoken: Spoken) -> Rules:
    """The module's entry in the list, else what holds for the model."""
    body = spoken.body
    answers = Answers(spoken)
    bare = without(body, _KEY, "calibration")
    own: dict[str, Declared] = {}
    for name, entry in table(body.get(_KEY)).items():
        if isinstance(entry, dict):
            whole = {**bare, **entry}
            quantised = isinstance(entry.get("quant_format"), str)
            answer = answers.of(whole, entry.get("bits_per_weight"), key=_KEY) if quantised else None
            own[name] = own[core(name)] = answer or answers.excluded(_KEY, whole)
    plain = answers.of(bare)

    def module(name: str) -> Declared:
        return own.get(name) or own.get(core(name), plain)

    return Rules(module, bool(own), answers.notes)
