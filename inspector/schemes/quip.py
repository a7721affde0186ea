"""QuIP# and QTIP: lattice or trellis codes with a sign vector for each side.

QuIP#: `X.Qidxs` [N, K / (codesz packsz)] (I64 holds four 16-bit codes of 8 weights for 2 bits), older exports
`Qidxs_0`, `Qidxs_1`, ...; QTIP: `X.trellis` I16 2-D. `X.SU` has K and `X.SV` has N elements, so bits = stored bits /
(N K). Source: Cornell-RelaxML/quip-sharp `lib/linear/quantized_linear.py`; Cornell-RelaxML/qtip
`lib/linear/quantized_linear.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "quip"
_INDICES: Final = (".Qidxs", *(f".Qidxs_{i}" for i in range(8)))
_CODES: Final = (*_INDICES, ".trellis")
_OTHERS: Final = (".SU", ".SV", ".Wscale", ".codebook_id", ".fuse_scales", ".tlut", ".rcp", ".tp_rank")
ROLES = (*_CODES, *_OTHERS)
_NOMINAL: Final = (2, 3, 4)
_INTEGERS: Final = frozenset({"I64", "I32", "I16", "I8", "U8"})


def recognise(group: Group) -> Claim | None:
    """Codes whose bits, spread over both sign vectors, are 2, 3 or 4 for each weight."""
    inputs, outputs = group.tensors.get(".SU"), group.tensors.get(".SV")
    codes = tuple(r for r in _CODES if r in group.tensors)
    if inputs is None or outputs is None or not codes or foreign(group, ROLES):
        return None
    if any(t.dtype not in WIDE or len(t.shape) != 1 or not t.elements for t in (inputs, outputs)):
        return None
    if any(group.tensors[c].dtype not in _INTEGERS or len(group.tensors[c].shape) != 2 for c in codes):
        return None
    if ".trellis" in codes and len(codes) > 1:
        return None
    rows, columns = outputs.elements, inputs.elements
    stored = 8 * sum(group.tensors[c].nbytes for c in codes)
    bits = stored // (rows * columns)
    if bits * rows * columns != stored or bits not in _NOMINAL:
        return None
    if codes[0] == ".Qidxs" and group.tensors[".Qidxs"].shape[0] != rows:
        return None
    return Claim(
        NAME,
        Precision(f"vq@{float(bits)}", float(bits)),
        rows * columns,
        codes,
        tuple(r for r in _OTHERS if r in group.tensors),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *codes, '.SU', '.SV')}: {stored:,} bits for {rows} x {columns}",
    )
