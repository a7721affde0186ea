"""Every target, the four parsers of formats first."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

from scripts.fuzzing import answers, configs, formats, grammars, names, snapshots, tables

TARGETS: Final = MappingProxyType(
    {
        target.name: target
        for group in (formats, configs, names, snapshots, tables, grammars, answers)
        for target in group.TARGETS
    }
)
