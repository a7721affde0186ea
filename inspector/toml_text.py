"""TOML that strangers may have written, by the standard library's parser: what it does not bound is refused before.

Its time grows with the square of a dotted key's parts, its stack with the nesting of values.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from itertools import groupby
from typing import Final

from inspector.errors import UsageError
from inspector.model import Json

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MAX_KEY: Final = 64
"""Parts of a dotted key, which is how deep it nests."""
_QUOTED: Final = re.compile(r'''"""(?:[^\\]|\\.)*?"""|\'{3}.*?\'{3}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*''', re.DOTALL)
"""Strings and comments, whose dots are no key's."""
_PART: Final = re.compile(r"[ \t]*[\w-]+[ \t]*")


def loads(text: str, place: str, advice: str, parse_float: Callable[[str], object] = float) -> dict[str, Json]:
    """The document. Raises `UsageError` at `place` where it is not TOML, or goes beyond what is read."""
    between = (_PART.fullmatch(part) is not None for part in _QUOTED.sub("_", text).split("."))
    if any(dotted and sum(1 for _ in run) > MAX_KEY for dotted, run in groupby(between)):
        raise UsageError(place, f"has a key of more than {MAX_KEY} parts", "Flatten it.")
    try:
        return tomllib.loads(text, parse_float=parse_float)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(place, f"is not TOML: {error}", advice) from None
    except RecursionError:
        raise UsageError(place, "nests too deep for TOML", "Flatten it.") from None
    except ValueError:
        # The one thing else that its parser does not catch is the interpreter's limit on integers.
        raise UsageError(place, "holds a number of more digits than are read (4,300)", "Correct it.") from None
