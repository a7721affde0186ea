"""Mistral's own files: `params.json` `quantization` {qformat_weight: "fp8_e4m3", qscheme_act: "TENSOR"}.

Source: vLLM `transformers_utils/configs/mistral.py`. The object names no modules; scales say which are quantised.
"""

from __future__ import annotations

from inspector.witness.declaration import Answers, Rules, Spoken

METHODS = ("mistral",)


def rules(spoken: Spoken) -> Rules:
    """One setting."""
    answers = Answers(spoken)
    form = spoken.body.get("qformat_weight")
    plain = answers.of(spoken.body, 8 if isinstance(form, str) and form.startswith("fp8") else None)
    return Rules(lambda name: plain, False, answers.notes)
