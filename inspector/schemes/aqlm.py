"""AQLM: one code per group of weights and codebook.

`X.codes` [N / og, K / ig, books] (I8, I16; above 8 bits unsigned values in signed words), `X.codebooks` [books,
2^bits, og, ig], `X.scales` [N / og, 1, 1, 1]. Both group sizes and the bits of a code are in the codebooks' shape.
Source: Vahe1994/AQLM `inference_lib/src/aqlm/inference.py` (`QuantizedLinear`).
"""

from __future__ import annotations

from inspector.model import Claim, Group, Precision
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import BITS, WIDE

NAME = "aqlm"
ROLES = (".codes", ".codebooks", ".scales")


def recognise(group: Group) -> Claim | None:
    """Codes whose last dimension is the codebooks' first, wide enough for 2^bits entries."""
    codes, books = group.tensors.get(".codes"), group.tensors.get(".codebooks")
    if codes is None or books is None or len(codes.shape) != 3 or len(books.shape) != 4:
        return None
    if foreign(group, ROLES) or codes.dtype not in ("I8", "U8", "I16", "U16", "I32"):
        return None
    count, entries, out_group, in_group = books.shape
    code_bits = entries.bit_length() - 1
    if books.dtype not in WIDE or not books.elements or count != codes.shape[2]:
        return None
    if entries != 1 << code_bits or code_bits > BITS[codes.dtype]:
        return None
    scales = group.tensors.get(".scales")
    if scales is not None and (scales.elements != codes.shape[0] or scales.dtype not in WIDE):
        return None
    rows, columns = codes.shape[0] * out_group, codes.shape[1] * in_group
    bits = round(count * code_bits / (out_group * in_group), 2)
    return Claim(
        NAME,
        Precision(f"vq@{bits}", bits, (out_group, columns)),
        rows * columns,
        (".codes",),
        tuple(r for r in ROLES[1:] if r in group.tensors),
        shape=(rows, columns),
        evidence=f"{told(group.tensors, *ROLES)}: {count} code(s) of {code_bits} bits for {out_group} x {in_group}",
    )
