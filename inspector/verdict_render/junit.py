"""Verdicts as JUnit XML: a test case per row, a failure for what is wrong, an error for what could not be read.

The elements and attributes are those that Jenkins, GitLab and GitHub reporters read.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from inspector.claim.claim_verdict import Judged, Verdicts
from inspector.escape import terminal
from inspector.show.verdict_words import quantity, repo, sentence


def render(verdicts: Verdicts, *, width: int = 80, colour: bool = False) -> str:
    """One suite per file."""
    root = Element("testsuites", name="inspect check")
    files = dict.fromkeys(one.claim.place.file for one in verdicts.judged)
    for file in files:
        _suite(root, file, [one for one in verdicts.judged if one.claim.place.file == file], verdicts)
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _suite(root: Element, file: str, some: list[Judged], verdicts: Verdicts) -> None:
    unknown = [one for one in some if one.outcome == "unverifiable"]
    allowed = verdicts.allow_unverifiable
    suite = SubElement(
        root,
        "testsuite",
        name=_text(file),
        tests=str(len(some)),
        failures=str(sum(verdicts.fails(one) for one in some)),
        errors=str(0 if allowed else len(unknown)),
        skipped=str(len(unknown) if allowed else 0),
        time="0",
    )
    for one in some:
        case = SubElement(suite, "testcase", name=_name(one), classname=_text(repo(one)) or "row", time="0")
        words = ". ".join(w for w in (sentence(one), one.reason, ", ".join(one.notes)) if w)
        kind = "failure" if verdicts.fails(one) else "skipped" if allowed else "error"
        if verdicts.fails(one) or one.outcome == "unverifiable":
            # A skipped case takes no type.
            attributes = {"message": _text(words)} | ({} if kind == "skipped" else {"type": one.outcome})
            SubElement(case, kind, attributes).text = _text(f"{one.claim.place}: {words}")


def _name(one: Judged) -> str:
    return _text(f"{quantity(one) or 'row'} at {one.claim.place}")


def _text(text: str) -> str:
    # Escaping leaves no character that XML forbids.
    return terminal(text, 2000)
