"""Which route of the Hub a request target names. Pure: a target in, a `Route` out."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.loopback.repo import Kind

KINDS: dict[str, Kind] = {"models": "model", "datasets": "dataset", "spaces": "space"}
_WORDS = ("revision", "tree", "paths-info", "refs", "safetensors-metadata")


@dataclass(frozen=True, slots=True)
class Route:
    """A target taken apart. `prefix` is the undecoded target up to the repo's name, `rest` what follows the name."""

    name: str
    kind: Kind = "model"
    repo: str = ""
    revision: str | None = None
    path: str = ""
    query: tuple[tuple[str, str], ...] = ()
    prefix: str = ""
    rest: str = ""

    def first(self, key: str) -> str | None:
        """The first value of a query key."""
        return next((v for k, v in self.query if k == key), None)

    def flag(self, key: str) -> bool:
        """True for `key=true` and `key=1`."""
        return (self.first(key) or "").lower() in ("true", "1")

    def renamed(self, repo: str) -> str:
        """The same target for another repo name."""
        return f"{self.prefix}{repo}{self.rest}"


def hub_route(target: str) -> Route:
    """The route of a target on the Hub's own port; `other` for everything that it does not serve."""
    parts = urlsplit(target)
    query = tuple(parse_qsl(parts.query, keep_blank_values=True))
    suffix = f"?{parts.query}" if parts.query else ""
    segments = parts.path.lstrip("/").split("/")
    if segments[0] == "api" and len(segments) > 2:
        if segments[1] == "resolve-cache":
            return _cached(segments, query)
        if segments[1] in KINDS:
            return _api(segments, query, suffix)
    if "resolve" in segments:
        return _resolve(segments, query, suffix)
    return Route("other", path=parts.path, query=query)


def _api(segments: list[str], query: tuple[tuple[str, str], ...], suffix: str) -> Route:
    kind = KINDS[segments[1]]
    rest = segments[2:]
    cut = next((i for i in (1, 2) if i < len(rest) and rest[i] in _WORDS), len(rest))
    if cut > 2:
        return Route("other", path="/".join(segments), query=query)
    name = unquote("/".join(rest[:cut]))
    tail = "".join(f"/{s}" for s in rest[cut:]) + suffix
    word, rest = (rest[cut], rest[cut + 1 :]) if cut < len(rest) else ("revision", [])
    route = {"revision": "info", "tree": "tree", "paths-info": "paths", "refs": "refs"}.get(word, word)
    revision, path = (None, unquote("/".join(rest))) if word == "safetensors-metadata" else _revision(rest)
    return Route(route, kind, name, revision, path, query, f"/api/{segments[1]}/", tail)


def _resolve(segments: list[str], query: tuple[tuple[str, str], ...], suffix: str) -> Route:
    kind = KINDS.get(segments[0], "model")
    first = 1 if segments[0] in KINDS else 0
    cut = segments.index("resolve")
    if not 1 <= cut - first <= 2:
        return Route("other", path="/".join(segments), query=query)
    revision, path = _revision(segments[cut + 1 :])
    prefix = f"/{segments[0]}/" if first else "/"
    tail = "".join(f"/{s}" for s in segments[cut:]) + suffix
    return Route("resolve", kind, unquote("/".join(segments[first:cut])), revision, path, query, prefix, tail)


def _cached(segments: list[str], query: tuple[tuple[str, str], ...]) -> Route:
    if len(segments) < 7 or segments[2] not in KINDS:
        return Route("other", path="/".join(segments), query=query)
    name, path = unquote("/".join(segments[3:5])), unquote("/".join(segments[6:]))
    return Route("small", KINDS[segments[2]], name, unquote(segments[5]), path, query)


def _revision(rest: list[str]) -> tuple[str | None, str]:
    if not rest:
        return None, ""
    width = 3 if rest[0] == "refs" and len(rest) >= 3 else 1
    return unquote("/".join(rest[:width])), unquote("/".join(rest[width:]))
