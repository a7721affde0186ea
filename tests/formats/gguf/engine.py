"""Headers through the engine, as one checkpoint."""

from __future__ import annotations

from inspector.measure import measure
from inspector.model import Checkpoint, File, Footprint, Header, Listing, Part, Ref, Selection


def footprint(*headers: Header) -> Footprint:
    """What the engine makes of these headers as one checkpoint."""
    files = tuple(File(h.file, h.file_size) for h in headers)
    selection = Selection("gguf", None, (Part("", files),), (), ())
    listing = Listing(Ref("test", None, "local"), files)
    return measure(Checkpoint(listing, selection, headers, {}, (), ()))[0]
