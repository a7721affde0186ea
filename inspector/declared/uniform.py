"""One setting for every module but those of a skip list: most methods of transformers and vLLM.

The skip list is read as transformers `quantizers/quantizers_utils.py` `should_convert_module` reads it. Bits that
the method itself fixes: MXFP4 4 per 32 (`integrations/mxfp4.py`), EETQ int8, `load_in_4bit` / `load_in_8bit`.
FP8 states no bits: DeepSeek-V4 declares `fp8` and ships FP4 experts.
"""

from __future__ import annotations

from inspector.model import Declared
from inspector.witness.declaration import Answers, Rules, Spoken, first, strings, without
from inspector.witness.patterns import Patterns, skipped

METHODS = (
    "mxfp4",
    "bitnet",
    "eetq",
    "fp_quant",
    "higgs",
    "sinq",
    "deepspeedfp",
    "bitsandbytes",
    "metal",
    "fouroversix",
    "nvfp4",
    "w4afp8",
    "fbgemm_fp8",
    "gguf",
    "aqlm",
    "ptpc_fp8",
    "blockwise_int8",
    "w8a8_int8",
    "w8a8_fp8",
    "experts_int8",
    "moe_wna16",
    "qoq",
    "ascend",
)
_LISTS = (
    "modules_to_not_convert",
    "ignored_layers",
    "ignored_modules",
    "llm_int8_skip_modules",
    "linear_weights_not_to_quantize",
)
_FIXED: dict[str, tuple[int, int | None]] = {"mxfp4": (4, 32), "eetq": (8, None)}


def rules(spoken: Spoken) -> Rules:
    """Everything as the object says, but for the skip list."""
    body = spoken.body
    answers = Answers(spoken)
    key = next((k for k in _LISTS if strings(body.get(k))), _LISTS[0])
    skip = Patterns(strings(body.get(key)), skipped, f"{spoken.where}.{key}")
    bits, group = _FIXED.get(spoken.method or "", (None, None))
    if spoken.method == "bitsandbytes":
        bits = 4 if body.get("load_in_4bit") is True else 8 if body.get("load_in_8bit") is True else None
    stated = first(body, ("bits", "num_bits", "nbits"))
    plain = answers.of(
        without(body, *_LISTS),
        bits if stated is None else stated,
        group if body.get("group_size") is None else body["group_size"],
    )
    out = answers.excluded(key)

    def module(name: str) -> Declared:
        return out if name in skip else plain

    return Rules(module, skip.per_name, (*answers.notes, *skip.notes))
