"""PEFT adapters: adapter_config.json with adapter_model.*, where no full model stands beside it.

Rule: peft `utils/save_and_load.py`; transformers takes the full model where both are there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from inspector.model import File, Json, Part, Selection
from inspector.picking import usable
from inspector.sets import weight_sets

_CONFIG = "adapter_config.json"


def choose(
    files: Sequence[File], documents: Mapping[str, Json], variant: str | None, path: str | None
) -> Selection | None:
    """The adapter's file; None where the root has no adapter, or has a model of its own."""
    if _CONFIG not in {f.path for f in files} or variant is not None:
        return None
    for format in ("safetensors", "pytorch"):
        sets = weight_sets("", usable(files, format).get("", []), [f for f in files if not f.folder])
        adapters = [s for s in sets if s.stem == "adapter_model"]
        if any(s.stem in ("model", "pytorch_model") for s in sets):
            return None
        if adapters:
            return Selection(format, None, (Part("", adapters[0].files, adapters[0].index),), (), (), "adapter")
    return None
