"""Damage never changes a report, and lies never raise but our error."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.errors import InspectorError
from inspector.model import Report
from inspector.snapshots.snapshot import open_snapshot
from inspector.sources.snapshot import open_locked
from tests.memory import MemorySource
from tests.snapshot import cases


@cache
def sound() -> Report:
    return cases.examined(MemorySource(cases.PLAIN))


@cache
def original() -> bytes:
    return cases.tiny()


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A snapshot with some bytes changed, taken out, put in or moved."""
    data = bytearray(original())
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(data) - 1))
        length = draw(st.integers(0, 40))
        kind = draw(st.sampled_from(("flip", "write", "cut", "insert", "copy")))
        if kind == "flip":
            data[at] ^= 1 << draw(st.integers(0, 7))
        elif kind == "write":
            data[at : at + 4] = draw(st.binary(min_size=4, max_size=4))
        elif kind == "cut":
            del data[at : at + length]
        elif kind == "insert":
            data[at:at] = draw(st.binary(max_size=length))
        else:
            data[at : at + length] = data[: len(data) - at][:length]
        if not data:
            break
    return bytes(data)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(damaged())
def test_damage_is_refused_or_changes_nothing(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.zip"
        path.write_bytes(data)
        try:
            open_locked(path)
            report = cases.replayed(path)
        except InspectorError:
            return
    assert report == sound()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 1 << 70) | st.text(max_size=5) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@st.composite
def lying(draw: st.DrawFn) -> bytes:
    """A snapshot whose zip is sound and whose manifest says something else somewhere."""
    value = draw(JSON)

    def change(manifest: Any) -> None:
        at = manifest
        while True:
            keys = sorted(at) if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else ()
            if not keys:
                return
            key = draw(st.sampled_from(list(keys)))
            inner = at[key]
            if not isinstance(inner, dict | list) or not inner or draw(st.integers(0, 3)) == 0:
                at[key] = value
                return
            at = inner

    return cases.with_manifest(original(), change)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lying())
def test_a_manifest_that_lies_never_raises_but_our_error(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.zip"
        path.write_bytes(data)
        try:
            cases.replayed(path)
        except (InspectorError, IndexError) as error:
            # No repo at all is the caller's to see.
            assert isinstance(error, InspectorError) or not open_snapshot(path).repos
