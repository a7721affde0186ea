from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.address import Address, parse
from inspector.errors import InspectorError, SourceError, UsageError

HUB = "https://huggingface.co"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HF_ENDPOINT", raising=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("org/name", Address("model", "org/name")),
        ("gpt2", Address("model", "gpt2")),
        ("org/name@v1.0", Address("model", "org/name", "v1.0")),
        ("org/name@refs/pr/3", Address("model", "org/name", "refs/pr/3")),
        ("org/name@feature/x/y", Address("model", "org/name", "feature/x/y")),
        ("gpt2@main", Address("model", "gpt2", "main")),
        ("deepseek-ai/DeepSeek-V4.1-Flash", Address("model", "deepseek-ai/DeepSeek-V4.1-Flash")),
        ("datasets/org/name", Address("dataset", "org/name")),
        ("spaces/org/name@dev", Address("space", "org/name", "dev")),
        (f"{HUB}/org/name", Address("model", "org/name")),
        (f"{HUB}/gpt2", Address("model", "gpt2")),
        (f"{HUB}/gpt2/tree/main", Address("model", "gpt2", "main")),
        (f"{HUB}/org/name/", Address("model", "org/name")),
        (f"{HUB}/org/name?library=transformers#usage", Address("model", "org/name")),
        (f"{HUB}/org/name/tree/main", Address("model", "org/name", "main")),
        (f"{HUB}/org/name/tree/main/unet/x", Address("model", "org/name", "main", folder="unet/x")),
        (f"{HUB}/org/name/tree/refs%2Fpr%2F3", Address("model", "org/name", "refs/pr/3")),
        (f"{HUB}/org/name/tree/refs/pr/3/unet", Address("model", "org/name", "refs/pr/3", folder="unet")),
        (f"{HUB}/org/name/blob/main/a/b.gguf", Address("model", "org/name", "main", "a/b.gguf")),
        (f"{HUB}/org/name/blob/feature%2Fx/b%20c.gguf", Address("model", "org/name", "feature/x", "b c.gguf")),
        (f"{HUB}/org/name/resolve/main/b.gguf?download=true", Address("model", "org/name", "main", "b.gguf")),
        (f"{HUB}/datasets/org/name/blob/main/a.bin", Address("dataset", "org/name", "main", "a.bin")),
        ("huggingface.co/org/name", Address("model", "org/name")),
        ("https://hf.co/org/name", Address("model", "org/name")),
        ("hf://org/name", Address("model", "org/name")),
        ("hf://models/org/name@v1/a/b.json", Address("model", "org/name", "v1", "a/b.json")),
        ("hf://datasets/org/name@refs/pr/10/train.json", Address("dataset", "org/name", "refs/pr/10", "train.json")),
        ("hf://org/name@feature%2Fx/a", Address("model", "org/name", "feature/x", "a")),
        (
            "https://example.org/m/model.safetensors",
            Address("url", "https://example.org/m/model.safetensors", path="model.safetensors"),
        ),
    ],
)
def test_what_names_a_repo(text: str, expected: Address) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    "text", ["https://hf.internal/mirror/org/name/tree/v2", "https://huggingface.co/org/name/tree/v2"]
)
def test_the_endpoint_s_own_urls(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = Address("model", "org/name", "v2")
    assert parse(text, endpoint="https://hf.internal/mirror/") == expected
    monkeypatch.setenv("HF_ENDPOINT", "https://hf.internal/mirror")
    assert parse(text) == expected


def test_flags_add_what_the_text_leaves_open() -> None:
    assert parse("org/name", revision="v1", kind="dataset") == Address("dataset", "org/name", "v1")
    assert parse("org/name@v1", revision="v1") == Address("model", "org/name", "v1")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "org/na me",
        "org/../etc",
        "org/name/more",
        "org//name",
        "org/",
        "org/name@",
        "org/name@a..b",
        "org/name@/x",
        "org/name@x~1",
        "org/name@a b",
        "org/name@-x",
        "org/name\x1b[2J",
        "org/name\n",
        "org/.hidden",
        "org/name.git",
        "org/a--b",
        "org/" + "x" * 97,
        "órg/name",
        "file:///etc/passwd",
        "s3://bucket/key",
        f"{HUB}/org/name/commit/abc",
        f"{HUB}/org/name/settings",
        f"{HUB}/org/name/blob/main/../../x",
        f"{HUB}/",
        "https://[::1",
    ],
)
def test_what_names_nothing(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse(text)
    assert str(caught.value).isprintable()


def test_two_different_revisions_or_types_are_refused() -> None:
    with pytest.raises(UsageError, match=r"v2 is not the revision v1 of org/name"):
        parse("org/name@v1", revision="v2")
    with pytest.raises(UsageError, match="is a dataset"):
        parse("datasets/org/name", kind="model")
    with pytest.raises(UsageError, match="is a model"):
        parse(f"{HUB}/org/name", kind="dataset")
    with pytest.raises(UsageError, match="none of model, dataset, space"):
        parse("org/name", kind="kernel")


def test_local_paths(tmp_path: Path) -> None:
    folder = tmp_path / "gpt2"
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(b"x")
    assert parse("gpt2") == Address("local", "gpt2")
    assert parse("./gpt2") == Address("local", "gpt2")
    assert parse(str(folder)) == Address("local", str(folder))
    assert parse("./gpt2/model.safetensors") == Address("local", "gpt2/model.safetensors", path="model.safetensors")
    # A file that exists is what was typed, slash or not; a folder with a slash is a repo's name.
    assert parse("gpt2/model.safetensors").kind == "local"
    (folder / "sub").mkdir()
    assert parse("gpt2/sub").kind == "model"
    # Asking for a revision or a type asks for the Hub.
    assert parse("gpt2", revision="main") == Address("model", "gpt2", "main")
    assert parse("gpt2", kind="dataset") == Address("dataset", "gpt2")


def test_a_folder_with_a_slash_at_its_end_is_local_and_a_namesake_is_remembered(tmp_path: Path) -> None:
    (tmp_path / "org" / "name").mkdir(parents=True)
    (tmp_path / "gpt2").mkdir()
    assert parse("org/name/") == Address("local", "org/name")
    assert parse("org/name").kind == "model"
    assert parse("org/name").beside
    assert parse("gpt2", revision="main").beside
    assert not parse("org/other").beside
    with pytest.raises(UsageError, match="has no revisions"):
        parse("org/name/", revision="main")
    with pytest.raises(UsageError, match="is no repo's name"):
        parse("org/other/")


def test_a_pipe_and_a_dangling_link_are_said_to_be_that(tmp_path: Path) -> None:
    (tmp_path / "odd").mkdir()
    os.mkfifo(tmp_path / "odd" / "model.safetensors")
    (tmp_path / "odd" / "link.safetensors").symlink_to("blobs/gone")
    (tmp_path / "plain.safetensors").symlink_to("nowhere")
    for typed in ("odd/model.safetensors", "./odd/model.safetensors"):
        with pytest.raises(SourceError, match="is neither a file nor a folder"):
            parse(typed)
    with pytest.raises(SourceError, match=r"odd/link.safetensors: is a link to blobs/gone, which is not there"):
        parse("odd/link.safetensors")
    with pytest.raises(SourceError, match="is a link to nowhere"):
        parse("plain.safetensors")


def test_a_path_object_is_local_and_nothing_else_is_taken(tmp_path: Path) -> None:
    (tmp_path / "org" / "name").mkdir(parents=True)
    assert parse(Path("org/name")) == Address("local", "org/name")
    with pytest.raises(SourceError, match="no such file or folder"):
        parse(Path("org/absent"))
    for odd in (None, 7, b"org/name", ["org/name"]):
        with pytest.raises(UsageError, match="names no repo"):
            parse(odd)  # type: ignore[arg-type]


def test_a_local_name_that_is_no_text_is_taken_as_it_is(tmp_path: Path) -> None:
    name = os.fsdecode(b"m\xff.safetensors")
    (tmp_path / name).write_bytes(b"x")
    (tmp_path / "two\nlines").mkdir()
    assert parse(name) == Address("local", name, path=name)
    assert parse("two\nlines") == Address("local", "two\nlines")
    with pytest.raises(UsageError):
        parse(os.fsdecode(b"absent\xff"))
    (tmp_path / os.fsdecode(b"d\xff")).mkdir()
    assert parse(os.fsdecode(b"./d\xff")).kind == "local"
    with pytest.raises(SourceError, match="no such file or folder"):
        parse(os.fsdecode(b"./absent\xff"))


def test_an_empty_revision_and_a_wrong_endpoint_are_blamed_on_their_flag() -> None:
    with pytest.raises(UsageError, match="--revision: is empty"):
        parse("org/name", revision="")
    with pytest.raises(UsageError, match="--revision: 'a b' is no revision"):
        parse("org/name", revision="a b")
    with pytest.raises(UsageError, match="--endpoint: 'foo' is not an http or https address"):
        parse(f"{HUB}/org/name", endpoint="foo")
    with pytest.raises(UsageError, match="--endpoint: is empty"):
        parse(f"{HUB}/org/name", endpoint="")


def test_a_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "m").mkdir()
    assert parse("~/m") == Address("local", str(tmp_path / "m"))


