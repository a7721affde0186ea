"""Every refusal in words, with what to do next."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from inspector import address
from inspector.errors import SourceError
from inspector.net.retrying import Patience
from inspector.sources.hub import HubSource
from tests.loopback import Fault, LoopbackHub, Repo
from tests.sources.hub_cases import CONFIG, HEADER, REPO, arrived, forget, read, source
from tests.waiting import Waited

ERRORS: dict[str, tuple[Callable[[Repo], Repo], dict[str, Any], str, str | None, str]] = {
    "missing-anonymous": (lambda r: r, {}, "org/absent", None, "no such repo, or it is private and no token was given"),
    "private-anonymous": (
        lambda r: replace(r, private=True),
        {},
        "org/name",
        None,
        "no such repo, or it is private and no token was given",
    ),
    "missing-with-token": (lambda r: r, {}, "org/absent", "hf_good", "no such repo, or this token's account may not"),
    "private-with-token": (
        lambda r: replace(r, private=True),
        {},
        "org/name",
        "hf_good",
        "no such repo, or this token's account may not see it",
    ),
    "bad-token": (lambda r: r, {"tokens": frozenset({"hf_good"})}, "org/name", "hf_bad", "the token is not valid"),
    "no-revision": (lambda r: r, {}, "org/name@nope", None, "has no revision nope. http"),
    "disabled": (lambda r: replace(r, disabled=True), {}, "org/name", None, "the Hub has disabled this repo"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_refusals_of_the_listing_in_words(case: str) -> None:
    change, settings, text, token, words = ERRORS[case]
    with LoopbackHub([change(REPO)], **settings) as hub, pytest.raises(SourceError) as caught:
        source(hub, text, token=token).listing()
    message = str(caught.value)
    assert words in message
    assert caught.value.advice
    assert "hf_bad" not in message and "hf_good" not in message


def test_a_folder_of_the_repo_s_name_is_named_where_the_hub_has_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "org" / "absent").mkdir(parents=True)
    (tmp_path / "org" / "name").mkdir()
    with LoopbackHub([REPO]) as hub:
        assert source(hub).listing().files
        with pytest.raises(SourceError, match=r"A folder of that name exists here: write \./org/absent\."):
            source(hub, "org/absent").listing()
        with pytest.raises(SourceError, match=r"has no revision v9.* write \./org/name\."):
            source(hub, revision="v9").listing()


def test_a_branch_with_slashes_in_an_address_is_named() -> None:
    with (
        LoopbackHub([REPO]) as hub,
        pytest.raises(SourceError, match=r"has no revision feature\..* org/name@feature/a/b"),
    ):
        source(hub, f"{hub.endpoint}/org/name/tree/feature/a/b").listing()


@pytest.mark.parametrize(
    ("token", "words"),
    [(None, "is gated, and no token was given"), ("hf_other", "the account of this token has not been granted access")],
)
def test_a_gated_repo_names_the_page_to_accept(token: str | None, words: str) -> None:
    with LoopbackHub([replace(REPO, gated="auto", readers=frozenset({"hf_reader"}))]) as hub:
        src = source(hub, token=token)
        src.listing()
        attempts: list[Callable[[], bytes]] = [
            lambda: read(src, "model.safetensors", 0, 8),
            lambda: src.small("config.json"),
        ]
        for attempt in attempts:
            with pytest.raises(SourceError) as caught:
                attempt()
            assert words in str(caught.value)
            assert f"{hub.endpoint}/org/name" in caught.value.advice
        granted = source(hub, token="hf_reader")
        assert read(granted, "model.safetensors", 8, 64) == HEADER


def test_no_such_file() -> None:
    with LoopbackHub([REPO]) as hub:
        src = source(hub)
        with pytest.raises(SourceError, match="no such file in the repo"):
            src.small("absent.json")
        assert len(hub.requests) == 1


def test_a_file_that_vanished_after_the_listing() -> None:
    with LoopbackHub([REPO]) as hub:
        src = source(hub)
        src.listing()
        gone = {REPO.head: {p: e for p, e in REPO.files.items() if p != "config.json"}}
        hub.put(replace(REPO, commits=gone))
        with pytest.raises(SourceError, match=r"org/name/config\.json: no such file in the repo at this revision"):
            src.small("config.json")


def test_what_is_no_hub_is_named_as_such() -> None:
    with LoopbackHub([REPO]) as hub:
        hub.faults = lambda r: Fault(body=b"<html>\x1b[2Jhello</html>")
        with pytest.raises(SourceError, match="not JSON") as caught:
            source(hub).listing()
        assert "\x1b" not in str(caught.value)
        hub.faults = lambda r: Fault(body=b"{}")
        with pytest.raises(SourceError, match="lists no files"):
            source(hub).listing()


def test_words_of_the_server_reach_the_terminal_escaped(patience: Patience) -> None:
    with LoopbackHub([REPO]) as hub:
        hub.faults = lambda r: Fault(status=418, headers={"X-Error-Message": "a\x1b]0;evil\x07b"})
        with pytest.raises(SourceError) as caught:
            source(hub, patience=patience).listing()
    assert "\\x1b" in str(caught.value) and "\x1b" not in str(caught.value)


def test_refused_connection_and_unknown_name(patience: Patience) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        where = f"http://127.0.0.1:{taken.getsockname()[1]}"
        src = Waited(HubSource(address.parse("org/name"), endpoint=where, patience=patience))
        with pytest.raises(SourceError, match="the connection was refused"):
            src.listing()
        assert src.cost().requests == 3
    src = Waited(HubSource(address.parse("org/name"), endpoint="http://no-such-host.invalid", patience=patience))
    with pytest.raises(SourceError, match=r"the name no-such-host\.invalid is not known"):
        src.listing()
    assert src.cost().requests == 1


def test_plain_http_behind_https_is_a_tls_error(patience: Patience) -> None:
    with LoopbackHub([REPO]) as hub:
        src = Waited(HubSource(address.parse("org/name"), endpoint=f"https://127.0.0.1:{hub.port}", patience=patience))
        with pytest.raises(SourceError, match="TLS handshake failed"):
            src.listing()


def test_an_expired_url_is_asked_for_again_once() -> None:
    with LoopbackHub([REPO]) as hub:
        src = source(hub)
        read(src, "model.safetensors", 0, 8)
        forget(hub)
        hub.faults = lambda r: Fault(status=403, body=b"expired") if r.server == "cdn" and r.number == 1 else None
        assert read(src, "model.safetensors", 8, 64) == HEADER
        assert [(r.request.server, r.status) for r in arrived(hub)] == [("cdn", 403), ("hub", 302), ("cdn", 206)]


def test_a_403_that_is_not_expiry_is_reported_in_the_storages_own_words() -> None:
    with LoopbackHub([REPO]) as hub:
        hub.faults = lambda r: (
            Fault(status=403, body=b"Auth failed: invalid \x1b range" + b"x" * 500) if r.server == "cdn" else None
        )
        src = source(hub)
        with pytest.raises(SourceError) as caught:
            read(src, "model.safetensors", 0, 8)
        assert [r.request.server for r in arrived(hub)] == ["hub", "hub", "cdn", "hub", "cdn"]
    message = str(caught.value)
    assert "status 403" in message and "Auth failed: invalid \\x1b range" in message
    assert "Signature" not in message and message.count("x" * 100) == 1 and "x" * 201 not in message


def test_a_listing_and_a_file_that_disagree_in_size() -> None:
    with LoopbackHub([REPO]) as hub:
        hub.faults = lambda r: Fault(headers={"Content-Range": "bytes 0-7/4999999999"}) if r.server == "cdn" else None
        with pytest.raises(SourceError, match="listing says 5,000,000,000 bytes, and the server says 4,999,999,999"):
            read(source(hub), "model.safetensors", 0, 8)
        packed = gzip.compress(b"{}")
        hub.faults = lambda r: Fault(body=packed) if r.route == "small" else None
        with pytest.raises(SourceError, match=f"listing says {len(CONFIG):,} bytes, and 2 came"):
            source(hub).small("config.json")


def test_hostile_names_are_listed_and_never_put_into_a_url() -> None:
    with LoopbackHub([REPO]) as hub:
        names = [{"rfilename": n, "size": 1} for n in ("../../api/whoami", "a//b", "ok \ud800\x1b.bin")]
        body = json.dumps({"id": "org/name", "sha": REPO.head, "siblings": names}).encode()
        hub.faults = lambda r: Fault(status=200, body=body) if r.route == "info" else None
        src = source(hub)
        assert len(src.listing().files) == 3
        for name in ("../../api/whoami", "a//b"):
            with pytest.raises(SourceError, match="It is not read"):
                src.small(name)
        with pytest.raises(SourceError) as caught:
            src.small("ok \ud800\x1b.bin")
        assert "\x1b" not in str(caught.value)
        assert len(hub.requests) == 2
