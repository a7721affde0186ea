"""Work that blocks, or that computes without the interpreter's lock, in a thread of its own: tasks wait for its end."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import TypeVar

from inspector.tasks import READ, ready

T = TypeVar("T")


async def beside(work: Callable[[], T], until: float) -> T:
    """What `work` gives, or raises; other tasks go on meanwhile. Raises TimeoutError at `until` (`time.monotonic`).

    Work that hangs is left behind: nothing can interrupt it, and nobody waits for it any more.
    """
    import threading

    found: list[T] = []
    problem: list[BaseException] = []
    here, there = socket.socketpair()

    def run() -> None:
        try:
            found.append(work())
        except BaseException as e:
            problem.append(e)
        finally:
            there.close()

    with here:
        here.setblocking(False)
        threading.Thread(target=run, name="inspect-beside", daemon=True).start()
        await ready(here, READ, until)
    if problem:
        raise problem[0]
    return found[0]
