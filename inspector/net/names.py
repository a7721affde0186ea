"""The addresses of a host name. Looking one up blocks, so that a thread of its own does it."""

from __future__ import annotations

import socket
from typing import Any

from inspector.net.threads import beside

Address = tuple[int, Any]
"""Address family, and what `socket.connect` takes."""


async def addresses(host: str, port: int, until: float) -> list[Address]:
    """Every address of a host, in the resolver's order. Raises socket.gaierror, UnicodeError, TimeoutError."""
    plain = _literal(host, port)
    if plain is not None:
        return [plain]
    answers = await beside(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM), until)
    return [(family, address) for family, _, _, _, address in answers]


def _literal(host: str, port: int) -> Address | None:
    """The address that a host is itself, None for a name."""
    for family, address in ((socket.AF_INET, (host, port)), (socket.AF_INET6, (host, port, 0, 0))):
        try:
            socket.inet_pton(family, host)
        except (OSError, ValueError):
            continue
        return family, address
    return None
