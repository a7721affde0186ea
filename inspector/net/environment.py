"""The environment variables that `hf` reads, read the same way: pure functions of a mapping.

The names, defaults and spellings of truth are those of huggingface_hub 2.4; it is not imported, for that costs
160 ms.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from inspector.errors import UsageError
from inspector.escape import terminal

HUB: Final = "https://huggingface.co"
_TRUE: Final = frozenset({"1", "ON", "YES", "TRUE"})


def true(env: Mapping[str, str], name: str) -> bool:
    """Whether a switch is on: `1`, `on`, `yes` or `true` in any case; everything else, and nothing, is off."""
    return env.get(name, "").upper() in _TRUE


def endpoint(env: Mapping[str, str], given: str | None = None) -> str:
    """The Hub's address without a trailing slash: `given`, else `HF_ENDPOINT`, else huggingface.co.

    Raises `UsageError` for what is not an http(s) URL, or holds a password.
    """
    place = "HF_ENDPOINT" if given is None else "--endpoint"
    text = ((env.get("HF_ENDPOINT") or HUB) if given is None else given).strip().rstrip("/")
    try:
        parts = urlsplit(text)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        sound = False
        parts = urlsplit("")
    if not sound or not (text.isascii() and text.isprintable()) or " " in text or parts.query or parts.fragment:
        said = "is empty" if not text else f"{terminal(text, 80)!r} is not an http or https address"
        raise UsageError(place, said, "Write it like https://huggingface.co.")
    if parts.username is not None:
        raise UsageError(place, "holds a user name or password", "Give the address without it, and a token apart.")
    return text


def offline(env: Mapping[str, str]) -> bool:
    """Whether no request may be made: `HF_HUB_OFFLINE`, else `TRANSFORMERS_OFFLINE`."""
    return true(env, "HF_HUB_OFFLINE" if env.get("HF_HUB_OFFLINE") else "TRANSFORMERS_OFFLINE")


def home(env: Mapping[str, str]) -> Path:
    """`HF_HOME`, by default `huggingface` below `XDG_CACHE_HOME` or `~/.cache`."""
    given = env.get("HF_HOME")
    return _path(env, given) if given else _path(env, env.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"


def cache_folder(env: Mapping[str, str]) -> Path:
    """Where repos are cached: `HF_HUB_CACHE`, else `HUGGINGFACE_HUB_CACHE`, else `hub` below the home."""
    given = env.get("HF_HUB_CACHE") or env.get("HUGGINGFACE_HUB_CACHE")
    return _path(env, given) if given else home(env) / "hub"


def token_file(env: Mapping[str, str]) -> Path:
    """The file that `hf auth login` writes: `HF_TOKEN_PATH`, else `token` below the home."""
    given = env.get("HF_TOKEN_PATH")
    return _path(env, given) if given else home(env) / "token"


def socket_timeout(env: Mapping[str, str]) -> float:
    """Seconds that one connect or one read may take: `HF_HUB_DOWNLOAD_TIMEOUT`, by default 10."""
    text = env.get("HF_HUB_DOWNLOAD_TIMEOUT", "")
    if not text:
        return 10.0
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 1e6:
        raise UsageError("HF_HUB_DOWNLOAD_TIMEOUT", "is not a number of seconds above 0", "Unset it, or write 10.")
    return seconds


def certificates(env: Mapping[str, str]) -> str | None:
    """A file of trusted certificates as requests and curl name it; `SSL_CERT_FILE` is read by OpenSSL itself."""
    return env.get("REQUESTS_CA_BUNDLE") or env.get("CURL_CA_BUNDLE") or None


def _path(env: Mapping[str, str], text: str) -> Path:
    """A path with `~` and `$NAME` filled in from `env`."""
    filled = text
    if "$" in text:
        from string import Template

        filled = Template(text).safe_substitute(env)
    if filled == "~" or filled.startswith("~/"):
        own = env.get("HOME")
        try:
            return Path(own + filled[1:]) if own else Path(filled).expanduser()
        except RuntimeError:
            raise UsageError("HOME", "is not set, and no home folder is known", "Set HOME, or HF_HOME.") from None
    return Path(filled)
