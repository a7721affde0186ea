"""Every fault of a network or a Hub with what must come of it: for the tests, and for the table in docs/faults.md."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from typing import Any

from tests.loopback import Fault, Faults, RequestInfo

REPO = "meta-llama/Llama-3.1-8B"
SHARD = "model-00002-of-00004.safetensors"

RIGHT = "the right report"
PARTIAL = "the other files are reported, this one is named, status 3"
BEFORE = "what came before is reported, the rest is named, status 3"
ERROR = "an error, status 3"


@dataclass(frozen=True)
class Case:
    """`outcome` is one of the four above; `says` is in the note or the error; `retried` requests went twice."""

    name: str
    outcome: str
    behaviour: str
    faults: Faults | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    says: str = ""
    retried: bool = False
    timeout: float | None = None
    atleast: float = 0.0
    atmost: float = 20.0


def shard(fault: Fault, *, times: int = 1, server: str = "cdn") -> Faults:
    """Spoil the first answers of one server for one shard."""

    def faults(request: RequestInfo) -> Fault | None:
        return fault if (request.server, request.file) == (server, SHARD) and request.attempt <= times else None

    return faults


def listing(fault: Fault, *, times: int = 1) -> Faults:
    """Spoil the first listings."""
    return lambda request: fault if request.route == "info" and request.attempt <= times else None


EVER = 1_000_000
_ONCE = "sent again after a moment"
_GIVES_UP = "sent three times, then given up"


def _statuses() -> tuple[Case, ...]:
    return tuple(
        case
        for status in (500, 502, 503, 504)
        for case in (
            Case(f"status {status}, once", RIGHT, _ONCE, shard(Fault(status=status)), retried=True),
            Case(
                f"status {status}, for ever",
                PARTIAL,
                _GIVES_UP,
                shard(Fault(status=status), times=EVER),
                says=f"status {status}",
                retried=True,
            ),
        )
    )


def _late() -> Mapping[str, str | None]:
    """A server whose clock is ten years behind, and asks to wait one second by it."""
    then = time.time() - 3600 * 24 * 3650
    return {"Date": formatdate(then, usegmt=True), "Retry-After": formatdate(then + 1, usegmt=True)}


_R0 = {"RateLimit": '"resolvers";r=0;t=1'}
_LOOP = Fault(status=302, headers={"Location": f"/{REPO}/resolve/main/{SHARD}"})

CASES: tuple[Case, ...] = (
    Case("reset before the status line, once", RIGHT, _ONCE, shard(Fault(reset_after=-1)), retried=True),
    Case(
        "reset before the status line, for ever",
        PARTIAL,
        _GIVES_UP,
        shard(Fault(reset_after=-1), times=EVER),
        says="broke off",
        retried=True,
    ),
    Case("reset in a header's bytes", RIGHT, "goes on at the next byte", shard(Fault(reset_after=50)), retried=True),
    Case("body cut off, once", RIGHT, "goes on at the next byte", shard(Fault(truncate_after=50)), retried=True),
    Case(
        "body cut off, for ever",
        PARTIAL,
        _GIVES_UP,
        shard(Fault(truncate_after=0), times=EVER),
        says="closed the connection early",
        retried=True,
    ),
    Case(
        "body stalls, once",
        RIGHT,
        "after HF_HUB_DOWNLOAD_TIMEOUT (10 s) goes on at the next byte",
        shard(Fault(stall_after=50)),
        retried=True,
    ),
    Case(
        "no answer, for ever",
        PARTIAL,
        _GIVES_UP,
        shard(Fault(delay=60), times=EVER),
        says="nothing came within the time allowed",
        retried=True,
    ),
    Case(
        "body drips a byte at a time",
        PARTIAL,
        "ends with --timeout (120 s)",
        shard(Fault(rate=20), times=EVER),
        says="s allowed",
        timeout=2,
        atmost=6,
    ),
    Case(
        "200 in place of 206",
        PARTIAL,
        "hung up before the body is read",
        shard(Fault(ignore_range=True)),
        says="status 200 in place of 206",
    ),
    Case(
        "Content-Range of other bytes",
        PARTIAL,
        "hung up",
        shard(Fault(headers={"Content-Range": "bytes 8-99/1168138808"}), times=EVER),
        says="the server says 1,168,138,808",
    ),
    Case(
        "no Content-Range",
        PARTIAL,
        "hung up",
        shard(Fault(headers={"Content-Range": None}), times=EVER),
        says="names no range",
    ),
    Case(
        "a range packed with gzip",
        PARTIAL,
        "hung up: its bytes cannot be placed",
        shard(Fault(gzip=True), times=EVER),
        says="the answer is encoded",
    ),
    Case(
        "status 416",
        PARTIAL,
        "both sizes are named",
        shard(Fault(status=416, headers={"Content-Range": "bytes */77"}), times=EVER),
        says="the file has 77 bytes",
    ),
    Case(
        "429 with RateLimit",
        RIGHT,
        "nobody asks that host until the window is over",
        shard(Fault(status=429, headers=_R0), server="hub"),
        retried=True,
        atleast=1,
    ),
    Case(
        "429 with Retry-After",
        RIGHT,
        "waits as long as asked",
        shard(Fault(status=429, headers={"Retry-After": "1", "RateLimit": None}), server="hub"),
        retried=True,
        atleast=1,
    ),
    Case(
        "429 that asks for more than --timeout",
        BEFORE,
        "told at once, not waited for",
        shard(Fault(status=429, headers={"Retry-After": "900", "RateLimit": None}), server="hub", times=EVER),
        says="a wait of 900 s is needed",
        retried=True,
        timeout=30,
        atmost=10,
    ),
    Case(
        "clock skew: Retry-After as a date ten years ago",
        RIGHT,
        "held against the server's own Date",
        shard(Fault(status=503, headers=_late())),
        retried=True,
        atleast=0.5,
        atmost=10,
    ),
    *_statuses(),
    Case(
        "signed URL expired",
        RIGHT,
        "asked for anew, once",
        shard(Fault(status=403, body=b"<Error><Code>AccessDenied</Code></Error>")),
    ),
    Case(
        "storage refuses, and not for expiry",
        PARTIAL,
        "a fresh URL is tried once, then its words are shown",
        shard(Fault(status=403, body=b"SignatureError: invalid key pair id"), times=EVER),
        says="invalid key pair id",
    ),
    Case(
        "redirects in a circle",
        PARTIAL,
        "given up after five",
        shard(_LOOP, server="hub", times=EVER),
        says="redirected more than 5 times",
    ),
    Case(
        "redirect to a file:",
        PARTIAL,
        "not followed",
        shard(Fault(status=302, headers={"Location": "file:///etc/passwd"}), server="hub", times=EVER),
        says="no http or https address",
    ),
    Case("listing: status 503, once", RIGHT, _ONCE, listing(Fault(status=503)), retried=True),
    Case(
        "listing: no JSON", ERROR, "its first characters are shown", listing(Fault(body=b"<html>")), says="is not JSON"
    ),
    Case(
        "listing: JSON of something else",
        ERROR,
        "named",
        listing(Fault(body=json.dumps({"a": 1}).encode())),
        says="lists no files",
    ),
    Case("listing: cut off", RIGHT, _ONCE, listing(Fault(truncate_after=40)), retried=True),
    Case("listing: deeply nested", ERROR, "refused", listing(Fault(body=b"[" * 200_000)), says="is not JSON"),
    Case(
        "listing without sizes, in pages of three",
        RIGHT,
        "the tree is asked page by page; ranges tell the weights' sizes, others are unknown, with a note",
        settings={"sizes": False, "page": 3},
        says="no size for",
    ),
    Case("a mirror that answers 206 itself", RIGHT, "as from the Hub", settings={"mirror": True}),
    Case("another ETag on a second read", RIGHT, "the commit is pinned", shard(Fault(headers={"ETag": '"x"'}))),
    Case(
        "everything hangs",
        ERROR,
        "ends with --timeout",
        lambda request: Fault(delay=60),
        says="s allowed",
        timeout=2,
        atmost=6,
    ),
)


def table() -> str:
    """docs/faults.md."""
    rows = [f"| {c.name} | {c.behaviour} | {c.outcome} |" for c in CASES]
    rows += [f"| {name} | {behaviour} | {outcome} |" for name, behaviour, outcome in OTHERS]
    return HEAD + "\n".join(rows) + "\n"


HEAD = """# What goes wrong, and what comes of it

