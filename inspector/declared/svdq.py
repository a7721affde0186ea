"""Nunchaku (SVDQuant): sections `svdq_w4a4` and `awq_w4a16`, each with the modules that it holds for.

{precision: "int4" | "nvfp4", group_size, rank, targets: [names]}: diffusers `quantizers/nunchaku`. A module that no
section names is not quantised, where sections name any.
"""

from __future__ import annotations

import re

from inspector.model import Declared
from inspector.witness.declaration import Answers, Rules, Spoken, strings, without
from inspector.witness.patterns import Patterns, glob

METHODS = ("svdq",)
_SECTIONS = ("svdq_w4a4", "awq_w4a16")
_DIGITS = re.compile(r"\d")


def rules(spoken: Spoken) -> Rules:
    """The section whose targets name the module."""
    body = spoken.body
    answers = Answers(spoken)
    bare = without(body, *_SECTIONS)
    targets: list[str] = []
    of: list[Declared] = []
    for key in _SECTIONS:
        section = body.get(key)
        if isinstance(section, dict):
            names = strings(section.get("targets"))
            precision = section.get("precision")
            digit = _DIGITS.search(precision) if isinstance(precision, str) else None
            entry = {**bare, **without(section, "targets"), "section": key}
            bits = int(digit[0]) if digit is not None and digit[0] != "0" else 4
            targets += names
            of += [answers.of(entry, bits, section.get("group_size"), key)] * len(names)
    matched = Patterns(targets, glob, f"{spoken.where}.targets")
    plain = answers.of(bare)
    unlisted = answers.excluded("targets") if of else plain

    def module(name: str) -> Declared:
        found = matched.find(name)
        return unlisted if found is None else of[found]

    return Rules(module, matched.per_name, (*answers.notes, *matched.notes))
