"""Change inputs: JSON as a tree, anything else as bytes. All chances come from a seed, so that runs can be repeated."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Sequence
from typing import Any, Final

ODD: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, 1, -1, 2, 7, 8, 255, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 10**30, -(10**20)),
    *(0.5, 1.0, -0.0, 1e308, float("nan"), float("inf")),
    *(
        "",
        "a",
        "..",
        "../x",
        "/etc/passwd",
        "a/b",
        "\x00",
        "\x1b[2J",
        "\u202e",
        "\ud800",
        "é",
        "=1+1",
        "<b>",
        "|",
        "\n",
        "²",
        "٣",
    ),
    *([], {}, [[]], [0], {"": 0}),
)
"""Values that parsers stumble over."""
_DEEP: Final = 600
_MANY: Final = "9" * 5_000
"""More digits than the interpreter takes for an integer."""
_DIGITS: Final = re.compile(rb"\d+")


def tree(data: bytes, start: int, words: Sequence[str], chance: random.Random) -> bytes | None:
    """`data` with one to three changes in the JSON that begins at `start`; None where there is none."""
    try:
        value = json.loads(data[start:])
        for _ in range(chance.randint(1, 3)):
            value = _changed(value, words, chance)
        text = json.dumps(value, ensure_ascii=chance.random() < 0.7)
    except (ValueError, RecursionError):
        return None
    head = bytearray(data[:start])
    if head and chance.random() < 0.2:
        head[chance.randrange(len(head))] = chance.randrange(256)
    return bytes(head) + _text(text, chance).encode("utf-8", "surrogatepass")


def spoilt(data: bytes, chance: random.Random) -> bytes:
    """`data` with bytes changed, cut, put in or said twice."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 4)):
        at, length = chance.randrange(len(out) + 1), chance.randint(1, 12)
        match chance.randrange(5):
            case 0:
                out[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del out[at : at + length]
            case 2:
                out[at:at] = chance.randbytes(length)
            case 3:
                return _DIGITS.sub(_MANY.encode(), bytes(out), count=1)
            case _:
                out[at:at] = out[at : at + 4 * length]
    return bytes(out)


def _text(text: str, chance: random.Random) -> str:
    """The same text, seldom with what no tree holds: a key twice, a number of 5,000 digits, very deep lists."""
    roll = chance.random()
    if roll < 0.02:
        return text.replace("{", '{"a":1,"a":2,', 1)
    if roll < 0.06:
        at = chance.randrange(len(text) + 1)
        return text[:at] + re.sub(r"\d+", _MANY, text[at:], count=1)
    if roll < 0.07:
        return text.replace(" 1", " " + "[" * _DEEP * 100, 1)
    return text


def _changed(value: Any, words: Sequence[str], chance: random.Random) -> Any:
    """A tree with one place changed. The walk goes down at random and changes where it stops."""
    inner = (
        list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []
    )
    if inner and chance.random() < 0.75:
        key, child = chance.choice(inner)
        child = _changed(child, words, chance)
        if isinstance(value, dict):
            return {**value, key: child}
        return [*value[:key], child, *value[key + 1 :]]
    if isinstance(value, dict) and chance.random() < 0.7:
        return _object(value, words, chance)
    if isinstance(value, list) and chance.random() < 0.7:
        return _list(value, words, chance)
    if isinstance(value, int) and chance.random() < 0.4:
        return value + chance.choice((-1, 1, -value, value, 32, 128))
    if isinstance(value, str) and chance.random() < 0.3:
        at = chance.randrange(len(value) + 1)
        return value[:at] + str(_odd(words, chance)) + value[at + chance.randrange(2) :]
    return _odd(words, chance)


def _object(value: dict[str, Any], words: Sequence[str], chance: random.Random) -> dict[str, Any]:
    out = dict(value)
    if out and chance.random() < 0.6:
        key = chance.choice(list(out))
        child = out.pop(key)
        if chance.random() < 0.6:
            out[chance.choice((*words, "", "a"))] = child
        return out
    out[chance.choice((*words, "a", "\ud800"))] = chance.choice(list(out.values())) if out else _odd(words, chance)
    return out


def _list(value: list[Any], words: Sequence[str], chance: random.Random) -> list[Any]:
    at = chance.randrange(len(value) + 1)
    if value and chance.random() < 0.5:
        return value[: at - 1] + value[at:] if chance.random() < 0.5 else value[:at] * chance.randint(2, 4)
    return [*value[:at], _odd(words, chance), *value[at:]]


def _odd(words: Sequence[str], chance: random.Random) -> Any:
    if words and chance.random() < 0.5:
        return chance.choice(words)
    if chance.random() < 0.02:
        return json.loads("[" * _DEEP + "]" * _DEEP)
    return chance.choice(ODD)
