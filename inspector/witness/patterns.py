"""Names of modules held against the patterns of config files, each dialect in its own way.

Lists have hundreds of entries and checkpoints a quarter of a million modules, so patterns that are plain text with a
wildcard at an end become look-ups; only true regular expressions go through the automaton. A name is tried as the
header has it and without the wrappers (`model.`, `language_model.`) that one side may have and the other not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Literal

from inspector.model import Note
from inspector.records import dataclass
from inspector.witness.automaton import Automaton
from inspector.witness.expressions import MAX_PATTERN, UnusablePattern

_WRAPPERS: Final = ("model.", "language_model.", "base_model.", "module.")
_LITERAL: Final = re.compile(r"(\.\*)?((?:[A-Za-z0-9_\-/]|\\\.|\\-|\\_|\.(?![*+?{]))+)(\.\*)?(\$)?")
_VARIES: Final = re.compile(r"[0-9\[?]|\\[dDwWsS]|(?<!\\)\.(?![*+])")
_MOST_NOTES: Final = 5

Kind = Literal["exact", "prefix", "suffix", "inside", "under"]
"""How a text is held against a name; `under`: the name itself or a module below it."""


@dataclass(frozen=True, slots=True)
class Text:
    """A pattern that needs no regular expression."""

    kind: Kind
    text: str


@dataclass(frozen=True, slots=True)
class Expression:
    """A regular expression, with the arguments of `Automaton.add`."""

    pattern: str
    search: bool = False
    whole: bool = False
    boundary: bool = False


Test = Text | Expression
Style = Callable[[str], Sequence[Test]]
"""A dialect's reading of one pattern."""


def core(name: str) -> str:
    """The name without leading wrappers: `language_model.model.layers.0` -> `layers.0`."""
    rest = name
    while rest.startswith(_WRAPPERS):
        rest = rest[rest.index(".") + 1 :]
    return rest or name


class Patterns:
    """An ordered list of patterns: which is the first that matches a name."""

    def __init__(self, texts: Iterable[str], style: Style, where: str) -> None:
        """`where` is the place of the list, for the notes on what cannot be used."""
        self._under: dict[str, int] = {}
        self._exact: dict[str, int] = {}
        self._ends: dict[tuple[bool, int], dict[str, int]] = {}
        self._inside: list[tuple[int, str]] = []
        self._automaton = Automaton()
        self._numbers: list[int] = []
        self.per_name = False
        notes: list[Note] = []
        for index, text in enumerate(texts):
            try:
                for test in style(text):
                    self._add(index, test)
            except UnusablePattern as error:
                shown = text if len(text) <= 80 else f"{text[:77]}..."
                notes.append(Note("unusable_pattern", f"{shown!r} is left out: {error}", where))
        if len(notes) > _MOST_NOTES:
            rest = f"{len(notes) - _MOST_NOTES:,} more patterns are left out for the like reasons"
            notes[_MOST_NOTES:] = [Note("unusable_pattern", rest, where)]
        self.notes = tuple(notes)

    def find(self, name: str) -> int | None:
        """The number of the first pattern that matches, None if none does."""
        found = self._texts(name)
        stripped = core(name)
        if stripped != name:
            found += self._texts(stripped)
        found += [i for i, text in self._inside if text in name]
        if self._numbers:
            found += [self._numbers[n] for n in self._automaton.matches(name)]
        return min(found, default=None)

    def __contains__(self, name: str) -> bool:
        return self.find(name) is not None

    def _texts(self, name: str) -> list[int]:
        found = [self._exact[name]] if name in self._exact else []
        for (start, size), texts in self._ends.items():
            if size <= len(name) and (index := texts.get(name[:size] if start else name[-size:])) is not None:
                found.append(index)
        under = self._under
        while under:
            if (index := under.get(name)) is not None:
                found.append(index)
            cut = name.rfind(".")
            if cut < 0:
                break
            name = name[:cut]
        return found

    def _add(self, index: int, test: Test) -> None:
        if isinstance(test, Expression):
            self._automaton.add(test.pattern, search=test.search, whole=test.whole, boundary=test.boundary)
            self._numbers.append(index)
            self.per_name |= _VARIES.search(test.pattern) is not None
            return
        kind, text = test.kind, test.text
        if not text:
            return
        self.per_name |= any(c.isdigit() for c in text)
        if kind == "inside":
            self._inside.append((index, text))
            return
        for form in {text} if kind == "suffix" else {text, core(text)}:
            if kind == "exact":
                self._exact.setdefault(form, index)
            elif kind == "under":
                self._under.setdefault(form, index)
            else:
                self._ends.setdefault((kind == "prefix", len(form)), {}).setdefault(form, index)


def regex(text: str, *, search: bool = False, whole: bool = False) -> Sequence[Test]:
    """A regular expression as `re.match` has it (`search`: as `re.search`, `whole`: as `re.fullmatch`)."""
    body = text.removeprefix("^")
    plain = _LITERAL.fullmatch(body) if len(text) <= MAX_PATTERN else None
    if plain is None:
        return (Expression(text, search, whole),)
    floating = plain[1] is not None or (search and body == text)
    bounded = plain[3] is None and (plain[4] is not None or whole)
    kinds: dict[tuple[bool, bool], Kind] = {
        (False, False): "prefix",
        (False, True): "exact",
        (True, False): "inside",
        (True, True): "suffix",
    }
    return (Text(kinds[floating, bounded], plain[2].replace("\\", "")),)


def searched(text: str) -> Sequence[Test]:
    """A regular expression as `re.search` has it."""
    return regex(text, search=True)


def glob(text: str) -> Sequence[Test]:
    """A shell pattern over the whole name; plain text also covers the modules below it."""
    head = text[:-1]
    if "[" not in text and "?" not in text:
        if "*" not in text:
            return (Text("under", text),)
        if head and text.endswith("*") and "*" not in head:
            return (Text("prefix", head),)
        if len(text) > 1 and text.startswith("*") and "*" not in text[1:]:
            return (Text("suffix", text[1:]),)
        if len(text) > 2 and text[0] == text[-1] == "*" and "*" not in text[1:-1]:
            return (Text("inside", text[1:-1]),)
    return (Expression(_translated(text), whole=True),)


def _translated(text: str) -> str:
    """A shell pattern as a regular expression, by `fnmatch`'s rules."""
    out: list[str] = []
    at = 0
    while at < len(text):
        character = text[at]
        end = text.find("]", at + 2) if character == "[" else -1
        if end > 0:
            inside = text[at + 1 : end].replace("\\", "\\\\")
            out.append(f"[{'^' + inside[1:] if inside.startswith('!') else inside}]")
            at = end + 1
            continue
        out.append({"*": ".*", "?": "."}.get(character) or re.escape(character))
        at += 1
    return "".join(out)


def skipped(text: str) -> Sequence[Test]:
    """transformers `should_convert_module`: a regex from the start up to a dot, or an ending of the name.

    A plain name is taken as it is written: its dots are dots.
    """
    name = text.removesuffix(".weight")
    if len(name) <= MAX_PATTERN and _LITERAL.fullmatch(name) and "*" not in name and "$" not in name:
        plain = name.replace("\\", "")
        return (Text("under", plain.rstrip(".")), Text("suffix", plain))
    return (Expression(name, boundary=True), Text("suffix", name))


def anywhere(text: str) -> Sequence[Test]:
    """Plain text anywhere in the name."""
    return (Text("inside", text),)


def named(text: str) -> Sequence[Test]:
    """The name itself."""
    return (Text("exact", text),)
