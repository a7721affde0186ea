"""EXL2: rows of different widths packed along K, widths averaged.

`X.q_weight` I32 [words, N], `X.q_scale` I32 [G, N / 8], `X.q_scale_max` F16 [G], `X.q_groups` I16 [2 G], and
`X.q_invperm` I32 or `X.q_perm` with K elements: bits = 32 words / K. Source: turboderp/exllamav2 `exllamav2/ext.py`
(`make_q_matrix`), `conversion/adaptivegptq.py` (`pack`).
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import foreign

NAME = "exl2"
ROLES = (".q_weight", ".q_scale", ".q_scale_max", ".q_groups", ".q_invperm", ".q_perm", ".q_group_map")
_LOWEST: Final = 1.5
_HIGHEST: Final = 8.5


def recognise(group: Group) -> Claim | None:
    """Words with the permutation that gives K and scales that give N and the groups."""
    words, scale = group.tensors.get(".q_weight"), group.tensors.get(".q_scale")
    most, groups = group.tensors.get(".q_scale_max"), group.tensors.get(".q_groups")
    order = group.tensors.get(".q_invperm", group.tensors.get(".q_perm"))
    if words is None or scale is None or most is None or groups is None or order is None:
        return None
    if words.dtype != "I32" or len(words.shape) != 2 or not words.elements or foreign(group, ROLES):
        return None
    count = most.elements
    if not count or scale.dtype != "I32" or scale.shape != (count, words.shape[1] // 8) or groups.elements != 2 * count:
        return None
    rows, columns = words.shape[1], order.elements
    if len(order.shape) != 1 or not columns or not _LOWEST <= 32 * words.shape[0] / columns <= _HIGHEST:
        return None
    bits = round(32 * words.shape[0] / columns, 2)
    return Claim(
        NAME,
        Precision(f"exl2@{bits}", bits),
        rows * columns,
        (".q_weight",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: {words.shape[0]} words for {columns} inputs",
    )
