"""Weights kept as plain floats with the scales that would quantise them: exported before packing.

Quark `export.weight_format` "fake_quantized"; AutoRound `packing_format` "auto_round:fake"; compressed-tensors
`format` "dense" or `quantization_status` before "compressed". The floats are the parameters, the scales overhead.
Only the config can say so: beside wide floats the same scales prove nothing.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Declared, Group, Precision
from inspector.storing.companions import ATTENDANTS, COMPANIONS
from inspector.storing.dtypes import FLOATS, WIDE

NAME = "fake_quantized"
ROLES = (".weight", ".weight_scale", ".weight_zero_point", ".zero_point", ".weight_g_idx")
_UNPACKED: Final = ("initialized", "calibration", "frozen")


def recognise(group: Group) -> Claim | None:
    """A wide weight beside scales, where the config declares it unpacked."""
    weight = group.tensors.get(".weight")
    if weight is None or weight.dtype not in WIDE or not fake(group.declared):
        return None
    others = tuple(r for r in group.tensors if r != ".weight" and r not in ATTENDANTS)
    if not others or any(r not in COMPANIONS for r in others):
        return None
    name, bits = FLOATS[weight.dtype]
    return Claim(
        NAME,
        Precision(name, bits),
        weight.elements,
        (".weight",),
        others,
        shape=weight.shape,
        evidence=f"{weight.dtype} {list(weight.shape)} with scales, declared unpacked by {group.declared.where}",
    )


def fake(declared: Declared) -> bool:
    """True where the config says that weights were exported unpacked."""
    entry = declared.entry
    export = entry.get("export")
    if isinstance(export, dict) and export.get("weight_format") == "fake_quantized":
        return True
    packing = entry.get("packing_format")
    if isinstance(packing, str) and packing.endswith(":fake"):
        return True
    if declared.method != "compressed-tensors":
        return False
    return entry.get("format") == "dense" or entry.get("quantization_status") in _UNPACKED
