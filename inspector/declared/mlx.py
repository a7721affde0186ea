"""MLX: {group_size, bits, mode} for all, and paths with their own or false.

config.json `quantization` (repeated as `quantization_config` without a method): `"path": {bits, group_size, mode}`
or false. Source: mlx-lm `utils.py` `load_model` `class_predicate`.
"""

from __future__ import annotations

from inspector.model import Declared
from inspector.witness.declaration import Answers, Rules, Spoken
from inspector.witness.patterns import core

METHODS = ("mlx",)


def rules(spoken: Spoken) -> Rules:
    """The path's own entry, else the one setting."""
    answers = Answers(spoken)
    paths = {k: v for k, v in spoken.body.items() if isinstance(v, dict) or ("." in k and isinstance(v, bool))}
    bare = {k: v for k, v in spoken.body.items() if k not in paths}
    plain = answers.of(bare, bare.get("bits"), bare.get("group_size"))
    own: dict[str, Declared] = {}
    for path, value in paths.items():
        if value is False:
            answer = answers.excluded("per_path")
        else:
            entry = {**bare, **(value if isinstance(value, dict) else {})}
            answer = answers.of(entry, entry.get("bits"), entry.get("group_size"), "per_path")
        own[path] = answer
        own.setdefault(core(path), answer)

    def module(name: str) -> Declared:
        return own.get(name) or own.get(core(name), plain)

    return Rules(module, any(c.isdigit() for p in paths for c in p), answers.notes)
