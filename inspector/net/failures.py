"""Why no answer came, in words: what sockets and servers raise becomes a `SourceError` with the next step."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Final
from urllib.parse import quote, urlsplit

from inspector.errors import SourceError
from inspector.escape import terminal
from inspector.net.connections import NotConnected, TunnelRefused
from inspector.records import dataclass

PROXY_ADVICE: Final = "Check http_proxy, https_proxy and no_proxy."


@dataclass(frozen=True, slots=True)
class Failure:
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


def sendable(url: str) -> str:
    """The URL as a request line can hold it: spaces and what is not ASCII in their UTF-8 as %XX (RFC 3986, 2.1)."""
    if url.isascii() and url.isprintable() and " " not in url:
        return url
    scheme, found, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    host, question, query = host.partition("?")
    with suppress(UnicodeError):
        host = host if host.isascii() else host.encode("idna").decode("ascii")
    safe = "%/:?#[]@!$&'()*+,;=~"
    return f"{scheme}{found}{host}{question}{quote(query, safe)}{slash}{quote(path, safe)}"


def unsaid(text: str, secret: str | None) -> str:
    """What a server said, without the token that it may say again, and without the queries of addresses in it."""
    text = re.sub(r"(https?://[^\s?\"'<>]*)\?[^\s\"'<>]*", r"\1", text)
    return text.replace(secret, "***") if secret else text


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


def namesake(error: SourceError, name: str) -> SourceError:
    """The error about a repo of the Hub, with the advice that something on this disk has its name."""
    advice = f"A folder of that name exists here: write ./{terminal(name, 200)}."
    return SourceError(error.place, error.message, f"{error.advice} {advice}".lstrip())


def failure(url: str, problem: BaseException) -> Failure:
    """What a failed connection, handshake or read means."""
    import socket
    import ssl

    from inspector.net.response import Ended, Unreadable

    host = terminal(urlsplit(url).hostname or "", 100)
    place = f"{urlsplit(url).scheme}://{terminal(urlsplit(url).netloc.rpartition('@')[2], 100)}"
    connecting = isinstance(problem, NotConnected)
    if isinstance(problem, NotConnected):
        if problem.proxied and not isinstance(problem.cause, ssl.SSLError):
            # A proxy that has said no says it again; one that was not reached may be there in a moment.
            again = not isinstance(problem.cause, TunnelRefused)
            return _failed(place, _proxy_words(problem.cause), PROXY_ADVICE, again)
        problem = problem.cause
    if isinstance(problem, socket.gaierror | UnicodeError):
        # EAI_AGAIN is a resolver that does not answer now; anything else is a name that is not there.
        later = isinstance(problem, socket.gaierror) and problem.errno == socket.EAI_AGAIN
        return _failed(place, f"the name {host} is not known", "Check the network and HF_ENDPOINT.", later)
    if isinstance(problem, ssl.SSLError):
        if "CERTIFICATE_VERIFY_FAILED" in str(problem):
            advice = (
                "Check the clock; behind a company's proxy point SSL_CERT_FILE (REQUESTS_CA_BUNDLE or CURL_CA_BUNDLE "
                "where one is set) at its certificate."
            )
            return _failed(place, f"the certificate is not trusted{_verify_words(problem)}", advice, False)
        if connecting:
            return _failed(place, "the TLS handshake failed", "Check that the port speaks https.", False)
    if connecting:
        if isinstance(problem, TimeoutError):
            return _failed(place, "no connection within the time allowed", "Check the network, or try again.", True)
        refused = isinstance(problem, ConnectionRefusedError)
        message = "the connection was refused" if refused else "no connection could be made"
        return _failed(place, message, "Check HF_ENDPOINT, the network, or whether the server runs.", True)
    if isinstance(problem, TimeoutError):
        advice = "Try again, or raise HF_HUB_DOWNLOAD_TIMEOUT."
        return _failed(place, "connected, but nothing came within the time allowed for one read", advice, True)
    if isinstance(problem, Unreadable):
        words = f"what came is not HTTP: {terminal(str(problem), 100)}"
        return _failed(place, words, "Check that HF_ENDPOINT is a Hub, and what stands in between.", True)
    if isinstance(problem, Ended):
        advice = "Try again; the network or the server dropped it."
        return _failed(place, "the server closed the connection early", advice, True)
    return _failed(place, "the connection broke off", "Try again; the network or the server dropped it.", True)


def _proxy_words(cause: BaseException) -> str:
    """With the proxy's own status where it gave one: `Tunnel connection failed: 407 ...`."""
    _, found, status = str(cause).partition("Tunnel connection failed: ")
    return f"the proxy refuses ({terminal(status, 60)})" if found else "the proxy does not answer"


def _failed(place: str, message: str, advice: str, passing: bool) -> Failure:
    return Failure(SourceError(place, message, advice), passing)


def _verify_words(problem: BaseException) -> str:
    """OpenSSL's reason: ': self-signed certificate', or nothing."""
    _, found, rest = str(problem).partition("certificate verify failed: ")
    return f": {terminal(rest.partition(' (')[0], 80)}" if found else ""
