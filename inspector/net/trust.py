"""Through whom, and whom to trust: the proxies of the environment, and the certificates that TLS is checked against."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspector.errors import UsageError
from inspector.net import environment

if TYPE_CHECKING:
    import ssl

_SYSTEM_PROXIES: Final = ("darwin", "win32")
"""Platforms where proxies may be set outside the environment."""


def certified(env: Mapping[str, str]) -> ssl.SSLContext:
    """A context that verifies: the named bundle, else OpenSSL's own (`SSL_CERT_FILE`), else certifi's."""
    import ssl

    bundle = environment.certificates(env)
    if bundle is not None:
        folder = Path(bundle).is_dir()
        try:
            return ssl.create_default_context(cafile=None if folder else bundle, capath=bundle if folder else None)
        except (OSError, ssl.SSLError):
            advice = "Point REQUESTS_CA_BUNDLE at a PEM file, or unset it."
            raise UsageError(bundle, "is not a readable file of certificates", advice) from None
    context = ssl.create_default_context()
    if not context.cert_store_stats()["x509_ca"] and not ssl.get_default_verify_paths().capath:
        # python.org's builds for macOS bring no certificates; certifi is there wherever httpx or requests is.
        try:
            import certifi

            context.load_verify_locations(certifi.where())
        except ImportError:
            pass
    return context


def proxies(env: Mapping[str, str]) -> dict[str, str]:
    """`{scheme: proxy}` with `no` for exceptions; lower-case names win, as in curl and urllib."""
    found: dict[str, str] = {}
    for lower in (False, True):
        for name, value in env.items():
            if name.lower().endswith("_proxy") and name.islower() == lower:
                found[name.lower()[:-6]] = value
    if "REQUEST_METHOD" in env and "http_proxy" not in env:
        # Under CGI a client's `Proxy:` header becomes HTTP_PROXY.
        found.pop("http", None)
    found = {k: v for k, v in found.items() if v}
    if not found and sys.platform in _SYSTEM_PROXIES:
        from urllib.request import getproxies

        return getproxies()
    return found


def proxy_for(proxies: Mapping[str, str], scheme: str, host: str) -> str | None:
    """The proxy for a host, None where it is to be asked directly."""
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy:
        return None
    from urllib import request

    outside = sys.platform in _SYSTEM_PROXIES and "no" not in proxies
    bypass = request.proxy_bypass if outside else request.proxy_bypass_environment  # type: ignore[attr-defined]
    if bypass(host) if outside else bypass(host, dict(proxies)):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
