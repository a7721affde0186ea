"""Lookup tables and buffers: stored, needed, and not parameters.

`tid2eid` (DeepSeek-V4 hash routing, I64), `position_ids` (BERT family), rope frequencies, causal masks
(GPT-2 `attn.bias`), `num_batches_tracked` (BatchNorm counters), relative position indices (Swin).
"""

from __future__ import annotations

import re

from inspector.model import Claim, Group

NAME = "buffers"
ROLES: tuple[str, ...] = ()

_TABLES = re.compile(
    r"(^|\.)(tid2eid|ffn_gate_tid2eid(\.weight)?|position_ids|token_type_ids|inv_freq|original_inv_freq|cos_cached"
    r"|sin_cached|freqs_cis|rope_freqs(\.weight)?|rope_factors_(long|short)(\.weight)?|num_batches_tracked"
    r"|relative_position_index|relative_coords_table|attn_mask|masked_bias|causal_mask)$"
)
_MASK = re.compile(r"(^|\.)(attn|attention)\.bias$")


def recognise(group: Group) -> Claim | None:
    """A table by its name; `attn.bias` only where it is a 4-D causal mask."""
    if len(group.tensors) != 1:
        return None
    ((role, tensor),) = group.tensors.items()
    name = group.base + role
    mask = _MASK.search(name) is not None and len(tensor.shape) == 4 and tensor.shape[-1] == tensor.shape[-2]
    if not mask and _TABLES.search(name) is None:
        return None
    return Claim(NAME, None, 0, (), (role,), evidence=f"{tensor.dtype} {list(tensor.shape)}: a lookup table or buffer")
