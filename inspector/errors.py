"""Every exception of the package. Each carries its place and says what to do next; none is a traceback.

A message is one line: what was found, with both numbers where there are two, then the advice. As text an error is
safe to print, whatever a file has for keys and names: hidden characters are escapes, what is long loses its middle.
"""

from __future__ import annotations

from inspector.escape import terminal

_LONGEST = 4_000


class InspectorError(Exception):
    """The base: `place` names a file, URL, flag or key; `advice` is the next step, or empty."""

    def __init__(self, place: str, message: str, advice: str = "") -> None:
        self.place = place
        self.message = message
        self.advice = advice
        text = f"{place}: {message}" if place else message
        super().__init__(terminal(f"{text}. {advice}" if advice else text, _LONGEST))


class UsageError(InspectorError):
    """The user's own flag, argument or table is wrong: exit status 2."""


class SourceError(InspectorError):
    """Bytes could not be had (network, gated, missing, offline): exit status 3."""


class MalformedFile(InspectorError):
    """A file's bytes contradict its format: exit status 3. `offset` is a byte position in it, if known."""

    def __init__(self, place: str, message: str, advice: str = "", *, offset: int | None = None) -> None:
        self.offset = offset
        super().__init__(place, message if offset is None else f"{message} (at byte {offset:,})", advice)


class UnsupportedFile(InspectorError):
    """A file whose format is known and whose headers cannot be read here: exit status 3."""
