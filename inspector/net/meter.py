"""What was asked of the network, counted at the one place where it is asked."""

from __future__ import annotations


class Meter:
    """Requests sent, body bytes taken from sockets (compressed ones as they came) and retries."""

    def __init__(self) -> None:
        self._requests = self._bytes = 0
        self._retried: dict[str, int] = {}

    def request(self) -> None:
        """Count one HTTP request, answered or not."""
        self._requests += 1

    def body(self, count: int) -> None:
        """Count body bytes."""
        self._bytes += count

    def retry(self, why: str) -> None:
        """Count one more try of something that failed."""
        self._retried[why] = self._retried.get(why, 0) + 1

    @property
    def requests(self) -> int:
        """HTTP requests so far, each redirect and each try counted."""
        return self._requests

    @property
    def bytes(self) -> int:
        """Body bytes so far."""
        return self._bytes

    @property
    def retries(self) -> int:
        """Tries after the first, so far."""
        return sum(n for _, n in self.retried)

    @property
    def retried(self) -> tuple[tuple[str, int], ...]:
        """Why requests were sent again, and how many."""
        return tuple(self._retried.items())
