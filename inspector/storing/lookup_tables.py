"""Names of tensors that are tables and not weights: the same whatever the dtype, so two schemes need to know them.

Lookup tables, buffers, markers (ComfyUI's `scaled_fp8`) and rotations (compressed-tensors `transform_config`: modules
`R1_weight_output` and the like inside the module that they turn).
"""

from __future__ import annotations

import re
from typing import Final

_TABLES: Final = re.compile(
    r"(^|\.)(tid2eid|ffn_gate_tid2eid(\.weight)?|position_ids|token_type_ids|inv_freq|original_inv_freq|cos_cached"
    r"|sin_cached|freqs_cis|rope_freqs(\.weight)?|rope_factors_(long|short)(\.weight)?|num_batches_tracked"
    r"|relative_position_index|relative_coords_table|attn_mask|masked_bias|causal_mask|scaled_fp8"
    r"|(R[1-4]|u|v)_(weight_input|weight_output|input|output|k_cache|q_attn)(\.weight)?)$"
)
_MASK: Final = re.compile(r"(^|\.)(attn|attention)\.bias$")


def is_table(name: str, shape: tuple[int, ...]) -> bool:
    """A table by its full name; `attn.bias` only where it is a 4-D causal mask (GPT-2)."""
    if _MASK.search(name) is not None:
        return len(shape) == 4 and shape[-1] == shape[-2]
    return _TABLES.search(name) is not None
