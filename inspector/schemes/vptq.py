"""VPTQ: indices into centroids of v outputs each, main and residual packed together.

`X.indices` [books, ceil(N / v), ceil(gs (log2 k + log2 r) / 32)] I32 when packed, else [books, ceil(N / v), gs] with
`res_indices`; `X.centroids.weight` [books, k v], `res_centroids.weight`, outliers, `perm`, `weight_scale` and
`weight_bias` [K]. N, K, v, k and gs come from `config_for_layers`, since N is padded to v in the shapes; the shapes
hold all of them to account. Source: microsoft/VPTQ `vptq/layers/vqlinear.py`.
"""

from __future__ import annotations

from typing import Final

from inspector.model import Claim, Group, Json, Precision
from inspector.records import dataclass
from inspector.storing.blocks import told
from inspector.storing.companions import foreign
from inspector.storing.dtypes import WIDE

NAME = "vptq"
ROLES = (
    ".indices",
    ".res_indices",
    ".outlier_indices",
    ".centroids.weight",
    ".res_centroids.weight",
    ".outlier_centroids.weight",
    ".perm",
    ".weight_scale",
    ".weight_bias",
)
_OVERHEAD: Final = ROLES[3:]
_WORD: Final = 32


@dataclass(frozen=True, slots=True)
class _Layer:
    """One entry of `config_for_layers`; `residual` is 0 where there is none."""

    rows: int
    columns: int
    vector: int
    centroids: int
    residual: int
    books: int
    size: int
    outliers: int

    @property
    def bits(self) -> int:
        """Index bits of one vector."""
        return self.centroids.bit_length() - 1 + max(self.residual.bit_length() - 1, 0)


def recognise(group: Group) -> Claim | None:
    """Indices and centroids of exactly the shapes that the layer's entry gives."""
    indices, centroids = group.tensors.get(".indices"), group.tensors.get(".centroids.weight")
    layer = _layer(group.declared.entry)
    if indices is None or centroids is None or layer is None or foreign(group, ROLES):
        return None
    vectors = -(-layer.rows // layer.vector)
    packed = indices.dtype == "I32"
    width = -(-layer.size * layer.bits // _WORD) if packed else layer.size
    if not packed and indices.dtype not in ("I16", "U16", "F16"):
        return None
    if indices.shape != (layer.books, vectors, width) or centroids.dtype not in WIDE:
        return None
    if centroids.shape != (layer.books, layer.centroids * layer.vector):
        return None
    if layer.books * layer.size + layer.outliers != layer.columns:
        return None
    if bool(layer.residual) != (".res_centroids.weight" in group.tensors):
        return None
    if (bool(layer.residual) and not packed) != (".res_indices" in group.tensors):
        return None
    if bool(layer.outliers) != (".outlier_indices" in group.tensors):
        return None
    bits = round(layer.bits / layer.vector, 2)
    return Claim(
        NAME,
        Precision(f"vq@{bits}", bits, (layer.vector, 1)),
        layer.rows * layer.columns,
        tuple(r for r in ROLES[:3] if r in group.tensors),
        tuple(r for r in _OVERHEAD if r in group.tensors),
        shape=(layer.rows, layer.columns),
        evidence=f"{told(group.tensors, *ROLES)}: {layer.bits} bits for {layer.vector} outputs (config_for_layers)",
    )


def _layer(entry: Json) -> _Layer | None:
    pairs = [entry.get(k) for k in ("vector_lens", "num_centroids", "num_res_centroids")]
    singles = [entry.get(k) for k in ("out_features", "in_features", "group_num", "group_size")]
    if not all(isinstance(p, (list, tuple)) and len(p) == 2 and type(p[1]) is int for p in pairs):
        return None
    if not all(type(s) is int and s > 0 for s in singles):
        return None
    vector, centroids, residual = (p[1] for p in pairs if p is not None)
    outliers = entry.get("outlier_size", 0)
    if vector < 1 or centroids < 2 or type(outliers) is not int or outliers < 0:
        return None
    if centroids & (centroids - 1) or (residual > 0 and residual & (residual - 1)):
        return None
    rows, columns, books, size = (s for s in singles if s is not None)
    return _Layer(rows, columns, vector, centroids, max(residual, 0), books, size, outliers)
