"""ComfyUI: `_quantization_metadata` in a header lists the layers that are quantised and how.

{"layers": {prefix: {"format": "float8_e4m3fn" | "nvfp4" | "mxfp8" | "int8_tensorwise" | ...}}}; what it does not
list is not. A global `quant_format` names one format for all. Source: ComfyUI `comfy/quant_ops.py`, `comfy/ops.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from inspector.model import Declared
from inspector.witness.declaration import Answers, Rules, Spoken, table

METHODS = ("comfy",)
_FORMATS: Mapping[str, tuple[int, int | None]] = {
    "float8_e4m3fn": (8, None),
    "float8_e5m2": (8, None),
    "nvfp4": (4, 16),
    "mxfp8": (8, 32),
    "int8_tensorwise": (8, None),
    "asym_w4a8_int8": (4, None),
}


def rules(spoken: Spoken) -> Rules:
    """The layer's entry; unlisted layers are excluded, where any is listed."""
    answers = Answers(spoken)
    own = {k: _answer(answers, v) for k, v in table(spoken.body.get("layers")).items() if isinstance(v, dict)}
    plain = _answer(answers, {"format": spoken.body.get("quant_format")})
    unlisted = answers.excluded("layers") if own else plain

    def module(name: str) -> Declared:
        return own.get(name, unlisted)

    return Rules(module, any(c.isdigit() for k in own for c in k), answers.notes)


def _answer(answers: Answers, entry: Mapping[str, object]) -> Declared:
    form = entry.get("format")
    bits, group = _FORMATS.get(form if isinstance(form, str) else "", (None, None))
    return answers.of(entry, bits, group, "layers")
