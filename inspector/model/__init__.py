"""The values that cross a layer: frozen, no functions but derived properties, bytes are ints, `None` is unknown.

`TensorInfo` and `Stored` are named tuples, not dataclasses: Kimi-K3 has 497,220 tensors and building a frozen
dataclass costs six times as much as building a tuple.
"""

from __future__ import annotations

from inspector.model.listing import Excluded, File, Listing, Part, Ref, Selection, Variant
from inspector.model.notes import ALL, COMPONENTS, UNESTABLISHED, UNREAD, Json, Note
from inspector.model.report import (
    Cell,
    Cost,
    DtypeTotal,
    Evidence,
    Footprint,
    Prequantised,
    Report,
    Slice,
    TensorRow,
    Verdict,
)
from inspector.model.source import Progress, Source
from inspector.model.stored import Alike, Checkpoint, Header, ShardIndex, TensorInfo, WeightMap
from inspector.model.weights import Claim, Declared, Group, Precision, Stored

__all__ = [
    "ALL",
    "COMPONENTS",
    "UNESTABLISHED",
    "UNREAD",
    "Alike",
    "Cell",
    "Checkpoint",
    "Claim",
    "Cost",
    "Declared",
    "DtypeTotal",
    "Evidence",
    "Excluded",
    "File",
    "Footprint",
    "Group",
    "Header",
    "Json",
    "Listing",
    "Note",
    "Part",
    "Precision",
    "Prequantised",
    "Progress",
    "Ref",
    "Report",
    "Selection",
    "ShardIndex",
    "Slice",
    "Source",
    "Stored",
    "TensorInfo",
    "TensorRow",
    "Variant",
    "Verdict",
    "WeightMap",
]
