"""Shard indexes: what loaders accept is accepted, what is broken is refused with its place; never another error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import MalformedFile
from inspector.formats import shard_index

FILE = "model.safetensors.index.json"


def encode(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_an_index_is_read() -> None:
    found = shard_index.parse(encode({"metadata": {"total_size": 12}, "weight_map": {"a": "x.safetensors"}}), FILE)
    assert (found.file, dict(found.weight_map), found.total_size) == (FILE, {"a": "x.safetensors"}, 12)


@pytest.mark.parametrize(
    ("claim", "expected"),
    [(0, 0), (12.0, 12), (12.5, None), ("12", None), (True, None), (-1, None), (None, None), ([], None)],
)
def test_total_size_is_a_whole_number_or_unknown(claim: object, expected: int | None) -> None:
    found = shard_index.parse(encode({"metadata": {"total_size": claim}, "weight_map": {}}), FILE)
    assert found.total_size == expected


@pytest.mark.parametrize(
    "metadata", [b"", b'"metadata": null,', b'"metadata": 3,', b'"metadata": {"total_size": 1e999},']
)
def test_metadata_may_be_absent_or_odd(metadata: bytes) -> None:
    assert shard_index.parse(b"{" + metadata + b'"weight_map": {"a": "b"}}', FILE).total_size is None


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        (b"[]", "not an object"),
        (b"null", "not an object"),
        (b"{}", "weight_map"),
        (b'{"weight_map": []}', "weight_map"),
        (b'{"weight_map": {"a": 1}}', "'a'"),
        (b'{"weight_map": {"a": null}}', "'a'"),
        (b'{"weight_map": {"a": "x", "a": "y"}}', "'a' twice"),
        (b'{"weight_map": {}, "weight_map": {}}', "'weight_map' twice"),
        (b'{"weight_map": {}, "metadata": {"total_size": NaN}}', "NaN"),
        (b'{"weight_map": {}, "metadata": {"total_size": -Infinity}}', "Infinity"),
        (b'{"weight_map": {}, "metadata": {"total_size": ' + b"9" * 5000 + b"}}", "not JSON"),
        (b'{"weight_map": {}, "metadata": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "nested too deeply"),
    ],
    ids=lambda v: v[:40].decode("latin-1") if isinstance(v, bytes) else v,
)
def test_a_broken_index_is_refused_with_its_place(data: bytes, words: str) -> None:
    with pytest.raises(MalformedFile) as error:
        shard_index.parse(data, FILE)
    assert error.value.place == FILE
    assert words in error.value.message
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    "name", ["../x.safetensors", "a/../../x", "/etc/passwd", "..", "", "..\\x", "C:\\x", "\x1b[2Jx", "a\nb"]
)
def test_a_file_name_that_leaves_the_folder_or_the_line_is_refused(name: str) -> None:
    with pytest.raises(MalformedFile, match="weight_map"):
        shard_index.parse(encode({"weight_map": {"a": "ok.safetensors", "b": name}}), FILE)


def test_a_name_has_one_spelling() -> None:
    found = shard_index.parse(encode({"weight_map": {"a": "./x", "b": "x", "c": "d//y"}}), FILE)
    assert dict(found.weight_map) == {"a": "x", "b": "x", "c": "d/y"}


@given(st.binary(max_size=200))
def test_bytes_of_any_kind_give_an_index_or_a_refusal(data: bytes) -> None:
    try:
        shard_index.parse(data, FILE)
    except MalformedFile as e:
        assert e.place == FILE


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["weight_map", "metadata", "a"]), inner)
    ),
    max_leaves=12,
)


@given(values)
def test_json_of_any_shape_gives_an_index_or_a_refusal(value: Any) -> None:
    try:
        found = shard_index.parse(encode(value), FILE)
    except MalformedFile:
        return
    assert dict(found.weight_map).keys() == value["weight_map"].keys()
