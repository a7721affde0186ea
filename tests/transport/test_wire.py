"""What servers and proxies say on the line: forms of HTTP, TLS and tunnels, against servers of a few lines."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from inspector.errors import SourceError, UsageError
from inspector.net.retrying import Patience
from inspector.net.transport import Transport
from tests.waiting import Waited

TLS = Path(__file__).resolve().parents[1] / "fixtures" / "tls"
CERTIFICATE = str(TLS / "certificate.pem")
BODY = bytes(range(256)) * 4_000
Talk = Callable[[socket.socket], None]


@contextmanager
def server(talk: Talk, *, secure: bool = False) -> Iterator[int]:
    """A server that talks to each client in a thread of its own; the port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(CERTIFICATE, TLS / "key.pem")

        def client(raw: socket.socket) -> None:
            try:
                with context.wrap_socket(raw, server_side=True) if secure else raw as sock:
                    talk(sock)
            except OSError:
                pass

        def accept() -> None:
            while True:
                try:
                    raw, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=client, args=(raw,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield listening.getsockname()[1]
        listening.close()


def asked(sock: socket.socket) -> bytes:
    """One request's head; empty where the client has hung up."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        data = sock.recv(65_536)
        if not data:
            return b""
        head += data
    return head


def says(*answers: bytes, close: bool = True) -> Talk:
    """Each request is answered with the next of `answers`."""

    def talk(sock: socket.socket) -> None:
        for answer in answers:
            if not asked(sock):
                return
            sock.sendall(answer)
        if not close:
            time.sleep(30)

    return talk


def transport(home: str, **env: str) -> Waited:
    clock = [0.0]
    patience = Patience(20.0, clock=lambda: clock[0], sleep=lambda s: None, jitter=lambda: 0.0)
    return Waited(Transport(home, env={"HF_HUB_DOWNLOAD_TIMEOUT": "5", **env}, patience=patience))


def got(answer: bytes, *, close: bool = True) -> bytes:
    with server(says(answer, close=close)) as port:
        url = f"http://127.0.0.1:{port}"
        body: bytes = transport(url).get(f"{url}/x").body
        return body


OK = b"HTTP/1.1 200 OK\r\n"


@pytest.mark.parametrize(
    ("answer", "close"),
    [
        (OK + b"Content-Length: 5\r\n\r\nhello", False),
        (OK + b"content-length:5\r\nX-A: 1\r\nX-A: 2\r\n\r\nhello", False),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: 1\r\n\r\n", False),
        (OK + b"\r\nhello", True),
        (b"HTTP/1.0 200 OK\r\n\r\nhello", True),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello", False),
        (b"HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n" + OK + b"Content-Length: 5\r\n\r\nhello", False),
        (OK + b"Connection: close\r\nContent-Length: 5\r\n\r\nhello", True),
        (OK + b"Content-Length: 5\r\n\r\nhelloHTTP/1.1 404 Not Found\r\n\r\n", False),
        (OK + b"Content-Length: 5\r\n\r\nhello\0\xffgarbage", False),
    ],
)
def test_forms_of_an_answer(answer: bytes, close: bool) -> None:
    assert got(answer, close=close) == b"hello"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (OK + b"Content-Length: 50\r\n\r\nhello", "closed the connection early"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "closed the connection early"),
        (OK + b"Content-Le", "closed the connection early"),
        (b"", "the connection broke off"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "what came is not HTTP"),
        (b"\x15\x03\x01\x00\x02\x02\x16", "what came is not HTTP"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", "what came is not HTTP"),
        (OK + b"X: " + b"a" * 300_000, "what came is not HTTP: headers of more than 262,144 bytes"),
        (OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", "what came is not HTTP"),
    ],
)
def test_what_is_no_answer_is_said(answer: bytes, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        got(answer)


def test_an_answer_that_nobody_asked_for_is_never_taken_for_the_next_one() -> None:
    surplus = OK + b"Content-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
    with server(says(surplus, OK + b"Content-Length: 5\r\n\r\nwrong", close=False)) as port:
        url = f"http://127.0.0.1:{port}"
        t = transport(url)
        assert [t.get(f"{url}/x").body for _ in range(3)] == [b"a"] * 3


def ranged(sock: socket.socket) -> None:
    """A server of BODY that keeps its connections."""
    while head := asked(sock):
        first, _, last = head.partition(b"bytes=")[2].partition(b"\r\n")[0].partition(b"-")
        part = BODY[int(first) : int(last) + 1]
        span = b"bytes %d-%d/%d" % (int(first), int(first) + len(part) - 1, len(BODY))
        answer = b"HTTP/1.1 206 Partial Content\r\nContent-Range: %s\r\nContent-Length: %d\r\n\r\n"
        sock.sendall(answer % (span, len(part)) + part)


def read(t: Waited, url: str, start: int, length: int) -> bytes:
    parts: list[bytes] = []

    def keep(chunk: bytes) -> bool:
        parts.append(chunk)
        return False

    t.stream(url, start, length, keep, size=len(BODY))
    return b"".join(parts)


def test_tls_that_is_trusted() -> None:
    with server(ranged, secure=True) as port:
        for host in ("127.0.0.1", "localhost"):
            url = f"https://{host}:{port}"
            t = transport(url, REQUESTS_CA_BUNDLE=CERTIFICATE)
            assert read(t, f"{url}/x", 0, len(BODY)) == BODY
            assert read(t, f"{url}/x", 7, 100) == BODY[7:107]


def test_tls_that_is_not_trusted() -> None:
    with server(ranged, secure=True) as port:
        url = f"https://127.0.0.1:{port}"
        with pytest.raises(SourceError, match="the certificate is not trusted: self-signed certificate"):
            read(transport(url), f"{url}/x", 0, 10)


def test_tls_of_another_host_is_not_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    def here(host: str, port: int, **_: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", here)
    with server(ranged, secure=True) as port:
        url = f"https://hub.example:{port}"
        with pytest.raises(SourceError, match="not trusted: Hostname mismatch"):
            read(transport(url, REQUESTS_CA_BUNDLE=CERTIFICATE), f"{url}/x", 0, 10)


def test_plain_http_where_tls_was_meant() -> None:
    def plain(sock: socket.socket) -> None:
        sock.recv(65_536)
        sock.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    with server(plain) as port:
        url = f"https://127.0.0.1:{port}"
        with pytest.raises(SourceError, match="the TLS handshake failed"):
            read(transport(url), f"{url}/x", 0, 10)


def proxy(said: list[bytes], refusal: bytes = b"") -> Talk:
    """A proxy that tunnels to whatever port it is asked for, and keeps what it was told."""

    def talk(sock: socket.socket) -> None:
        head = asked(sock)
        said.append(head)
        if refusal:
            sock.sendall(refusal)
            return
        port = int(head.split()[1].rpartition(b":")[2])
        with socket.create_connection(("127.0.0.1", port)) as behind:
            sock.sendall(b"HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")

            def pump(one: socket.socket, other: socket.socket) -> None:
                try:
                    while data := one.recv(65_536):
                        other.sendall(data)
                except OSError:
                    pass

            back = threading.Thread(target=pump, args=(behind, sock), daemon=True)
            back.start()
            pump(sock, behind)

    return talk


def test_a_tunnel_through_a_proxy() -> None:
    said: list[bytes] = []
    with server(ranged, secure=True) as port, server(proxy(said)) as through:
        url = f"https://localhost:{port}"
        env = {"https_proxy": f"http://me:pa%20ss@127.0.0.1:{through}", "REQUESTS_CA_BUNDLE": CERTIFICATE}
        assert read(transport(url, **env), f"{url}/x", 0, len(BODY)) == BODY
    assert said[0].startswith(b"CONNECT localhost:%d HTTP/1.1\r\n" % port)
    # me:pa ss
    assert b"Proxy-Authorization: Basic bWU6cGEgc3M=\r\n" in said[0]


def test_a_proxy_that_refuses() -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    with server(proxy([], refusal)) as through:
        url = "https://localhost:9"
        with pytest.raises(SourceError, match=r"the proxy refuses \(407 Proxy Authentication Required\)"):
            read(transport(url, https_proxy=f"http://127.0.0.1:{through}"), f"{url}/x", 0, 10)


def test_a_plain_proxy_that_wants_a_password() -> None:
    refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n"
    with server(says(refusal)) as through:
        url = "http://hub.example"
        with pytest.raises(SourceError, match=r"the proxy wants a user and a password \(status 407\)"):
            transport(url, http_proxy=f"http://127.0.0.1:{through}").get(f"{url}/x")


def test_the_next_address_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def two(host: str, port: int, **_: object) -> list[object]:
        dead = ("127.0.0.1", 1)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", where) for where in (dead, ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", two)
    with server(ranged) as port:
        url = f"http://hub.example:{port}"
        assert read(transport(url), f"{url}/x", 0, 10) == BODY[:10]


def test_a_resolver_that_hangs_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    never = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: never.wait(60))
    before = time.monotonic()
    t = Waited(Transport("http://hub.example", timeout=0.5, env={}))
    with pytest.raises(SourceError, match=r"no answer within the 0\.5 s allowed"):
        t.get("http://hub.example/x")
    assert time.monotonic() - before < 5
    never.set()


def test_neither_token_nor_signature_is_said_again() -> None:
    said = b'{"error":"Invalid token: Bearer hf_SECRET, see https://s3.example/x?X-Amz-Signature=SIGNED&a=b"}'
    answer = b"HTTP/1.1 400 Bad\r\nX-Error-Message: bad hf_SECRET\r\nContent-Length: %d\r\n\r\n" % len(said) + said
    with server(says(answer)) as port:
        url = f"http://127.0.0.1:{port}"
        t = Waited(Transport(url, token="hf_SECRET", env={}))
        with pytest.raises(SourceError) as caught:
            t.get(f"{url}/x")
    assert "Invalid token: Bearer ***, see https://s3.example/x" in str(caught.value)
    told = f"{caught.value} {caught.value.answer}"  # type: ignore[attr-defined]
    assert "SECRET" not in told and "SIGNED" not in told


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a b/\u6a21.json?x=\u6a21 y", b"GET /a%20b/%E6%A8%A1.json?x=%E6%A8%A1%20y HTTP/1.1"),
        ("\xfc/%20x", b"GET /%C3%BC/%20x HTTP/1.1"),
        ("a\r\nX-Evil: 1", b"GET /a%0D%0AX-Evil:%201 HTTP/1.1"),
    ],
)
def test_what_no_request_line_can_hold_is_escaped(path: str, line: bytes) -> None:
    heads: list[bytes] = []

    def talk(sock: socket.socket) -> None:
        heads.append(asked(sock))
        sock.sendall(OK + b"Content-Length: 2\r\n\r\n{}")

    with server(talk) as port:
        url = f"http://127.0.0.1:{port}"
        assert transport(url).get(f"{url}/{path}").body == b"{}"
    assert heads[0].split(b"\r\n")[0] == line


@pytest.mark.parametrize("drip", [b"5;ext=", b"0", b"0\r\nX-Trailer: "])
def test_framing_that_never_becomes_a_body_ends_with_the_time_allowed(drip: bytes) -> None:
    def talk(sock: socket.socket) -> None:
        asked(sock)
        sock.sendall(OK + b"Transfer-Encoding: chunked\r\n\r\n" + drip)
        while True:
            sock.sendall(drip[-1:] if drip != b"0" else b"0")
            time.sleep(0.05)

    with server(talk) as port:
        url = f"http://127.0.0.1:{port}"
        before = time.monotonic()
        with pytest.raises(SourceError, match=r"s allowed|not HTTP"):
            Waited(Transport(url, timeout=1.0, env={})).get(f"{url}/x")
        assert time.monotonic() - before < 6


@pytest.mark.parametrize("proxied", ["http://127.0.0.1:99999", "http://[::1"])
def test_a_proxy_s_address_that_cannot_be_read_is_the_users_own_fault(proxied: str) -> None:
    t = Waited(Transport("http://hub.example", env={"http_proxy": proxied}))
    with pytest.raises(UsageError, match="proxy"):
        t.get("http://hub.example/x")


def test_a_family_that_the_kernel_lacks_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    class NoSix(socket.socket):
        def __init__(self, family: int = -1, *rest: int, **options: object) -> None:
            if family == socket.AF_INET6:
                raise OSError(97, "Address family not supported by protocol")
            super().__init__(family, *rest, **options)  # type: ignore[arg-type]

    def both(host: str, port: int, **_: object) -> list[object]:
        six = (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", port, 0, 0))
        return [six, (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    with server(ranged) as port:
        monkeypatch.setattr(socket, "getaddrinfo", both)
        monkeypatch.setattr(socket, "socket", NoSix)
        url = f"http://hub.example:{port}"
        assert read(transport(url), f"{url}/x", 0, 10) == BODY[:10]
