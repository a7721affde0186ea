"""The CDN's port: bytes behind signed URLs, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from tests.loopback.ranges import serve
from tests.loopback.state import State
from tests.loopback.wire import Answer


def answer(state: State, path: str, query: str, headers: Mapping[str, str]) -> Answer:
    """The honest answer of the CDN's port: 200, 206, 416, or 403 with the XML of a storage service."""
    found = state.signed(path, query)
    if isinstance(found, str):
        xml = (
            f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>AccessDenied</Code><Message>{found}</Message></Error>'
        )
        return Answer(403, {"Content-Type": "application/xml"}, xml.encode())
    _, entry = found
    fixed = {"ETag": f'"{entry.content_id}"', "Content-Type": "application/octet-stream"}
    return serve(entry, headers.get("range"), fixed)
