"""Which token goes to the Hub: found where `hf` finds it, never printed."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from inspector.errors import SourceError, UsageError
from inspector.net import environment

_REFRESH_MARGIN: Final = 24 * 3600
"""Seconds before expiry from which huggingface_hub renews a browser login's token."""


def find_token(env: Mapping[str, str], given: str | None = None) -> str | None:
    """`given`, else a CI exchange (`HF_OIDC_RESOURCE`), `HF_TOKEN`, the login's file; None without any.

    `HF_HUB_DISABLE_IMPLICIT_TOKEN` leaves `given` only. A login that is about to expire, a CI exchange and Colab's
    vault are huggingface_hub's work, and it is imported for them alone. Raises `UsageError` for a token that is none.
    """
    if given is not None:
        return _clean(given, "--token")
    if environment.true(env, "HF_HUB_DISABLE_IMPLICIT_TOKEN"):
        return None
    if env.get("HF_OIDC_RESOURCE"):
        return _from_hub_library()
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        token = _clean(env.get(name, ""), name)
        if token:
            return token
    path = environment.token_file(env)
    token = _clean(_read(path), str(path))
    if token and _renewable(path.with_name("stored_tokens"), token):
        return _from_hub_library() or token
    if token is None and "google.colab" in sys.modules:
        return _from_hub_library()
    return token


def _read(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except (OSError, ValueError):
        raise SourceError(str(path), "the saved token cannot be read", "Check its permissions.") from None


def _clean(text: str, place: str) -> str | None:
    token = text.replace("\r", "").replace("\n", "").strip()
    if token and not (token.isascii() and token.isprintable() and " " not in token):
        raise UsageError(place, "holds characters that no token has", "Copy the token again; it starts with hf_.")
    return token or None


def _renewable(path: Path, token: str) -> bool:
    """Whether this token came from a browser login and has less than a day left."""
    text = _read(path)
    if "refresh_token" not in text or token not in text:
        return False
    import configparser

    stored = configparser.ConfigParser(interpolation=None)
    try:
        stored.read_string(text)
    except configparser.Error:
        return False
    for section in stored.sections():
        fields = stored[section]
        if fields.get("hf_token") == token and fields.get("refresh_token"):
            expires = fields.get("expires_at", "")
            return expires.isdigit() and int(expires) - _REFRESH_MARGIN <= time.time()
    return False


def _from_hub_library() -> str | None:
    from huggingface_hub import get_token

    from inspector.escape import terminal

    try:
        return _clean(get_token() or "", "token")
    except Exception as e:
        # The exchange talks to two services and may fail in any way; only its words matter here.
        message = f"no token could be had: {terminal(str(e), 300)}"
        raise SourceError("HF_OIDC_RESOURCE", message, "Unset it to go without.") from None
