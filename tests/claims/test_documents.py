"""Every format with the place of every cell, and every kind of bad file."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector import claims
from inspector.claim.claim_model import Claim
from inspector.claims import documents
from inspector.errors import UsageError
from tests.claims.repos import written

ROWS = {
    "a.csv": '# note\nmodel_id,metric,value\norg/a,files,3\n\norg/b,tensor_bytes,"1,000 MB"\n',
    "a.tsv": "model_id\tmetric\tvalue\norg/a\tfiles\t3\norg/b\ttensor_bytes\t1,000 MB\n",
    "semicolons.csv": "model_id;metric;value\norg/a;files;3\norg/b;tensor_bytes;1,000 MB\n",
    "bom.csv": "\ufeffmodel_id,metric,value\r\norg/a,files,3\r\norg/b,tensor_bytes,1000 MB\r\n",
    "a.json": '{"v": 1, "rows": [{"model_id": "org/a", "metric": "files", "value": 3},\n'
    ' {"model_id": "org/b", "metric": "tensor_bytes", "value": "1,000 MB"}]}',
    "a.jsonl": '{"model_id": "org/a", "metric": "files", "value": 3}\n\n'
    '{"model_id": "org/b", "metric": "tensor_bytes", "value": "1000 MB"}\n',
    "a.yaml": "# sizes\nrows:\n  - model_id: org/a  # one\n    metric: files\n    value: 3\n"
    "  - {model_id: 'org/b', metric: tensor_bytes, value: '1,000 MB'}\n",
    "a.toml": '[[rows]]\nmodel_id = "org/a"\nmetric = "files"\nvalue = 3\n'
    '[[rows]]\nmodel_id = "org/b"\nmetric = "tensor_bytes"\nvalue = "1,000 MB"\n',
    "a.md": "# Sizes\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```\n| model_id | metric | value |\n|---|---|---|\n```\n\n"
    "| model_id | metric | value |\n|:--|---|--:|\n| `org/a` | files | **3** |\n"
    "| [org/b](https://huggingface.co/org/b) | tensor_bytes | 1,000 MB |\n",
}


def read(folder: Path, name: str, text: str) -> tuple[Claim, ...]:
    return claims.sheet(Path(written(folder, name, text))).claims


@pytest.mark.parametrize("name", ROWS)
def test_one_table_in_every_format(tmp_path: Path, name: str) -> None:
    found = read(tmp_path, name, ROWS[name])
    assert [(c.subject.repo, c.quantity, c.fault) for c in found] == [
        ("org/a", "files", ""),
        ("org/b", "tensor_bytes", ""),
    ]
    assert [getattr(c.claimed, "value", None) for c in found] == [3, 10**9]


@pytest.mark.parametrize("name", [n for n in ROWS if not n.endswith(".toml")])
def test_spans_and_places_point_at_the_text(tmp_path: Path, name: str) -> None:
    text = ROWS[name]
    sheet = claims.sheet(Path(written(tmp_path, name, text)))
    assert sheet.document.text == text
    for one in sheet.claims:
        assert one.cell is not None
        assert one.cell.span is not None
        assert text[slice(*one.cell.span)].strip("*") == one.said
        assert one.place.line is not None
        line = text.split("\n")[one.place.line - 1]
        assert one.said in line
        column = (one.place.column or 0) - 1
        # A byte order mark takes a column of the first line only, quotes and stars stand before what they mark.
        assert one.said[:1] in line[column : column + 3]


def test_toml_places_are_paths(tmp_path: Path) -> None:
    found = read(tmp_path, "a.toml", ROWS["a.toml"])
    assert [c.place.key for c in found] == ["rows.0.value", "rows.1.value"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", "", "is empty"),
        ("a.csv", "\n \n", "is empty"),
        ("a.csv", "repo,value,repo\n", "two columns are called 'repo'"),
        ("a.csv", "a,b\n1,2\n", "neither repo, quantity"),
        ("a.txt", "repo\n", "is no table"),
        ("a.json", '{"a": ', "is not JSON"),
        ("a.json", "[" * 100_000, "nests deeper|is not JSON"),
        ("a.json", '{"a": 1, "a": 2}', "twice"),
        ("a.json", '{"a": [1, 2]}', "no list of rows"),
        ("a.yaml", "a: [1, 2", "is not YAML"),
        ("a.yaml", "a: &x [*x]", "has no anchor|nests|no list"),
        ("a.yaml", "[" * 500, "nests deeper|is not YAML"),
        ("a.yaml", "a: 1\na: 2\n", "stands twice"),
        ("a.yaml", "? [a, b]\n: 1\n", "a key is"),
        ("a.yaml", "# nothing\n", "holds nothing"),
        ("a.toml", "a = ", "is not TOML"),
        ("a.md", "no table here\n", "has no table"),
        ("a.md", "| a | b |\n|---|---|\n| 1 | 2 |\n", "neither repo"),
    ],
)
def test_unreadable_tables_name_their_place(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        read(tmp_path, name, text)
    assert name in str(caught.value)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    for data in (b"repo,quantity,value\norg/a,files,\xff\n", "repo,quantity\n".encode("utf-16")):
        path = tmp_path / "a.csv"
        path.write_bytes(data)
        with pytest.raises(UsageError, match="not UTF-8"):
            documents.read(path)
    with pytest.raises(UsageError, match="No such file"):
        documents.read(tmp_path / "absent.csv")
    with pytest.raises(UsageError, match=r"folder|is no table"):
        documents.read(tmp_path)


def test_a_bomb_of_aliases_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 {x: 1}"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    lines.append("rows: [{repo: org/x, quantity: files, value: 1, big: *a9}]")
    with pytest.raises(UsageError, match="expands to more than"):
        read(tmp_path, "a.yaml", "\n".join(lines))


def test_a_million_rows_are_refused_in_words(tmp_path: Path) -> None:
    text = "repo,quantity,value\n" + "org/a,files,3\n" * 1_000_000
    with pytest.raises(UsageError, match=r"200,000.*Split"):
        read(tmp_path, "a.csv", text)


BAD_ROWS = {
    "org/a,files": "has 2 fields where the header has 3",
    "org/a,files,3,4": "has 4 fields where the header has 3",
    "org/a,files,n/a": "no figure",
    "org/a,files,=1+2": "formula",
    "org/a,files,": "no figure",
    "org/a b,files,3": "no repo's name",
    "../../etc,files,3": "leaves its folder",
    "~/models,files,3": "leaves its folder",
    ",files,3": "names no repo",
    "org/a,nonsense,3": "There are: file_bytes",
    "org/a,file_bytes,3": "no unit",
    "org/a,fits,yes": "needs a cluster",
    "org/a,cache_bytes,3 GB": "needs a context",
    'org/a,"files"x,3': "cannot be read as CSV",
}


def test_bad_rows_are_malformed_and_the_others_are_read(tmp_path: Path) -> None:
    text = "repo,quantity,value\n" + "".join(f"{row}\norg/a,files,3\n" for row in BAD_ROWS)
    found = read(tmp_path, "a.csv", text)
    assert len(found) == 2 * len(BAD_ROWS)
    assert [c.fault for c in found[1::2]] == [""] * len(BAD_ROWS)
    for one, (row, words) in zip(found[::2], BAD_ROWS.items(), strict=True):
        assert words in one.fault, row
    assert [c.place.line for c in found] == list(range(2, 2 + len(found)))


def test_a_quote_without_an_end_spoils_what_is_inside(tmp_path: Path) -> None:
    found = read(tmp_path, "a.csv", 'repo,quantity,value\norg/a,files,3\norg/b,files,"4\norg/c,files,5\n')
    assert [bool(c.fault) for c in found] == [False, True]
    assert found[1].place.line == 3


def test_a_bad_line_of_json_lines_spoils_itself(tmp_path: Path) -> None:
    text = '{"repo": "org/a", "quantity": "files", "value": 3}\n{"repo":\n[1]\n'
    found = read(tmp_path, "a.jsonl", text)
    assert [bool(c.fault) for c in found] == [False, True, True]


def test_ragged_markdown(tmp_path: Path) -> None:
    text = "| repo | quantity | value |\n|---|---|---|\n"
    text += "| org/a | files | 3 | 4 |\n| org/a | files |\n| org/a | files | 3 |\n"
    found = read(tmp_path, "a.md", text)
    assert [bool(c.fault) for c in found] == [True, True, False]


def test_table_by_number(tmp_path: Path) -> None:
    path = Path(
        written(tmp_path, "a.md", ROWS["a.md"] + "\n| repo | quantity | value |\n|--|--|--|\n| org/z | files | 9 |\n")
    )
    assert [c.subject.repo for c in claims.sheet(path, number=3).claims] == ["org/z"]
    with pytest.raises(UsageError, match="4 of 3 tables"):
        claims.sheet(path, number=4)


def test_yaml_merges_and_aliases_are_read_and_not_rewritten(tmp_path: Path) -> None:
    text = (
        "base: &b {quantity: files, value: 3}\nrows:\n  - {repo: org/a, <<: *b}\n  - {repo: org/b, <<: *b, value: 4}\n"
    )
    found = read(tmp_path, "a.yaml", text)
    assert [(c.subject.repo, c.said) for c in found] == [("org/a", "3"), ("org/b", "4")]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(sorted(ROWS)), st.data())
def test_any_damage_is_our_error_or_rows(tmp_path: Path, name: str, data: st.DataObject) -> None:
    text = ROWS[name]
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 5))
    put = data.draw(st.text(alphabet="\"'|,:{}[]#&*\n\t\x00é=", max_size=4))
    with contextlib.suppress(UsageError):
        read(tmp_path, name, text[:at] + put + text[at + cut :])
