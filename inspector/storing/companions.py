"""Tensors that serve a weight and never hold parameters, by the suffix of their names.

Names: compressed-tensors `compressors/`, ModelOpt `export/quant_utils.py`, Quark `export/`, transformers
`integrations/finegrained_fp8.py` and `fbgemm_fp8.py`, vLLM `kv_cache.py`, mistral-common `params.json`, ComfyUI
`comfy/ops.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from inspector.model import Declared, Group, Json

ATTENDANTS: Final = (
    ".input_scale",
    ".output_scale",
    ".activation_scale",
    ".input_scale_ub",
    ".activation_scale_ub",
    ".input_global_scale",
    ".output_global_scale",
    ".input_zero_point",
    ".output_zero_point",
    ".input_scale_2",
    ".output_scale_2",
    ".bias_scale",
    ".bias_zero_point",
    ".qscale_act",
    ".scale_input",
    ".k_scale",
    ".v_scale",
    ".q_scale",
    ".kv_scale",
    ".prob_scale",
    ".k_zero_point",
    ".v_zero_point",
    ".k_global_scale",
    ".v_global_scale",
    "_input_scale",
    "_activation_scale",
    "_input_scale_ub",
    "_activation_scale_ub",
    "_input_global_scale",
    ".weight_shape",
    ".comfy_quant",
)
"""Scales of activations and of the KV cache, shape and format blobs: overhead beside any payload, and by themselves."""

SECOND_SCALES: Final = (".weight_scale_2", ".weight_global_scale", "_weight_scale_2", "_weight_global_scale")
SMOOTHING: Final = (".pre_quant_scale", "_pre_quant_scale")
LOW_RANK: Final = (".svdquant_lora_a", ".svdquant_lora_b")
EXTRAS: Final = SECOND_SCALES + SMOOTHING + LOW_RANK
"""What ModelOpt, compressed-tensors and Quark may store beside a weight and its first scale."""

COMPANIONS: Final = frozenset(
    {
        *EXTRAS,
        ".weight_scale",
        ".weight_scale_inv",
        ".weight_scales",
        ".weight_zero_point",
        ".weight_g_idx",
        ".qscale_weight",
        ".scale_weight",
        ".scale_packed",
        ".scale",
        ".scales",
        ".zero_point",
        ".zeros",
        ".qzeros",
        ".g_idx",
        ".bitmask",
        ".weight.bitmask",
        ".row_offsets",
        ".weight.row_offsets",
        "_weight_scale",
        "_weight_scale_inv",
        "_scale_inv",
        "_scales",
    }
)
"""Roles of quantisers: without the weight that they serve they are bytes, never parameters."""


def foreign(group: Group, roles: Sequence[str]) -> bool:
    """Whether a tensor of the group is neither of these roles nor a scale of activations or the KV cache."""
    return any(r not in roles and r not in ATTENDANTS for r in group.tensors)


def extras(group: Group, shape: tuple[int, ...]) -> tuple[str, ...] | None:
    """The roles of `EXTRAS` beside a weight of logical `shape` [..., N, K]; None where one has an absurd shape."""
    found = tuple(r for r in EXTRAS if r in group.tensors)
    return found if all(_fits(r, group.tensors[r].shape, shape) for r in found) else None


def _fits(role: str, shape: tuple[int, ...], weight: tuple[int, ...]) -> bool:
    if role in SMOOTHING or role == ".svdquant_lora_a":
        return shape[-1:] == weight[-1:] and len(shape) <= len(weight)
    if role == ".svdquant_lora_b":
        return shape[-2:-1] == weight[-2:-1]
    while shape and shape[-1] == 1:
        shape = shape[:-1]
    return shape == weight[: len(shape)] and len(shape) < len(weight)


def weight_entry(declared: Declared) -> Mapping[str, Json]:
    """The part of a module's declared entry that speaks of its weight: `weight` or `weights`, or all of it."""
    for key in ("weight", "weights"):
        inner = declared.entry.get(key)
        if isinstance(inner, (list, tuple)):
            inner = inner[0] if inner else None
        if isinstance(inner, dict):
            return inner
    return declared.entry
