"""Pools, proxies, certificates, and what an import may cost."""

from __future__ import annotations

import ssl
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from inspector.errors import UsageError
from inspector.net.exchange import HttpStatus
from inspector.net.failures import failure, origin, shown
from inspector.net.retrying import Patience
from inspector.net.transport import Transport
from inspector.net.trust import proxies, proxy_for
from inspector.tasks import run
from tests.loopback import LoopbackHub
from tests.transport.cases import at, read, transport


def test_connections_are_used_again(hub: LoopbackHub) -> None:
    t = transport(hub)
    seen: set[int] = set()
    inner = t._connections.get

    async def watched(url: str, headers: Mapping[str, str], timeout: float, left: float) -> Any:
        answer: Any = await inner(url, headers, timeout, left)
        seen.add(answer._wire.sock.getsockname()[1])
        return answer

    t._connections.get = watched
    for start in range(0, 1000, 100):
        read(t, at(hub), start)
    # One to the Hub, one to the CDN.
    assert len(seen) == 2


def test_shown_and_origin_leave_secrets_out() -> None:
    assert shown("https://me:pw@cdn.example:8443/a/b?Signature=s#f") == "https://cdn.example:8443/a/b"
    assert origin("https://me:pw@Hub.Example/a") == origin("https://hub.example:443") == "https://hub.example:443"
    assert origin("http://hub.example") != origin("https://hub.example")
    assert origin("file:///x") == origin("http://h:99999/") == ""


def test_an_untrusted_certificate_is_named() -> None:
    problem = ssl.SSLCertVerificationError(
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate (_ssl.c:1002)"
    )
    told = failure("https://hub.example/a?token=x", problem)
    assert not told.passing
    assert "not trusted: self-signed certificate" in str(told.error)
    assert "SSL_CERT_FILE" in told.error.advice


def test_proxies_of_the_environment(hub: LoopbackHub) -> None:
    env = {"HTTPS_PROXY": "http://up:1", "https_proxy": "low:2", "no_proxy": "internal.example"}
    found = proxies(env)
    assert proxy_for(found, "https", "huggingface.co") == "http://low:2"
    assert proxy_for(found, "https", "hub.internal.example") is None
    assert proxy_for(found, "http", "huggingface.co") is None
    assert proxies({"HTTP_PROXY": "evil:1", "REQUEST_METHOD": "GET"}) == {}
    # The loopback Hub as proxy: it sees the absolute form, and no token of another host's.
    proxied = Transport("http://hub.example", token="hf_x", env={"http_proxy": hub.endpoint}, patience=Patience(5.0))
    with pytest.raises(HttpStatus):
        run(proxied.get("http://hub.example/api/models/a/b"))
    assert len(hub.requests) == 1
    bad = Transport("http://hub.example", env={"all_proxy": "socks5://localhost:1"}, patience=Patience(5.0))
    with pytest.raises(UsageError, match="socks5:// proxies are not supported"):
        run(bad.get("http://hub.example/x"))


def test_a_missing_bundle_of_certificates_is_the_users_own_fault() -> None:
    t = Transport("https://hub.example", env={"REQUESTS_CA_BUNDLE": "/no/such/file.pem"}, patience=Patience(5.0))
    with pytest.raises(UsageError, match="not a readable file of certificates"):
        run(t.get("https://hub.example/x"))


def test_importing_costs_no_http_library() -> None:
    code = "import sys, inspector.net.transport, inspector.sources.hub; print([m for m in sys.modules if m in "
    code += "('urllib3', 'ssl', 'http.client', 'huggingface_hub', 'requests', 'email')])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_package_never_needs_the_hub_library_for_a_plain_run(hub: LoopbackHub) -> None:
    code = (
        "import sys; from inspector.address import parse; from inspector.sources import open_source\n"
        f"from inspector.tasks import run\n"
        f"s = open_source(parse('org/name'), endpoint={hub.endpoint!r}); run(s.listing()); s.close()\n"
        "print('huggingface_hub' in sys.modules, 'httpx' in sys.modules)"
    )
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"HF_HOME": "/x"}
    )
    assert out.stdout.split() == ["False", "False"]
