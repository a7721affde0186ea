"""What is wrong with a text that is not JSON, without a word of the interpreter's."""

from __future__ import annotations

import json

import pytest

from inspector.json_faults import words


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{nope", "Expecting property name"),
        (b"\xff", "byte 0 is not UTF-8"),
        (b"[" * 200_000, "nested too deeply"),
        (b"1" * 5_000, "more digits than are read (4,300)"),
    ],
    ids=["syntax", "utf-8", "depth", "digits"],
)
def test_faults(data: bytes, said: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as caught:
        json.loads(data.decode("utf-8"))
    found = words(caught.value)
    assert said in found
    assert "sys." not in found and "codec" not in found
