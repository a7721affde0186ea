"""Regular expressions as trees: the part of `re`'s language that can be matched without backtracking.

Not understood, and refused with the reason: back-references, word boundaries, assertions in the middle of a pattern.
A leading `(?!...)` or `(?=...)` is understood. Source of the language: Python's `re` documentation.
"""

from __future__ import annotations

from typing import Any, Final

from inspector.records import dataclass

MAX_PATTERN: Final = 512
"""Characters of one pattern; longer ones are refused."""
_MAX_REPEAT: Final = 256
_MAX_DEPTH: Final = 40

ALWAYS, AT_START, AT_END = 0, 1, 2
"""When an edge without a character may be taken."""
_DIGITS: Final = "0123456789"
_CLASSES: Final = {
    "d": frozenset(_DIGITS),
    "w": frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" + _DIGITS + "_"),
    "s": frozenset(" \t\n\r\v\f"),
}
_CONTROLS: Final = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v"}


class UnusablePattern(ValueError):
    """The pattern is not a regular expression, or one that cannot be matched in bounded time."""


@dataclass(frozen=True, slots=True)
class CharacterSet:
    """Characters that an edge takes: these, or all but these."""

    inverted: bool
    characters: frozenset[str]


ANY: Final = CharacterSet(True, frozenset())
Tree = tuple[str, Any]
"""One of ("set", CharacterSet), ("all", [trees]), ("or", [trees]),
("times", (tree, low, high or None)),
("at", condition).
"""


class Parser:
    """Recursive descent over one pattern."""

    def __init__(self, text: str) -> None:
        if len(text) > MAX_PATTERN:
            raise UnusablePattern(f"{len(text):,} characters long, the limit is {MAX_PATTERN}")
        self.text = text
        self.at = 0
        self.depth = 0

    def whole(self) -> tuple[list[tuple[bool, Tree]], Tree]:
        """The leading assertions (wanted, tree) and the rest."""
        assertions: list[tuple[bool, Tree]] = []
        anchored = self._take("^")
        while self.text.startswith(("(?!", "(?="), self.at):
            wanted = self.text[self.at + 2] == "="
            self.at += 3
            assertions.append((wanted, self._choice()))
            self._expect(")")
        tree = self._choice()
        if self.at < len(self.text):
            raise UnusablePattern(f"unbalanced {self.text[self.at]!r} at character {self.at}")
        return assertions, ("all", [("at", AT_START), tree]) if anchored and not assertions else tree

    def _take(self, word: str) -> bool:
        if self.text.startswith(word, self.at):
            self.at += len(word)
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._take(word):
            raise UnusablePattern(f"{word!r} is missing at character {self.at}")

    def _choice(self) -> Tree:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise UnusablePattern(f"more than {_MAX_DEPTH} groups inside each other")
        branches = [self._sequence()]
        while self._take("|"):
            branches.append(self._sequence())
        self.depth -= 1
        return branches[0] if len(branches) == 1 else ("or", branches)

    def _sequence(self) -> Tree:
        parts: list[Tree] = []
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            parts.append(self._repeated(self._atom()))
        return ("all", parts)

    def _atom(self) -> Tree:
        character = self.text[self.at]
        self.at += 1
        if character == "(":
            if self._take("?") and not self._take(":"):
                self._expect("P<")
                end = self.text.find(">", self.at)
                if end < 0 or not self.text[self.at : end].isidentifier():
                    raise UnusablePattern(f"a group without a name at character {self.at}")
                self.at = end + 1
            tree = self._choice()
            self._expect(")")
            return tree
        if character == "[":
            return ("set", self._brackets())
        if character == ".":
            return ("set", ANY)
        if character in "^$":
            return ("at", AT_START if character == "^" else AT_END)
        if character in "*+?":
            raise UnusablePattern(f"nothing to repeat at character {self.at - 1}")
        return ("set", self._escaped()) if character == "\\" else ("set", CharacterSet(False, frozenset(character)))

    def _escaped(self) -> CharacterSet:
        if self.at >= len(self.text):
            raise UnusablePattern("it ends in a backslash")
        character = self.text[self.at]
        self.at += 1
        if character.lower() in _CLASSES:
            return CharacterSet(character.isupper(), _CLASSES[character.lower()])
        if character in _CONTROLS:
            return CharacterSet(False, frozenset(_CONTROLS[character]))
        if character.isalnum():
            raise UnusablePattern(f"\\{character} is not understood")
        return CharacterSet(False, frozenset(character))

    def _brackets(self) -> CharacterSet:
        inverted = self._take("^")
        found: set[str] = set()
        first = True
        while first or not self.text.startswith("]", self.at):
            if self.at >= len(self.text):
                raise UnusablePattern("']' is missing")
            first = False
            low = self._member()
            if self.text.startswith("-", self.at) and not self.text.startswith("-]", self.at) and len(low) == 1:
                self.at += 1
                high = self._member()
                (a,), b = low, next(iter(high), "")
                if len(high) != 1 or b < a or ord(b) - ord(a) > 0xFFFF:
                    raise UnusablePattern(f"a range of characters that is none at character {self.at}")
                found.update(map(chr, range(ord(a), ord(b) + 1)))
            else:
                found |= low
        self.at += 1
        return CharacterSet(inverted, frozenset(found))

    def _member(self) -> frozenset[str]:
        if self.at >= len(self.text):
            raise UnusablePattern("']' is missing")
        self.at += 1
        if self.text[self.at - 1] != "\\":
            return frozenset(self.text[self.at - 1])
        escaped = self._escaped()
        if escaped.inverted:
            raise UnusablePattern("an inverted class inside brackets is not understood")
        return escaped.characters

    def _repeated(self, tree: Tree) -> Tree:
        low, high = 1, 1
        wide = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        if self.at < len(self.text) and self.text[self.at] in wide:
            low, high = wide[self.text[self.at]]  # type: ignore[assignment]
            self.at += 1
        elif self.text.startswith("{", self.at) and (counts := self._counts()) is not None:
            low, high = counts  # type: ignore[assignment]
        else:
            return tree
        if not self._take("?") and self.text[self.at : self.at + 1] in ("*", "+", "{"):
            raise UnusablePattern(f"a repeat of a repeat at character {self.at}")
        return ("times", (tree, low, high))

    def _counts(self) -> tuple[int, int | None] | None:
        end = self.text.find("}", self.at)
        low, comma, high = self.text[self.at + 1 : end].partition(",") if end > 0 else ("", "", "")
        if (not low and not high) or low.strip(_DIGITS) or high.strip(_DIGITS):
            return None
        self.at = end + 1
        bounds = int(low or 0), (int(high) if high else None) if comma else int(low)
        if max(bounds[0], bounds[1] or 0) > _MAX_REPEAT or (bounds[1] is not None and bounds[1] < bounds[0]):
            raise UnusablePattern(f"a repeat of {low or 0} to {high or low} times")
        return bounds
