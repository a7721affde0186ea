"""Headers decoded once for all that are like them give what decoding each of them gives, in any order of arrival."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from inspector.errors import MalformedFile
from inspector.formats import safetensors
from inspector.measure import measure
from inspector.model import Alike, Checkpoint, Header
from inspector.twins import Twins
from tests.loopback import LoopbackHub, load
from tests.waiting import load as load_checkpoint

SHARDS = {
    # Distinct headers of all shards, counted by replacing the layer's number in the fixtures.
    "deepseek-ai/DeepSeek-V4.1-Flash": (48, 12),
    "moonshotai/Kimi-K2.5": (63, 4),
    "deepseek-ai/DeepSeek-V3": (163, 91),
}


def headers(repo: str, order: int | None = None) -> tuple[Header, ...]:
    """All headers of a repo, by way of `Twins` in a shuffled order; each by itself with `order` None."""
    files = sorted((f for p, f in load(repo).files.items() if p.endswith(".safetensors")), key=lambda f: f.path)
    stored = [(f.path, f.size, bytes(f.load())) for f in files]
    if order is None:
        return tuple(safetensors.parse(data[: 8 + int.from_bytes(data[:8], "little")], p, s) for p, s, data in stored)
    twins, found = Twins(), dict[str, Header]()
    for path, size, data in random.Random(order).sample(stored, len(stored)):
        reader = safetensors.Reader(path, size)
        reader.feed(data + b"weights")
        found[path] = twins.header(reader)
    return tuple(found[p] for p, _, _ in stored)


@pytest.mark.parametrize("repo", SHARDS)
def test_each_header_is_as_decoded_by_itself(repo: str) -> None:
    count, distinct = SHARDS[repo]
    plain, alike = headers(repo), headers(repo, 1)
    assert len(plain) == count
    assert sum(not isinstance(h.tensors, Alike) for h in alike) == distinct
    for a, b in zip(plain, alike, strict=True):
        assert tuple(a.tensors) == tuple(b.tensors)
        assert replace(a, tensors=()) == replace(b, tensors=())
        assert (a.names, a.tensor_bytes) == (b.names, b.tensor_bytes)


@pytest.mark.parametrize("repo", SHARDS)
def test_the_footprint_does_not_depend_on_who_came_first(repo: str) -> None:
    with LoopbackHub([load(repo)]) as hub:
        from inspector.address import parse
        from inspector.sources import open_source

        source = open_source(parse(repo), endpoint=hub.endpoint)
        checkpoint: Checkpoint = load_checkpoint(source).checkpoint
        source.close()
    want = measure(replace(checkpoint, headers=headers(repo)))
    for order in (1, 2, 3):
        assert measure(replace(checkpoint, headers=headers(repo, order))) == want


def one(path: str, table: bytes, data: int) -> safetensors.Reader:
    reader = safetensors.Reader(path, 8 + len(table) + data)
    reader.feed(len(table).to_bytes(8, "little") + table)
    return reader


TENSOR = b'{"dtype":"U8","shape":[2],"data_offsets":[%d,%d]}'


@pytest.mark.parametrize(
    ("first", "second"),
    [
        # The number of an expert is not the layer's: replacing it would make two different tables one.
        (b'{"l.1.e.1.w":%s,"l.1.e.2.w":%s}', b'{"l.2.e.2.w":%s,"l.2.e.2.v":%s}'),
        (b'{"l.1.w":%s,"head":%s}', b'{"l.2.w":%s,"tail":%s}'),
        (
            b'{"__metadata__":{"a":"l.1.x"},"l.1.w":%s,"l.1.v":%s}',
            b'{"__metadata__":{"a":"l.2.x"},"l.2.w":%s,"l.2.v":%s}',
        ),
    ],
)
def test_what_only_looks_alike_is_decoded(first: bytes, second: bytes) -> None:
    twins = Twins()
    for name, table in (("a", first), ("b", second)):
        whole = table % (TENSOR % (0, 2), TENSOR % (2, 4))
        got = twins.header(one(name, whole, 4))
        assert not isinstance(got.tensors, Alike)
        assert got == safetensors.parse(len(whole).to_bytes(8, "little") + whole, name, 8 + len(whole) + 4)


def test_a_twin_keeps_its_own_faults() -> None:
    twins = Twins()
    table = b'{"l.%d.w":' + TENSOR % (0, 2) + b"}"
    assert twins.header(one("a", table % 1, 2)).notes == ()
    short = twins.header(one("b", table % 22, 1))
    assert [n.code for n in short.notes] == ["truncated"]
    assert short.notes[0].where == "b"


@pytest.mark.parametrize("prefix", [b"lay\xff.4.", b"lay\n.4.", b"lay\x7f.4.", "l\u00e4y.4.".encode()])
def test_a_prefix_that_is_no_plain_text_makes_no_twin(prefix: bytes) -> None:
    """What is wrong with such a name is said of its own file, as without twins."""
    entries = b",".join(b'"layers.3.%s":' % leaf + TENSOR % (2 * n, 2 * n + 2) for n, leaf in enumerate((b"a", b"b")))
    first, second = b"{%s}" % entries, b"{%s}" % entries.replace(b'"layers.3.', b'"' + prefix)
    twins = Twins()
    assert len(twins.header(one("a.safetensors", first, 4)).tensors) == 2
    told: list[object] = []
    for alone in (False, True):
        reader = one("b", second, 4)
        try:
            told.append(tuple((reader.header() if alone else twins.header(reader)).tensors))
        except MalformedFile as error:
            told.append(str(error))
    assert told[0] == told[1]


def test_files_of_one_length_that_are_not_alike_are_few_looked_at_in_full() -> None:
    """Each is rewritten in full by few others; it was by all before it."""
    twins = Twins()
    tables = [
        b"{%s}" % b",".join(b'"layers.%04d.z%04d":' % (n, m) + TENSOR % (2 * m, 2 * m + 2) for m in range(50))
        for n in range(30)
    ]
    changed = [t.replace(b".z0049", b".y%04d" % n) for n, t in enumerate(tables)]
    found = [twins.header(one(f"{n}.safetensors", t, 100)) for n, t in enumerate(changed)]
    assert [h.names[49] for h in found] == [f"layers.{n:04d}.y{n:04d}" for n in range(30)]


def test_spaces_behind_a_header_are_no_part_of_it() -> None:
    table = b"{%s}" % (b'"layers.3.a":' + TENSOR % (0, 2))
    reader = one("a.safetensors", table + b" " * 1_000_000, 2)
    whole, start, end = reader.table()
    assert whole[start:end] == table
    assert Twins().header(reader).length == 8 + len(table) + 1_000_000
