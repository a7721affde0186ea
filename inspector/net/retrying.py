"""When to try again, and when to stop: what servers ask for, and one total deadline."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import Final

from inspector import tasks
from inspector.errors import SourceError, UsageError

TRIES: Final = 3
"""How often one GET is sent before its failure is reported."""
RETRIED: Final = frozenset({429, 500, 502, 503, 504})
_LIMIT: Final = re.compile(r'"[^"]*"\s*;\s*r=(\d{1,9})\s*;\s*t=(\d{1,9})')


def asked_delay(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the server asks to wait, None where it does not say.

    `RateLimit: "api";r=0;t=17` (the Hub's form) speaks for a 429; `Retry-After` is seconds or an HTTP date, which is
    held against the server's own `Date`, so that a wrong clock here does not matter. `now` is Unix time.
    """
    if status == 429:
        match = _LIMIT.search(headers.get("ratelimit", ""))
        if match and match.group(1) == "0":
            return float(match.group(2))
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit() and len(text) < 10:
        return float(text)
    until = _date(text)
    if until is None:
        return None
    return max(0.0, until - (_date(headers.get("date", "")) or now))


def backoff(attempt: int) -> float:
    """Seconds after failure number `attempt` (from 1): 1, 2, 4."""
    return float(1 << min(attempt - 1, 2))


def _date(text: str) -> float | None:
    if not text:
        return None
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


class Patience:
    """One total deadline for everything that a source does, and the pauses that hosts ask for.

    A pause holds every task that talks to the same origin, so that sixty requests do not all run into the same
    limit. Each wait gets a jitter of up to a quarter of it (at least one second's worth for long ones). `clock`,
    `sleep` and `jitter` are for those who have a time of their own.
    """

    def __init__(
        self,
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        if not 0 < seconds < 1e9:
            raise UsageError("--timeout", f"{seconds} is not a number of seconds above 0")
        self.seconds = seconds
        self._clock, self._sleep, self._jitter = clock, sleep, jitter
        self._end = clock() + seconds
        self._until: dict[str, float] = {}

    def remaining(self, place: str, show: Callable[[str], str] = str) -> float:
        """Seconds left. Raises `SourceError` when there are none, with the place as `show` shows it."""
        left = self._end - self._clock()
        if left <= 0:
            message = f"no answer within the {self.seconds:g} s allowed in all"
            raise SourceError(show(place), message, "Allow more with --timeout, or try again later.")
        return left

    @property
    def holds(self) -> bool:
        """Whether any host has asked for a pause."""
        return bool(self._until)

    def hold(self, origin: str, delay: float) -> None:
        """Let nobody talk to `origin` for `delay` seconds."""
        self._until[origin] = max(self._until.get(origin, 0.0), self._clock() + delay)

    async def turn(self, origin: str, place: str) -> None:
        """Wait out the pause of `origin`, if there is one."""
        delay = self._until.get(origin, 0.0) - self._clock()
        if delay > 0:
            await self.wait(delay, place)

    async def wait(self, delay: float, place: str) -> None:
        """Sleep `delay` seconds and a jitter. Raises `SourceError` at once where the deadline does not allow it."""
        left = self.remaining(place)
        if delay >= left:
            message = f"a wait of {delay:.0f} s is needed, and {left:.0f} s are left of the {self.seconds:g} s allowed"
            raise SourceError(place, message, "Try again later, or allow more with --timeout.")
        pause = min(delay + self._share() * min(1.0, max(0.25 * delay, 0.1)), left)
        if self._sleep is None:
            await tasks.sleep(pause)
        else:
            self._sleep(pause)

    def _share(self) -> float:
        """How much of the jitter a wait gets, from 0 to 1."""
        if self._jitter is not None:
            return self._jitter()
        import random

        return random.random()
