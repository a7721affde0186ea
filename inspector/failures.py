"""Why no answer came, in words: what urllib3 raises becomes a `SourceError` that says what to do next."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import urlsplit

from inspector.errors import SourceError
from inspector.escape import terminal


class Failure(NamedTuple):
    """An error ready to be raised, and whether the same GET may succeed when it is sent again."""

    error: SourceError
    passing: bool


def shown(url: str) -> str:
    """A URL safe to print: without user, password, query and fragment, which may hold secrets."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        return terminal(f"{parts.scheme}://{host}{parts.path}", 200)
    except ValueError:
        return "(a URL that cannot be read)"


def origin(url: str) -> str:
    """Scheme, host and port, by which a token is given or withheld; '' for what is no http(s) URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}"


def failure(url: str, problem: BaseException) -> Failure:
    """What a failed connection, handshake or read means."""
    import ssl

    from urllib3 import exceptions as ex

    host = terminal(urlsplit(url).hostname or "", 100)
    place = f"{urlsplit(url).scheme}://{terminal(urlsplit(url).netloc.rpartition('@')[2], 100)}"
    if isinstance(problem, ex.ProxyError):
        return _failed(place, "the proxy does not answer", "Check http_proxy, https_proxy and no_proxy.", True)
    if isinstance(problem, ex.NameResolutionError):
        return _failed(place, f"the name {host} is not known", "Check the network and HF_ENDPOINT.", False)
    if isinstance(problem, ex.SSLError | ssl.SSLError):
        if "CERTIFICATE_VERIFY_FAILED" in str(problem):
            advice = "Check the clock; behind a company's proxy point SSL_CERT_FILE at its certificate."
            return _failed(place, f"the certificate is not trusted{_verify_words(problem)}", advice, False)
        return _failed(place, "the TLS handshake failed", "Check that the port speaks https.", False)
    if isinstance(problem, ex.NewConnectionError):
        # Before the timeouts: urllib3 derives it from one of them.
        refused = "refused" in str(problem).lower()
        message = "the connection was refused" if refused else "no connection could be made"
        return _failed(place, message, "Check HF_ENDPOINT, the network, or whether the server runs.", True)
    if isinstance(problem, ex.ConnectTimeoutError):
        return _failed(place, "no connection within the time allowed", "Check the network, or try again.", True)
    if isinstance(problem, ex.TimeoutError | TimeoutError):
        advice = "Try again, or raise HF_HUB_DOWNLOAD_TIMEOUT."
        return _failed(place, "connected, but nothing came within the time allowed for one read", advice, True)
    if isinstance(problem, ex.LocationParseError | ex.LocationValueError):
        return _failed(place, "is not an address that can be asked", "Check HF_ENDPOINT.", False)
    return _failed(place, "the connection broke off", "Try again; the network or the server dropped it.", True)


def _failed(place: str, message: str, advice: str, passing: bool) -> Failure:
    return Failure(SourceError(place, message, advice), passing)


def _verify_words(problem: BaseException) -> str:
    """OpenSSL's reason: ': self-signed certificate', or nothing."""
    _, found, rest = str(problem).partition("certificate verify failed: ")
    return f": {terminal(rest.partition(' (')[0], 80)}" if found else ""
