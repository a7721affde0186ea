"""Plain floats: the dtype is the precision. Also raw casts to FP8 without scales (diffusion single files).

A learnable `.scale` (layer scale, `q_norm.scale` of Inkling2) is a parameter: it is a vector and no packed weight
stands beside it. Scales of a quantiser are grids, and the roles that only quantisers use keep this scheme away.
`_scale` ends names of parameters of any shape (`logit_scale` of Swin v2 is [H, 1, 1]).
DeepSpeed's FP6 and FP8 configs speak of what happens at load: the file holds plain floats.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.companions import ATTENDANTS
from inspector.storing.dtypes import FLOATS, WIDE
from inspector.storing.lookup_tables import is_table

NAME = "dense"
ROLES = (".weight", "_weight")
_WEIGHTS: Final = frozenset({"", *ROLES})
_LEARNABLE: Final = frozenset({"_scale", "_scales"})
_VECTORS: Final = frozenset({".scale", ".scales"})
_ORDINARY: Final = MappingProxyType(
    {
        **dict.fromkeys(
            (".q_weight", ".B", ".codes", ".trellis", ".shape", ".meta", ".dense_weights", ".col_vals"), ()
        ),
        **dict.fromkeys((".blocks", "_blocks"), ()),
        **dict.fromkeys((".s", ".s_channel", ".s_group"), ("gptq", "qqq")),
        **dict.fromkeys((".theta", ".channel_scales"), ("awq", "paroquant")),
        **dict.fromkeys((".codebooks",), ("aqlm",)),
        **dict.fromkeys((".zero",), ("hqq",)),
        **dict.fromkeys((".tables", ".tables2"), ("higgs",)),
        **dict.fromkeys((".indices", ".centroids.weight", ".res_centroids.weight", ".weight_bias"), ("vptq",)),
        **dict.fromkeys((".SU", ".SV"), ("quip",)),
        **dict.fromkeys((".su", ".sv", ".suh", ".svh"), ("exl3",)),
        **dict.fromkeys((".smooth", ".smooth_factor", ".proj_up", ".proj_down", ".lora_up", ".lora_down"), ("svdq",)),
        **dict.fromkeys((".svd_up", ".svd_down"), ("sdnq",)),
        **dict.fromkeys((".biases", ".global_scale"), ("mlx", "metal", "auto-round")),
        **dict.fromkeys((".embedding_scale",), ("gemma",)),
    }
)
"""Roles that also name ordinary parameters (Engram `q_weight`, Mamba `B`) -> methods whose companions they are."""


def recognise(group: Group) -> Claim | None:
    """Floats that nothing re-reads: a weight alone, or with learnable vectors and activation scales beside it."""
    payload = [r for r in group.tensors if r in _WEIGHTS or _learnable(group, r)]
    dtypes = {group.tensors[r].dtype for r in payload}
    if not payload or len(dtypes) != 1 or not dtypes <= FLOATS.keys():
        return None
    if any(r not in ATTENDANTS for r in group.tensors.keys() - set(payload)):
        return None
    dtype = dtypes.pop()
    first = group.tensors[payload[0]]
    if len(group.tensors) > 1 and dtype not in WIDE:
        return None
    if len(group.tensors) == 1 and is_table(group.base + payload[0], first.shape):
        return None
    name, bits = FLOATS[dtype]
    return Claim(
        NAME,
        Precision(name, bits),
        sum(group.tensors[r].elements for r in payload),
        tuple(payload),
        shape=first.shape,
        evidence=f"{dtype} {list(first.shape)}, no scale beside it",
    )


def _learnable(group: Group, role: str) -> bool:
    tensor = group.tensors[role]
    if tensor.dtype not in WIDE:
        return False
    if role == "_scale" and len(tensor.shape) > 1 and group.base.endswith("_proj"):
        return False  # a projection has no learnable scale: its weight is in another shard
    if role in _ORDINARY and (len(group.tensors) == 1 or group.tensors.keys() & _WEIGHTS):
        return group.declared.method not in _ORDINARY[role]
    return role in _LEARNABLE or (role in _VECTORS and len(tensor.shape) <= 1)
