"""What a file holds, told by its first bytes where its name does not say: blobs of Ollama and of the Hub's cache."""

from __future__ import annotations

import re
from typing import Final

ENOUGH: Final = 16
"""How many first bytes tell."""
_SUFFIX: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9_]{0,15}$")


def nameless(name: str) -> bool:
    """True for a file's name without a suffix, such as `sha256-6a0746a1ec1a...` or `model`."""
    return _SUFFIX.search(name) is None


def held(beginning: bytes, size: int | None) -> str | None:
    """`gguf` by its magic, `safetensors` by a plausible length before a JSON object; None for anything else."""
    if beginning[:4] == b"GGUF":
        return "gguf"
    length = int.from_bytes(beginning[:8], "little")
    room = 100_000_000 if size is None else min(100_000_000, size - 8)
    if len(beginning) > 9 and beginning[8:9] == b"{" and beginning[9:10] in b'"} \n' and 2 <= length <= room:
        return "safetensors"
    return None
