"""bitsandbytes: LLM.int8 rows, and 4-bit NF4 / FP4 blobs whose logical shape is not in the header.

8 bits: `X.weight` I8 [N, K], `X.SCB` F32 [N], `X.weight_format` U8 []. 4 bits: `X.weight` [n, 1] of bytes or of the
quant-storage dtype (BF16 or F32 hold 4 or 8 values each), `.absmax` F32 [ceil(values / block)], or U8 with
`.nested_absmax` for every 256 of them, `.quant_map` F32 [16], and a JSON blob named for the type. Values are bytes x
2. Source: bitsandbytes `functional.py` (`QuantState.as_dict`), `nn/modules.py` (`Linear8bitLt._save_to_state_dict`).
"""

from __future__ import annotations

from itertools import product
from types import MappingProxyType
from typing import Final

from inspector.model import Claim, Group, Precision, Stored
from inspector.storing.blocks import told
from inspector.storing.dtypes import WIDE

NAME = "bitsandbytes"
_PAYLOADS: Final = (".weight", "")
_TYPES: Final = MappingProxyType(
    {".quant_state.bitsandbytes__nf4": "nf4", ".quant_state.bitsandbytes__fp4": "fp4_e2m1"}
)
_PARTS: Final = (".absmax", ".nested_absmax", ".quant_map", ".nested_quant_map", *_TYPES)
ROLES = (".weight", ".SCB", ".weight_format", *(p + s for p, s in product(_PAYLOADS, _PARTS)))
_STORAGE: Final = frozenset({"U8", "I8", *WIDE})
_BLOCKS: Final = (32, 64, 128, 256, 512, 1024, 2048, 4096)
_NESTED: Final = 256


def recognise(group: Group) -> Claim | None:
    """Rows with their absolute maxima, or a blob with the absolute maximum of every block of it."""
    return _eight(group) or next((c for c in (_four(group, p) for p in _PAYLOADS) if c is not None), None)


def _eight(group: Group) -> Claim | None:
    weight, maxima = group.tensors.get(".weight"), group.tensors.get(".SCB")
    if weight is None or maxima is None or weight.dtype != "I8" or len(weight.shape) < 2:
        return None
    if maxima.dtype != "F32" or maxima.shape != weight.shape[:-1]:
        return None
    return Claim(
        NAME,
        Precision("int8", 8, (1, weight.shape[-1])),
        weight.elements,
        (".weight",),
        tuple(r for r in (".SCB", ".weight_format") if r in group.tensors),
        shape=weight.shape,
        evidence=f"{told(group.tensors, '.weight', '.SCB')}: LLM.int8, one scale per row",
    )


def _four(group: Group, payload: str) -> Claim | None:
    weight, maxima = group.tensors.get(payload), group.tensors.get(payload + ".absmax")
    states = [s for s in _TYPES if payload + s in group.tensors]
    if weight is None or maxima is None or len(states) != 1 or weight.dtype not in _STORAGE:
        return None
    values = 2 * weight.nbytes
    size = next((b for b in _BLOCKS if -(-values // b) == maxima.elements), None)
    nested = group.tensors.get(payload + ".nested_absmax")
    if size is None or not _scaled(maxima, nested):
        return None
    table = group.tensors.get(payload + ".quant_map")
    if table is not None and table.elements != 16:
        return None
    roles = tuple(payload + s for s in _PARTS if payload + s in group.tensors)
    return Claim(
        NAME,
        Precision(_TYPES[states[0]], 4, (1, size)),
        values,
        (payload,),
        roles,
        evidence=f"{told(group.tensors, payload, *roles)}: two values per byte, one scale per {size}",
    )


def _scaled(maxima: Stored, nested: Stored | None) -> bool:
    """Plain maxima are floats; double quantisation stores bytes and one float per 256 of them."""
    if nested is None:
        return maxima.dtype == "F32"
    return maxima.dtype == "U8" and nested.elements == -(-maxima.elements // _NESTED)
