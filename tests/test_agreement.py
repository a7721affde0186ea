"""An index that is not decoded says exactly what one that is decoded says, or it is decoded."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.agreement import agreed
from inspector.errors import MalformedFile
from inspector.formats import safetensors, shard_index
from inspector.model import Header
from inspector.twins import Twins
from tests.loopback import load
from tests.memory import header

INDEX = "model.safetensors.index.json"
SHARDED = {
    "deepseek-ai/DeepSeek-V4.1-Flash": True,
    "deepseek-ai/DeepSeek-V3": True,
    "moonshotai/Kimi-K2.5": True,
    "openai/gpt-oss-20b": True,
    "meta-llama/Llama-3.1-8B": False,
}
"""Recorded repos, and whether their writers put a shard's names in a run of one of the known orders."""


def headers(files: Mapping[str, Sequence[str]]) -> list[Header]:
    twins, found = Twins(), []
    for file, names in files.items():
        head, size = header(dict.fromkeys(names, ("U8", (2,), 2)))
        reader = safetensors.Reader(file, len(head) + size)
        reader.feed(head)
        found.append(twins.header(reader))
    return found


def same(data: bytes, found: Sequence[Header], folder: str = "") -> bool:
    """Whether the text was not decoded; where it was not, that it says what it says when it is."""
    index = agreed(data, f"{folder}/{INDEX}" if folder else INDEX, found)
    if index is None:
        return False
    parsed = shard_index.parse(data, INDEX)
    assert dict(index.weight_map) == dict(parsed.weight_map)
    assert (index.total_size, index.shards, len(index.weight_map)) == (
        parsed.total_size,
        parsed.shards,
        len(parsed.weight_map),
    )
    return True


@pytest.mark.parametrize("name", SHARDED)
def test_recorded_indexes(name: str) -> None:
    repo = load(name)
    data = bytes(repo.files[INDEX].load())
    document = json.loads(data)
    twins, found = Twins(), []
    for file in sorted(set(document["weight_map"].values())):
        reader = safetensors.Reader(file, repo.files[file].size)
        reader.feed(bytes(repo.files[file].load()))
        found.append(twins.header(reader))
    assert same(data, found) == SHARDED[name]
    for form in ({"indent": 2, "sort_keys": True}, {"separators": (",", ":"), "sort_keys": True}):
        assert same(json.dumps(document, **form).encode(), found)
    # A header less, a name more, another file for one name, a name twice: nothing of it is agreed to.
    first = next(iter(document["weight_map"]))
    assert agreed(data, INDEX, found[1:]) is None
    for wrong in (
        {**document["weight_map"], "zzz.weight": found[0].file},
        {**document["weight_map"], first: "other.safetensors"},
        {k: v for k, v in document["weight_map"].items() if k != first},
    ):
        assert agreed(json.dumps({**document, "weight_map": wrong}, indent=2).encode(), INDEX, found) is None
    line = f'"{first}": "{document["weight_map"][first]}"'.encode()
    assert agreed(data.replace(line, line + b",\n    " + line), INDEX, found) is None


LAYERS = {f"m-{n}.safetensors": [f"l.{n}.{leaf}" for leaf in ("b", "a", "c.w")] for n in (1, 2, 10)}


def test_a_layer_in_two_files_and_names_without_a_number() -> None:
    files = {**LAYERS, "m-0.safetensors": ["embed", "l.1.z", "head"]}
    flat = {n: f for f, names in files.items() for n in names}
    for weight_map in (flat, dict(sorted(flat.items()))):
        for indent in (None, 1, 4):
            assert same(json.dumps({"weight_map": weight_map}, indent=indent).encode(), headers(files))
    inside = {f"text/{f}": names for f, names in files.items()}
    assert same(json.dumps({"weight_map": flat}).encode(), headers(inside), "text")


def test_a_name_in_two_files_is_not_agreed_to() -> None:
    files = {"a.safetensors": ["l.1.x", "l.1.y"], "b.safetensors": ["l.2.x", "l.2.y"], "c.safetensors": ["l.2.x"]}
    text = ", ".join(f'"{n}": "{f}"' for f, names in files.items() for n in names)
    data = b'{"weight_map": {%s}}' % text.encode()
    assert agreed(data, INDEX, headers(files)) is None
    with pytest.raises(MalformedFile, match=r"'l\.2\.x' twice"):
        shard_index.parse(data, INDEX)


@pytest.mark.parametrize(
    "data",
    [
        b'{"metadata": {"weight_map": {"l.1.a": "m-1.safetensors"}}}',
        b'{"weight_map": {"l.1.a": "m-1.safetensors"}, "weight_map": {}}',
        b'{"metadata": {"weight_map": {"l.1.a": "m-1.safetensors"}}, "weight_map": {}}',
        b'{"weight_map": {"l.1.a": "m-1.safetensors"} x}',
        b'{"weight_map": {"l.1.a": "m-1.safetensors",}}',
        b'{"weight_map": {"l.1.a": "m-1.safetensors"}',
        b'{"weight_map": {"l.1.a":  "m-1.safetensors" }}',
        b"",
    ],
)
def test_other_texts_are_read_as_ever(data: bytes) -> None:
    found = headers({"m-1.safetensors": ["l.1.a"]})
    index = agreed(data, INDEX, found)
    try:
        parsed = shard_index.parse(data, INDEX)
    except MalformedFile:
        assert index is None
    else:
        assert index is None or dict(index.weight_map) == dict(parsed.weight_map)


LEAF = st.sampled_from(["a", "b.w", "w", 'q"', "é", "\x7f", " ", ""])
FILES = st.dictionaries(
    st.sampled_from(["a.safetensors", "b.safetensors", "3.safetensors", "l.3.x"]),
    st.lists(st.builds("{}{}.{}".format, st.sampled_from(["", "l.", "m.n."]), st.integers(0, 12), LEAF), max_size=6),
    max_size=4,
)


@given(FILES, st.permutations(range(4)), st.sampled_from([None, 0, 2]), st.booleans())
def test_whatever_is_agreed_to_is_what_it_says(
    files: dict[str, list[str]], order: list[int], indent: int | None, ordered: bool
) -> None:
    files = {f: list(dict.fromkeys(names)) for f, names in files.items()}
    listed = [list(files)[i] for i in order if i < len(files)]
    weight_map = {n: f for f in listed for n in files[f]}
    data = json.dumps({"metadata": {"total_size": 7}, "weight_map": weight_map}, indent=indent, sort_keys=ordered)
    same(data.encode(), headers(files))
