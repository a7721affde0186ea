"""What all threads of one loopback Hub share: repos, signed URLs, rate-limit windows."""

from __future__ import annotations

import hashlib
import hmac
import threading
import time
from collections.abc import Callable, Iterable
from urllib.parse import parse_qs

from tests.loopback.content import Entry
from tests.loopback.repo import Kind, Repo
from tests.loopback.settings import Settings
from tests.loopback.wire import Log

_KEY = b"loopback"


class State:
    """The repos of one Hub and its counters; every method is safe to call from any thread."""

    def __init__(self, repos: Iterable[Repo], settings: Settings) -> None:
        self.settings = settings
        self.log = Log()
        self.stopped = threading.Event()
        self.cdn_url = ""
        self.hub_url = ""
        self._lock = threading.Lock()
        self._repos = {(r.kind, r.name.lower()): r for r in repos}
        self._signed: dict[str, tuple[Repo, Entry]] = {}
        self._windows: dict[tuple[str, str], tuple[float, int]] = {}
        self._line_free_at = 0.0
        self._packed: dict[str, bytes] = {}

    def repo(self, kind: Kind, name: str) -> Repo | None:
        """The repo of that kind and name; case does not matter, as on the Hub."""
        with self._lock:
            return self._repos.get((kind, name.lower()))

    def put(self, repo: Repo) -> None:
        """Add a repo, or replace the one of its name."""
        with self._lock:
            self._repos[(repo.kind, repo.name.lower())] = repo

    def sign(self, repo: Repo, entry: Entry) -> str:
        """A URL on the CDN that serves `entry` until it expires."""
        path = f"/xet-bridge-us/{repo.id}/{entry.content_id}"
        with self._lock:
            self._signed[path] = (repo, entry)
        expires = int(time.time()) + self.settings.url_lifetime
        query = f"Expires={expires}&Policy=loopback&Signature={_signature(path, expires)}&Key-Pair-Id=LOOPBACK"
        return f"{self.cdn_url}{path}?{query}"

    def signed(self, path: str, query: str) -> tuple[Repo, Entry] | str:
        """What a signed URL serves, or the reason for refusing it."""
        fields = parse_qs(query)
        expires = (fields.get("Expires") or [""])[0]
        given = (fields.get("Signature") or [""])[0]
        if not expires.isdigit() or not hmac.compare_digest(given, _signature(path, int(expires))):
            return "SignatureDoesNotMatch"
        if int(expires) <= time.time():
            return "Request has expired"
        with self._lock:
            return self._signed.get(path, "NoSuchKey")

    def spend(self, bucket: str, client: str) -> tuple[int, int]:
        """Count one request of a client; what is left in the window (-1: over the limit) and its seconds."""
        now, quota = time.monotonic(), self.settings.quota.get(bucket, 100)
        with self._lock:
            begun, used = self._windows.get((bucket, client), (now, 0))
            if now - begun >= self.settings.window:
                begun, used = now, 0
            self._windows[(bucket, client)] = (begun, used + 1)
        left = quota - used - 1
        if not self.settings.enforce:
            left = max(left, 1)
        return left, max(1, round(begun + self.settings.window - now))

    def packed(self, entry: Entry, pack: Callable[[], bytes]) -> bytes:
        """A file in gzip's form, made once: the Hub's CDN keeps it too."""
        with self._lock:
            found = self._packed.get(entry.content_id)
        if found is None:
            found = pack()
            with self._lock:
                self._packed[entry.content_id] = found
        return found

    def pace(self, count: int) -> None:
        """Wait until the shared line has room for `count` more bytes."""
        if not self.settings.bandwidth:
            return
        with self._lock:
            now = time.monotonic()
            self._line_free_at = max(now, self._line_free_at) + count / self.settings.bandwidth
            wait = self._line_free_at - now
        if wait > 0:
            self.stopped.wait(wait)


def _signature(path: str, expires: int) -> str:
    return hmac.new(_KEY, f"{path} {expires}".encode(), hashlib.sha256).hexdigest()
