"""The process of the `inspect` command: its first request, its command line, its end."""

from __future__ import annotations

import gc
import os
import signal
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
    """While modules are imported Ctrl-C ends the process at once: an import may swallow the exception that it is."""
    heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeded:
        signal.signal(signal.SIGINT, _interrupted)
    from inspector.ahead import begin, request

    # To import what parses every command line takes a tenth of a run: a repo and a few flags need none of it.
    asked = None if "_INSPECT_COMPLETE" in os.environ else request(sys.argv[1:])
    if asked is None:
        from inspector import cli
    else:
        # Where nothing can be written the run says so, and nothing need be read.
        ahead = begin(asked, os.environ) if sys.stdout is not None else None
        if ahead is not None:
            ahead.go_on()
        from inspector import answer
    if heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return cli.main() if asked is None else answer.ended(lambda: answer.run(asked, ahead))


def _interrupted(number: int, frame: object) -> NoReturn:
    with suppress(OSError):
        os.write(2, b"inspect: interrupted\n")
    os._exit(130)
