"""Floods of notes: the same said of many tensors is said once, and no code fills a page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from inspector.model import Note
from inspector.noting import few, merged
from inspector.render import render
from tests.render.samples import V41


def unknown(shape: str, where: str, beside: str = "") -> Note:
    return Note("unknown_precision", f"U8 [{shape}]{beside} fits no known way", where)


def test_notes_that_differ_in_shapes_only_become_one_with_their_number() -> None:
    found = merged(
        [
            (unknown("4, 2", "a"), 3),
            (unknown("8, 2", "b"), 1),
            (unknown("4, 2", "c", " beside F32 [2]"), 1),
            (Note("orphan_scale", "U8 [4, 2] fits no known way", "d"), 2),
        ]
    )
    assert [(n.code, n.message, n.where) for n in found] == [
        ("unknown_precision", "U8 [4, 2] fits no known way (4 groups like this, of 2 shapes)", "a"),
        ("unknown_precision", "U8 [4, 2] beside F32 [2] fits no known way", "c"),
        ("orphan_scale", "U8 [4, 2] fits no known way (2 groups like this)", "d"),
    ]


def test_of_each_code_so_many_are_kept_and_the_others_counted() -> None:
    many = [Note("a", f"{i}") for i in range(25)] + [Note("b", "x")]
    found = few(many, 20)
    assert [n.message for n in found if n.code == "a"] == [
        *(str(i) for i in range(20)),
        "and 5 more notes of this kind",
    ]
    assert [n.message for n in found if n.code == "b"] == ["x"]
    assert few(many[:20], 20) == tuple(many[:20])
    assert few(many[:21], 20)[-1] == Note("a", "and 1 more note of this kind")


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_a_person_sees_at_most_twenty_of_a_code_and_json_has_all(form: str) -> None:
    report = replace(V41, notes=tuple(Note("odd", f"number {i}") for i in range(50)))
    shown = render(form, (report,), width=80)
    assert shown.count("number ") == 20
    assert "and 30 more notes of this kind" in shown
    assert render("json", (report,), width=80).count("number ") == 50
