"""Lookup tables, buffers, markers and rotations: stored, needed, and not parameters.

`tid2eid` (DeepSeek-V4 hash routing, I64), `position_ids` (BERT family), rope frequencies, causal masks
(GPT-2 `attn.bias`), `num_batches_tracked` (BatchNorm counters), relative position indices (Swin), ComfyUI's
`scaled_fp8`, rotation matrices of compressed-tensors' `transform_config`.
"""

from __future__ import annotations

from inspector.model import Claim, Group
from inspector.storing.lookup_tables import is_table

NAME = "buffers"
ROLES: tuple[str, ...] = ()


def recognise(group: Group) -> Claim | None:
    """A table by its name, when it stands alone."""
    if len(group.tensors) != 1:
        return None
    ((role, tensor),) = group.tensors.items()
    if not is_table(group.base + role, tensor.shape):
        return None
    return Claim(NAME, None, 0, (), (role,), evidence=f"{tensor.dtype} {list(tensor.shape)}: a lookup table or buffer")
