"""Bad input: one error with the byte offset and both numbers, in bounded time, whatever the pieces are."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inspector.errors import InspectorError, MalformedFile, UnsupportedFile
from inspector.formats.gguf import Reader, is_gguf, parse
from inspector.gguf.gguf_window import MAX_HEADER
from scripts.fuzzing.bounds import within
from tests.formats.gguf.build import Writer, build

W = Writer()
V1 = Writer(1)
HUGE = 2**63


def head(keys: Sequence[bytes] = (), infos: Sequence[bytes] = (), w: Writer = W) -> bytes:
    return w.start(len(infos), len(keys)) + b"".join(keys) + b"".join(infos)


def array(kind: int, count: int) -> bytes:
    return W.string("k") + W.pack("IIQ", 9, kind, count)


T = W.info("t", (32,), 0, 0)
STRINGS = array(8, 100) + W.string("a") * 50 + W.pack("Q", HUGE) + b"\0" * 900
NO_ROOM = (W.info("u", (32,), 187, 128), W.info("v", (32,), 0, 128))
BAD: dict[str, tuple[bytes, int | None, str]] = {
    "html": (b"<!DOCTYPE html><html>", 0, "HTML"),
    "lfs": (b"version https://git-lfs.github.com/spec/v1\n", 0, "Git LFS pointer"),
    "zip": (b"PK\3\4" + b"\0" * 30, 0, "ZIP"),
    "other": (b"{\"a\": 1}", 0, r"starts with '\{\"a\"', a GGUF file with 'GGUF'"),
    "raw-split-part": (b"\x00\x12\x34\x56" * 10, 0, "split in raw pieces"),
    "strings-2^63": (head([array(8, HUGE)]), 37, f"{HUGE:,} elements.*limit is 256,000,000"),
    "string-2^63": (head([W.string("k") + W.pack("IQ", 8, HUGE)]), 37, f"{HUGE:,} bytes"),
    "string-in-array-2^63": (head([STRINGS]), 499, f"{HUGE:,} bytes"),
    "numbers-2^63": (head([array(10, HUGE)]), 37, f"an array of {HUGE:,} u64"),
    "tensors-10^9": (W.pack("4sIQQ", b"GGUF", 3, 10**9, 0), 8, "1,000,000,000 tensors, the limit is 1,048,576"),
    "keys-10^9": (W.pack("4sIQQ", b"GGUF", 3, 0, 10**9), 16, "1,000,000,000 metadata keys, the limit is 100,000"),
    "key-length": (head([W.pack("Q", 65_536)]), 24, "65,536 bytes, the limit is 65,535"),
    "key-not-utf8": (head([W.key(b"ab\xff", 4, 1)]), 34, "not UTF-8: byte 2 of 3 is 0xff"),
    "value-type": (head([W.string("k") + W.pack("I", 13)]), 33, "value type 13, known are 0 to 12"),
    "element-type": (head([array(99, 1)]), 37, "type 99, known are 0 to 12"),
    "depth": (head([W.key("k", 9, (9, [(9, [(9, [(9, [(4, [1])])])])]))]), 85, "deeper than 4"),
    "nested": (head([array(9, 70_000)]), 37, "70,000 arrays inside arrays, the limit is 65,536"),
    "n-dims-5": (head([], [W.info("t", (1, 1, 1, 1, 1), 0, 0)]), 33, "has 5 dimensions, 1 to 4"),
    "n-dims-0": (head([], [W.info("t", (), 0, 0)]), 33, "has 0 dimensions, 1 to 4"),
    "n-dims-huge": (head([], [W.string("t") + W.pack("I", 2**32 - 1) + b"\0" * 24]), 33, "4,294,967,295 dimensions"),
    "dimension-0": (head([], [W.info("t", (32, 0), 0, 0)]), 33, r"\[32, 0\]"),
    "elements": (head([], [W.info("t", (2**40, 2**40), 0, 0)]), 33, "1099511627776"),
    "name-not-utf8": (head([], [W.info(b"\xff\xfe", (32,), 0, 0)]), 32, "not UTF-8"),
    "name-twice": (head([], [T, T]), 57, "twice, at bytes 24 and 57"),
    "first-offset": (head([], [W.info("t", (32,), 0, 32)]), 24, "offset 32, .* add up to 0: a hole"),
    "overlap": (head([], [T, W.info("u", (32,), 0, 96)]), 57, "offset 96, .* add up to 128: an overlap"),
    "hole": (head([], [T, W.info("u", (32,), 0, 160)]), 57, "offset 160, .* add up to 128: a hole"),
    "past-the-end": (head([], [T, W.info("u", (32,), 0, 2**62)]), 57, "4,611,686,018,427,387,904"),
    "unaligned": (head([], [W.info("t", (3,), 0, 0), W.info("u", (3,), 0, 12)]), 57, "offset 12, .* add up to 32"),
    "unknown-type-backwards": (head([], [T, *NO_ROOM]), 57, "id 187 starts at 128 and the next one at 128"),
    "block": (head([], [W.info("t", (100, 2), 12, 0)]), 24, "rows of 100, Q4_K comes in blocks of 256"),
    "alignment-0": (head([W.key("general.alignment", 4, 0)]), 24, "general.alignment is 0, must be a power of two"),
    "alignment-48": (head([W.key("general.alignment", 4, 48)]), 24, "is 48, must be a power of two"),
    "alignment-u64": (head([W.key("general.alignment", 10, 64)]), 24, r"value type 10, must be 4 \(u32\)"),
    "cut-in-magic": (b"GG", None, "at least 4 bytes, 2 are there"),
    "cut-in-counts": (W.start(1, 1)[:20], None, "at least 24 bytes, 20 are there"),
    "cut-in-infos": (head([], [T])[:-1], None, "at least 57 bytes, 56 are there"),
    "empty": (b"", None, "at least 4 bytes, 0 are there"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_one_line_with_its_place_and_both_numbers(case: str) -> None:
    data, offset, words = BAD[case]
    with within(0.5), pytest.raises(MalformedFile, match=words) as caught:
        parse(data, "m.gguf", None)
    assert "\n" not in str(caught.value)
    assert caught.value.offset == offset


@pytest.mark.parametrize("version", [0, 4, 1000])
def test_other_versions_are_not_guessed_at(version: int) -> None:
    with pytest.raises(UnsupportedFile, match=f"version {version};"):
        parse(b"GGUF" + struct.pack("<I", version) + b"\0" * 100, "m.gguf")


def test_lengths_are_held_to_the_file_before_they_are_waited_for() -> None:
    data = head([W.string("k") + W.pack("IQ", 8, 5000)])
    with pytest.raises(MalformedFile, match="needs a file of at least 5,045 bytes, this one has 1,000"):
        parse(data, "m.gguf", 1000)
    with pytest.raises(MalformedFile, match="1,000 tensors needs a file of at least 32,016 bytes, this one has 500"):
        parse(W.start(1000, 0), "m.gguf", 500)


def test_a_header_that_never_ends_stops_at_the_limit() -> None:
    """250 MB of keys that are skipped, then one that would pass the limit; memory stays that of one piece."""
    reader = Reader("m.gguf", None)
    reader.feed(W.start(0, 4))
    piece, left = b"\0" * (1 << 20), 125_000_000
    for _ in range(2):
        reader.feed(W.string("k") + W.pack("IQ", 8, left))
        for position in range(0, left, len(piece)):
            reader.feed(piece[: left - position])
    assert reader.received > 250_000_000
    with pytest.raises(MalformedFile, match=f"the limit is {MAX_HEADER:,}"):
        reader.feed(W.string("k") + W.pack("IIQ", 9, 0, 10_000_000))


def test_a_file_cut_off_in_its_data_gives_the_headers_figures_and_a_note() -> None:
    data, size = build([("a", (256, 4), 12, 576), ("b", (10,), 0, 40)])
    assert size == len(data) + 576 + 64
    for missing, codes in ((0, []), (24, []), (25, ["truncated"]), (size - len(data), ["truncated"])):
        header = parse(data, "m.gguf", size - missing)
        assert header.tensor_bytes == 616
        assert [n.code for n in header.notes] == codes
    assert f"need {size - 24:,} bytes, the file has {len(data):,}" in header.notes[0].message
    longer = parse(data, "m.gguf", size + 7)
    assert [n.code for n in longer.notes] == ["trailing_bytes"]
    assert f"cover {size:,} bytes, the file has {size + 7:,}" in longer.notes[0].message


def test_magic() -> None:
    assert is_gguf(b"GGUF\3\0\0\0")
    assert not is_gguf(b"GGU")


def outcome(data: bytes, size: int | None, cuts: Sequence[int]) -> str:
    """The header or the error, as text (NaN is not equal to itself), after feeding the pieces between `cuts`."""
    reader = Reader("m.gguf", size)
    complete = False
    try:
        for start, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
            complete = reader.feed(data[start:end])
            if complete:
                assert reader.missing == 0
        return repr(reader.header())
    except InspectorError as e:
        return f"{type(e).__name__}: {e}"


SAMPLE, SAMPLE_SIZE = build(
    [("token_embd.weight", (256, 8), 14, 1680), ("blk.0.x", (64, 2), 187, 96), ("last", (5,), 0, 20)],
    [
        ("general.architecture", 8, "llama"),
        ("tokens", 9, (8, [f"t{i}" * (i % 5) for i in range(90)])),
        ("nested", 9, (9, [(4, [1, 2]), (8, ["x"])])),
        ("template", 8, "é" * 40_000),
        ("scores", 9, (6, [float(i) for i in range(5000)])),
        ("flag", 7, True),
    ],
)
SMALL, SMALL_SIZE = build(
    [("a", (256, 2), 12, 288), ("b", (2,), 0, 8)],
    [("s", 8, "x"), ("tokens", 9, (8, ["ab"] * 70)), ("n", 9, (9, [(4, [1])])), ("f", 9, (12, [0.5, 2.0]))],
)


def test_the_samples_are_whole() -> None:
    header = parse(SAMPLE, "m.gguf", SAMPLE_SIZE)
    assert [n.code for n in header.notes] == ["unknown_type"]
    assert parse(SMALL, "m.gguf", SMALL_SIZE).notes == ()


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, len(SAMPLE)), max_size=12).map(sorted))
def test_any_pieces_give_the_same_header(cuts: list[int]) -> None:
    assert outcome(SAMPLE, SAMPLE_SIZE, cuts) == outcome(SAMPLE, SAMPLE_SIZE, [])


def test_byte_by_byte_gives_the_same_header() -> None:
    assert outcome(SAMPLE, SAMPLE_SIZE, range(1, len(SAMPLE))) == outcome(SAMPLE, SAMPLE_SIZE, [])


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_any_bytes_in_any_pieces_give_the_same_answer(data: st.DataObject) -> None:
    """A header with bytes changed, cut and lied about in size: never anything but a header or an error of ours."""
    raw = bytearray(SMALL)
    for place in data.draw(st.lists(st.integers(0, len(raw) - 1), max_size=4)):
        raw[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    size = data.draw(st.sampled_from([None, SMALL_SIZE, SMALL_SIZE - 100, cut, 100]))
    cuts = sorted(data.draw(st.lists(st.integers(0, cut), max_size=8)))
    whole = outcome(bytes(raw[:cut]), size, [])
    assert outcome(bytes(raw[:cut]), size, cuts) == whole
    assert outcome(bytes(raw[:cut]), size, range(1, cut)) == whole


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=200), st.sampled_from([1, 2, 3, 2**24, 2**25, 3 * 2**24]))
def test_arbitrary_bytes_after_the_version(tail: bytes, version: int) -> None:
    raw = b"GGUF" + struct.pack("<I", version) + tail
    assert outcome(raw, None, range(1, len(raw))) == outcome(raw, None, [])


@pytest.mark.parametrize("cut", range(0, len(SMALL), 7))
def test_truncated_anywhere_is_an_error_that_names_both_sizes(cut: int) -> None:
    with pytest.raises(MalformedFile, match=r"at least [0-9,]+ bytes, "):
        parse(SMALL[: min(cut, 700)], "m.gguf", min(cut, 700))
