"""The process of the `inspect` command: its first request, its command line, its end."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn


def enter() -> NoReturn:
    """Run the command line of this process, and end it.

    The end gives no memory back object by object, which took 60 ms of 500 for a checkpoint of 96,000 tensors.
    """
    # A short run makes few cycles: look for them seldom, not after every 700 objects.
    gc.set_threshold(50_000, 20, 100)
    status = _status()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    os._exit(status)


def _status() -> int:
    try:
        from inspector.ahead import begin, importing

        ahead = begin(sys.argv[1:], os.environ)
        if ahead is not None:
            importing(ahead)
    except KeyboardInterrupt:
        sys.stderr.write("inspect: interrupted\n")
        return 130
    from inspector.cli import main

    return main(ahead=ahead)
