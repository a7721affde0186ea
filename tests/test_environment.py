"""The variables of `hf`, held against huggingface_hub's own reading of them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from inspector.errors import UsageError
from inspector.net import environment
from inspector.net.credentials import find_token

CASES: dict[str, dict[str, str]] = {
    "nothing": {},
    "home": {"HF_HOME": "/h"},
    "home-with-tilde": {"HF_HOME": "~/hf"},
    "xdg": {"XDG_CACHE_HOME": "/xdg"},
    "variable": {"HF_HOME": "$WHERE/hf", "WHERE": "/srv"},
    "cache": {"HF_HUB_CACHE": "/c", "HUGGINGFACE_HUB_CACHE": "/old", "HF_HOME": "/h"},
    "old-cache": {"HUGGINGFACE_HUB_CACHE": "/old"},
    "token-path": {"HF_TOKEN_PATH": "~/t", "HF_HOME": "/h"},
    "endpoint": {"HF_ENDPOINT": "http://127.0.0.1:8080/hub/"},
    "offline": {"HF_HUB_OFFLINE": "yes"},
    "offline-off": {"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "1"},
    "offline-old": {"TRANSFORMERS_OFFLINE": "True"},
    "timeout": {"HF_HUB_DOWNLOAD_TIMEOUT": "33"},
}


@pytest.mark.parametrize("case", CASES)
def test_the_same_answers_as_huggingface_hub(case: str) -> None:
    pytest.importorskip("huggingface_hub")
    env = {"HOME": "/home/someone", **CASES[case]}
    code = (
        "from huggingface_hub import constants as c\n"
        "print(c.ENDPOINT, c.HF_HOME, c.HF_HUB_CACHE, c.HF_TOKEN_PATH)\n"
        "print(c.HF_HUB_OFFLINE, float(c.HF_HUB_DOWNLOAD_TIMEOUT))"
    )
    theirs = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    ours = (
        environment.endpoint(env),
        environment.home(env),
        environment.cache_folder(env),
        environment.token_file(env),
        environment.offline(env),
        environment.socket_timeout(env),
    )
    assert theirs.stdout.split() == [str(x) for x in ours]


@pytest.mark.parametrize(
    "text", ["huggingface.co", "ftp://x", "https://", "https://a b", "https://h/?q=1", "http://h:99999", "https://é.de"]
)
def test_an_endpoint_that_is_none(text: str) -> None:
    with pytest.raises(UsageError, match=r"HF_ENDPOINT: '.*' is not an http or https address"):
        environment.endpoint({"HF_ENDPOINT": text})
    with pytest.raises(UsageError, match="--endpoint"):
        environment.endpoint({}, text)


def test_an_endpoint_with_a_password_is_refused_without_showing_it() -> None:
    with pytest.raises(UsageError) as caught:
        environment.endpoint({"HF_ENDPOINT": "https://me:secret@h.example"})
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("text", ["soon", "0", "-1", "nan"])
def test_a_timeout_that_is_none(text: str) -> None:
    with pytest.raises(UsageError, match="HF_HUB_DOWNLOAD_TIMEOUT"):
        environment.socket_timeout({"HF_HUB_DOWNLOAD_TIMEOUT": text})


def test_where_a_token_comes_from(tmp_path: Path) -> None:
    env = {"HF_HOME": str(tmp_path)}
    assert find_token(env) is None
    (tmp_path / "token").write_text("hf_file\n")
    assert find_token(env) == "hf_file"
    assert find_token({**env, "HUGGING_FACE_HUB_TOKEN": "hf_old"}) == "hf_old"
    assert find_token({**env, "HF_TOKEN": "hf_env", "HUGGING_FACE_HUB_TOKEN": "hf_old"}) == "hf_env"
    assert find_token({**env, "HF_TOKEN": "hf_env"}, "hf_given") == "hf_given"
    silent = {**env, "HF_TOKEN": "hf_env", "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1"}
    assert find_token(silent) is None
    assert find_token(silent, "hf_given") == "hf_given"


@pytest.mark.parametrize("token", ["hf_a b", "hf_é", "hf_\x00"])
def test_a_token_that_is_none_is_not_shown(token: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        find_token({"HF_HOME": str(tmp_path)}, token)
    assert token not in str(caught.value)


@pytest.mark.parametrize(("left", "expected"), [(10 * 86_400, "hf_mine"), (3600, "hf_renewed")])
def test_a_login_about_to_expire_is_left_to_huggingface_hub(
    left: int, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub, "get_token", lambda: "hf_renewed")
    (tmp_path / "token").write_text("hf_mine")
    stored = f"[login]\nhf_token = hf_mine\nrefresh_token = r\nexpires_at = {int(time.time()) + left}\n"
    (tmp_path / "stored_tokens").write_text(stored)
    assert find_token({"HF_HOME": str(tmp_path)}) == expected


def test_a_ci_exchange_is_left_to_huggingface_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(hub, "get_token", lambda: "hf_oidc")
    assert find_token({"HF_OIDC_RESOURCE": "org/name", "HF_TOKEN": "hf_env"}) == "hf_oidc"
