"""Pools of connections: one per host, through the proxies of the environment, TLS always verified."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from inspector import environment
from inspector.errors import UsageError
from inspector.escape import terminal

if TYPE_CHECKING:
    import ssl

    from urllib3 import BaseHTTPResponse, PoolManager

_SYSTEM_PROXIES: Final = ("darwin", "win32")
"""Platforms where proxies may be set outside the environment."""


class Connections:
    """Sends one GET and hands back the answer with its body unread. Safe from any thread."""

    def __init__(self, env: Mapping[str, str], *, jobs: int) -> None:
        self._env, self._jobs = env, jobs
        self._lock = threading.Lock()
        self._managers: dict[tuple[str, str | None], PoolManager] = {}
        self._proxies: dict[str, str] | None = None

    def get(self, url: str, headers: Mapping[str, str], timeout: float) -> BaseHTTPResponse:
        """Send the request; `timeout` seconds are for connecting and for each read.

        Raises what urllib3 raises; follows no redirect and tries once.
        """
        from urllib3 import Timeout

        return self._manager(url).urlopen(
            "GET",
            url,
            headers=dict(headers),
            redirect=False,
            retries=False,
            preload_content=False,
            decode_content=False,
            timeout=Timeout(connect=timeout, read=timeout),
        )

    def close(self) -> None:
        """Close all idle connections."""
        with self._lock:
            for manager in self._managers.values():
                manager.clear()

    def _manager(self, url: str) -> PoolManager:
        parts = urlsplit(url)
        with self._lock:
            if self._proxies is None:
                self._proxies = _proxies(self._env)
            key = (parts.scheme, _proxy(self._proxies, parts.scheme, parts.netloc.rpartition("@")[2]))
            manager = self._managers.get(key)
            if manager is None:
                manager = self._managers[key] = _make(*key, self._env, self._jobs)
            return manager


def _make(scheme: str, proxy: str | None, env: Mapping[str, str], jobs: int) -> PoolManager:
    from urllib3 import PoolManager, ProxyManager, make_headers

    common: dict[str, Any] = {"num_pools": 8, "maxsize": jobs, "block": False}
    if scheme == "https":
        common["ssl_context"] = _tls(env)
    if proxy is None:
        return PoolManager(**common)
    parts = urlsplit(proxy)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        advice = "Set http_proxy and https_proxy to an http:// address, or name the host in no_proxy."
        raise UsageError("proxy", f"{terminal(parts.scheme, 20)}:// proxies are not supported", advice)
    headers = None
    if parts.username is not None:
        headers = make_headers(proxy_basic_auth=f"{unquote(parts.username)}:{unquote(parts.password or '')}")
    return ProxyManager(f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}", proxy_headers=headers, **common)


def _tls(env: Mapping[str, str]) -> ssl.SSLContext:
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


def _proxies(env: Mapping[str, str]) -> dict[str, str]:
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


def _proxy(proxies: dict[str, str], scheme: str, host: str) -> str | None:
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy:
        return None
    from urllib import request

    outside = sys.platform in _SYSTEM_PROXIES and "no" not in proxies
    bypass = request.proxy_bypass if outside else request.proxy_bypass_environment  # type: ignore[attr-defined]
    if bypass(host) if outside else bypass(host, proxies):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"
