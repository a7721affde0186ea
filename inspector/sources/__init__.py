"""The only code that touches network or disk for a checkpoint: one file per kind of source."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from inspector.address import Address
from inspector.errors import SourceError
from inspector.model import Source
from inspector.net import environment
from inspector.net.failures import shown

if TYPE_CHECKING:
    from inspector.keep.store import Store
    from inspector.sources.hub import HubSource

SOURCES = ("local", "snapshot", "cache", "hub", "url")
"""The kinds of source there are, each a module here; `open_source` chooses by the address."""


def open_source(
    address: Address,
    *,
    token: str | None = None,
    endpoint: str | None = None,
    timeout: float | None = None,
    jobs: int | None = None,
    offline: bool | None = None,
    trace: Callable[[str], None] | None = None,
    store: Store | None = None,
    hub: HubSource | None = None,
) -> Source:
    """The source of an address. `offline` None follows `HF_HUB_OFFLINE`; offline, caches are all there is.

    `timeout` is in seconds, for everything that the source does together. `store` keeps what is read of a Hub.
    Nothing is read before it is asked for. `hub` is a source of the address that is open already.
    """
    if address.kind == "local":
        from inspector.sources.cache import cached_repo
        from inspector.sources.local import LocalSource

        cached = None if address.path else cached_repo(Path(address.name))
        return LocalSource(address) if cached is None else cached
    if address.kind == "snapshot":
        from inspector.sources.snapshot import open_recorded

        return open_recorded(address)
    if address.kind == "url":
        if environment.offline(os.environ) if offline is None else offline:
            message = "is not on this machine, and no request may be made"
            raise SourceError(shown(address.name), message, "Run it online, or download the file and give its path.")
        from inspector.sources.url import UrlSource

        return UrlSource(address, timeout=timeout, jobs=jobs, trace=trace)
    whole = (environment.endpoint(os.environ, endpoint), address.kind, address.name)
    revision = address.revision or "main"
    if environment.offline(os.environ) if offline is None else offline:
        from inspector.sources.cache import CacheSource

        if store is not None:
            from inspector.sources.kept import KeptSource

            kept = KeptSource(None, store, whole, revision)
            if kept.known():
                return kept
        return CacheSource(address)
    if hub is None:
        from inspector.sources.hub import HubSource

        hub = HubSource(address, token=token, endpoint=endpoint, timeout=timeout, jobs=jobs, trace=trace)
    if store is None:
        return hub
    from inspector.sources.kept import KeptSource

    return KeptSource(hub, store, whole, revision)
