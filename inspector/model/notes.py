"""What a reader must know: notes, their codes, and the names of components."""

from __future__ import annotations

from typing import Any

from inspector.records import dataclass

Json = Any
"""A decoded JSON value."""

COMPONENTS = (
    "routed_experts",
    "shared_experts",
    "attention",
    "recurrent",
    "mlp",
    "router",
    "embedding",
    "head",
    "norm",
    "memory",
    "vision",
    "audio",
    "draft",
    "other",
)
"""The parts of a model, by their contract names; every stored tensor belongs to exactly one."""

ALL = "all"
"""The variant that stands for every set of a menu: all headers are read, the figures are the default's."""


@dataclass(frozen=True, slots=True)
class Note:
    """Something a reader must know: `code` is stable, `where` names a file, tensor or key."""

    code: str
    message: str
    where: str = ""


UNESTABLISHED = frozenset(
    {
        "unread_file",
        "unreadable_document",
        "lfs_pointer",
        "truncated",
        "missing_shard",
        "format_not_read",
        "nothing_loadable",
        "listing_cut",
    }
)
"""Codes of notes that leave something of a checkpoint unknown: the report is incomplete, the exit status 3."""

UNREAD = frozenset({"unread_file", "lfs_pointer", "missing_shard", "format_not_read"})
"""Those of them that leave tensors out: totals are of what was read, parameters are unknown."""
