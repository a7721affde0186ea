"""The addresses of a host name. Looking one up blocks, so that a thread of its own does it."""

from __future__ import annotations

import socket
from typing import Any

from inspector.tasks import READ, ready

Address = tuple[int, Any]
"""Address family, and what `socket.connect` takes."""


async def addresses(host: str, port: int, until: float) -> list[Address]:
    """Every address of a host, in the resolver's order. Raises socket.gaierror, UnicodeError, TimeoutError."""
    plain = _literal(host, port)
    if plain is not None:
        return [plain]
    import threading

    found: list[Address] = []
    problem: list[BaseException] = []
    here, there = socket.socketpair()

    def look() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            found.extend((family, address) for family, _, _, _, address in answers)
        except BaseException as e:
            problem.append(e)
        finally:
            there.close()

    with here:
        here.setblocking(False)
        # A resolver that hangs is left behind: nothing can interrupt it, and nobody waits for it any more.
        threading.Thread(target=look, name="inspect-resolver", daemon=True).start()
        await ready(here, READ, until)
    if problem:
        raise problem[0]
    return found


def _literal(host: str, port: int) -> Address | None:
    """The address that a host is itself, None for a name."""
    for family, address in ((socket.AF_INET, (host, port)), (socket.AF_INET6, (host, port, 0, 0))):
        try:
            socket.inet_pton(family, host)
        except (OSError, ValueError):
            continue
        return family, address
    return None
