"""`inspect cache info|clear`: where what was read is kept, how much it is, and how to be rid of it."""

from __future__ import annotations

import os

import click

from inspector.errors import UsageError
from inspector.escape import terminal
from inspector.keep.store import LIMIT, Store, folder
from inspector.output import emit
from inspector.units import both


@click.command("cache", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("what", type=click.Choice(["info", "clear"]))
def command(what: str) -> int:
    """Say what the cache holds, or remove it.

    Headers, listings and finished reports of Hub repos are kept, never a token and
    never weights. INSPECT_CACHE names another folder.
    """
    where = folder(os.environ)
    if where is None:
        raise UsageError("INSPECT_CACHE", "no folder for a cache is known", "Set it to a folder.")
    store = Store(where)
    if what == "clear":
        gone = store.clear()
        emit(f"{gone.entries:,} entries removed, {both(gone.bytes)}\n", None)
        return 0
    found = store.info()
    emit(f"{terminal(str(where))}\n{found.entries:,} entries, {both(found.bytes)} of at most {both(LIMIT)}\n", None)
    return 0