@pytest.mark.parametrize("text", ["./absent", "../absent", "/absent/x.safetensors", "~/absent"])
def test_a_local_path_that_is_not_there_is_a_missing_checkpoint(text: str) -> None:
    with pytest.raises(SourceError, match="no such file or folder"):
        parse(text)


def test_a_local_path_has_no_revision() -> None:
    with pytest.raises(UsageError, match="has no revisions"):
        parse("./x", revision="main")


@given(st.text(max_size=80))
def test_any_text_gives_an_address_or_an_error_that_prints(text: str) -> None:
    try:
        found = parse(text)
    except InspectorError as e:
        assert str(e).isprintable()
    else:
        assert found.kind in ("model", "dataset", "space", "local", "url")
        if found.kind not in ("local", "url"):
            assert ".." not in found.name
            assert found.name.count("/") <= 1


@given(st.sampled_from(["", "datasets/", "models/"]), st.lists(st.text("ab@/.%-~", max_size=6), max_size=6))
def test_any_page_of_the_hub_gives_an_address_or_a_usage_error(prefix: str, parts: list[str]) -> None:
    try:
        found = parse(f"{HUB}/{prefix}{'/'.join(parts)}")
    except UsageError:
        return
    for path in (found.path, found.folder):
        assert path is None or not {"", ".", ".."} & set(path.split("/"))
