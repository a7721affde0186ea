"""How one loopback Hub behaves: everything a test may choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.loopback.wire import Faults

QUOTA: Mapping[str, int] = {"api": 500, "resolvers": 3000, "pages": 100}
"""Anonymous requests per 300 s window, as documented in September 2025."""


@dataclass(frozen=True)
class Settings:
    """The switches of a loopback Hub.

    `latency` seconds pass before each answer; `bandwidth` bytes per second are shared by all bodies. `sizes` False is
    a mirror that lists names only; `mirror` answers files directly, without CDN or redirects. `page` and
    `expanded_page` are the entries per page of `tree`. `tokens` None takes any token, else others are refused; `quota`
    is counted, and enforced only with `enforce`. `url_lifetime` seconds is how long a signed URL works.
    `renamed` maps old repo names to new ones.
    """

    latency: float = 0.0
    bandwidth: float | None = None
    faults: Faults | None = None
    sizes: bool = True
    mirror: bool = False
    page: int = 1000
    expanded_page: int = 50
    tokens: frozenset[str] | None = None
    renamed: Mapping[str, str] = field(default_factory=dict)
    quota: Mapping[str, int] = field(default_factory=lambda: dict(QUOTA))
    window: int = 300
    enforce: bool = False
    url_lifetime: int = 3600