Each row is a test in `tests/faults` against the loopback Hub or in `tests/transport` against servers of a few lines,
and this table is made from those tests (`python -m tests.faults`). Faults are of one shard of four unless the row names
the listing. Requests are only sent again where that is safe (every one is a GET), at most three times, with jitter, and
all under one deadline: `--timeout`, 120 s. What was sent again is said in the note `retried`.

| fault | behaviour | outcome |
|---|---|---|
"""

OTHERS: tuple[tuple[str, str, str], ...] = (
    ("connection refused", "sent three times, then given up", ERROR),
    ("name not known (DNS)", "told at once", ERROR),
    ("name lookup that hangs", "ends with --timeout", ERROR),
    ("first address of a name is dead", "the next one is tried", RIGHT),
    ("what comes is no HTTP", "sent three times, then given up; its first fault is named", ERROR),
    ("an answer that nobody asked for behind another one", "never read; the connection is closed", RIGHT),
    ("certificate not trusted, or of another host", "told at once, with what to set", ERROR),
    ("proxy refuses the tunnel (407)", "its status is named", ERROR),
    ("answer's header drips a byte at a time", "ends with --timeout", ERROR),
    ("redirect to another host", "followed without the token", RIGHT),
    ("repo changed between listing and reading", "every URL names the commit of the listing", RIGHT),
    ("100,000 files in one repo", "listed and laid aside", RIGHT),
    ("a proxy that does not answer", "named; `no_proxy` is heeded", ERROR),
    ("one bad shard of 48", "47 are reported, totals are marked incomplete", PARTIAL),
    ("429 at the 50th request of 100", "done within what the header asks for", RIGHT),
    ("Ctrl-C while a server hangs", "connections are closed, ends at once", "status 130"),
)
