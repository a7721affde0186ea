"""What opens each repo of a run that reads several: the Hub, its cache, or a folder, with the flags of one command."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from inspector import output

if TYPE_CHECKING:
    from inspector.address import Address
    from inspector.model import Source


def opener(
    *,
    token: str | None,
    endpoint: str | None,
    timeout: float | None,
    jobs: int | None,
    offline: bool,
    verbose: bool,
) -> Callable[[Address], Source]:
    """What opens each repo of a run: the Hub, its cache, or a folder."""
    from inspector.claims.measured import FILES_AT_ONCE
    from inspector.sources import open_source

    def trace(line: str) -> None:
        from inspector.escape import terminal

        output.say(terminal(line))

    def opened(where: Address) -> Source:
        return open_source(
            where,
            token=token,
            endpoint=endpoint,
            timeout=timeout,
            jobs=jobs or FILES_AT_ONCE,
            offline=offline or None,
            trace=trace if verbose else None,
        )

    return opened
