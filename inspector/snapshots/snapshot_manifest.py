"""What a snapshot says it holds, as JSON: per repo the commit, the listing, and which bytes were read.

The JSON has sorted keys and nothing that changes from run to run. Read back, every field is held to its type: a
manifest comes from strangers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, Literal, NoReturn, cast

from inspector.errors import MalformedFile
from inspector.escape import terminal
from inspector.model import File, Json, Listing, Note, Ref
from inspector.records import dataclass
from inspector.snapshots.snapshot_model import FAULTS, Asked, Fault, Piece, Read, Recorded, Refused

FORMAT: Final = "inspect-snapshot"
SCHEMA: Final = 1
_Kind = Literal["model", "dataset", "space", "local", "url"]
_KINDS: Final = ("model", "dataset", "space", "local", "url")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_FIRST: Final = ("format", "schema_version", "tool", "repos", "refused")


def write(repos: Sequence[Recorded], refused: Sequence[Refused], version: str) -> bytes:
    """The manifest's bytes."""
    value = {
        "format": FORMAT,
        "schema_version": SCHEMA,
        "tool": {"name": "inspect", "version": version},
        "repos": sorted((_repo(r) for r in repos), key=_order),
        "refused": sorted(({"kind": r.kind, **_asked(r.asked), "fault": _fault(r.fault)} for r in refused), key=_order),
    }
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode("ascii") + b"\n"


def _order(entry: Mapping[str, Json]) -> str:
    return json.dumps([entry["name"], entry["kind"], entry["asked_revision"], entry["path"], entry], sort_keys=True)


def _asked(asked: Asked) -> dict[str, Json]:
    return {"name": asked.name, "asked_revision": asked.revision, "path": asked.path}


def _fault(fault: Fault) -> list[str]:
    return [fault.sort, fault.place, fault.message, fault.advice]


def _repo(recorded: Recorded) -> dict[str, Json]:
    listing = recorded.listing
    counts = listing.hub_parameters
    return {
        **_asked(recorded.asked),
        "variants": list(recorded.variants),
        "repo": listing.ref.repo,
        "kind": listing.ref.kind,
        "revision": listing.ref.revision,
        "hub_parameters": None if counts is None else [[k, v] for k, v in counts.items()],
        "hub_total": listing.hub_total,
        "notes": [[n.code, n.message, n.where] for n in listing.notes],
        "files": [[f.path, f.size, f.content_id, f.pointer, f.holds] for f in listing.files],
        "documents": dict(recorded.documents),
        "read": {
            path: {"ends": r.ends, "pieces": [[p.start, p.size, p.digest] for p in r.pieces]}
            for path, r in recorded.reads.items()
        },
        "faults": {path: _fault(f) for path, f in recorded.faults.items()},
    }


def read(data: bytes, place: str) -> tuple[tuple[Recorded, ...], tuple[Refused, ...]]:
    """The repos of a manifest. Raises `MalformedFile` for a newer schema, and for what no manifest says."""
    try:
        value = json.loads(data, object_pairs_hook=_unique, parse_constant=_constant)
    except (ValueError, RecursionError):
        _Reader(place, "manifest.json").refuse("is not JSON as a snapshot has it")
    top = _Reader(place, "manifest.json")
    fields = top.mapping(value)
    if fields.get("format") != FORMAT:
        top.refuse(f"does not say that it is of the format {FORMAT}")
    schema = top.at("schema_version").size(fields.get("schema_version"))
    if schema > SCHEMA:
        message = f"has schema version {schema:,}, this inspect reads up to {SCHEMA}"
        raise MalformedFile(place, message, "Update inspect, or make the snapshot again with this one.")
    if schema < 1 or set(fields) != set(_FIRST):
        top.refuse("has other keys than a snapshot of its schema version")
    repos = tuple(_read_repo(r, v) for r, v in top.at("repos").items(fields["repos"]))
    refused = tuple(_read_refused(r, v) for r, v in top.at("refused").items(fields["refused"]))
    return repos, refused


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def _constant(name: str) -> NoReturn:
    raise ValueError(name)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads values at one key, `where`, and refuses what has another type."""

    place: str
    where: str

    def at(self, key: str) -> _Reader:
        return _Reader(self.place, f"{self.where}.{key}")

    def refuse(self, message: str) -> NoReturn:
        advice = "Make it again with `inspect record` or `inspect lock`."
        raise MalformedFile(self.place, f"{terminal(self.where, 120)} {message}", advice)

    def mapping(self, value: Json) -> dict[str, Any]:
        if not isinstance(value, dict):
            self.refuse("is not an object")
        return value

    def keyed(self, value: Json) -> Iterator[tuple[str, _Reader, Json]]:
        for key, item in self.mapping(value).items():
            yield key, self.at(key), item

    def items(self, value: Json) -> Iterator[tuple[_Reader, Json]]:
        if not isinstance(value, list):
            self.refuse("is not a list")
        for i, item in enumerate(value):
            yield self.at(str(i)), item

    def row(self, value: Json, length: int) -> list[Any]:
        if not isinstance(value, list) or len(value) != length:
            self.refuse(f"is not a list of {length}")
        return value

    def text(self, value: Json) -> str:
        if not isinstance(value, str):
            self.refuse("is not a text")
        return value

    def text_or_none(self, value: Json) -> str | None:
        return None if value is None else self.text(value)

    def size(self, value: Json) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 63:
            self.refuse("is not a number of bytes")
        return value

    def flag(self, value: Json) -> bool:
        if not isinstance(value, bool):
            self.refuse("is not true or false")
        return value

    def digest(self, value: Json) -> str:
        text = self.text(value)
        if not _DIGEST.fullmatch(text):
            self.refuse("is not a sha256")
        return text

    def kind(self, value: Json) -> _Kind:
        if value not in _KINDS:
            self.refuse("is no kind of repo")
        return cast(_Kind, value)

    def fault(self, value: Json) -> Fault:
        sort, place, message, advice = (self.text(v) for v in self.row(value, 4))
        if sort not in FAULTS:
            self.refuse("is no fault that is known")
        return Fault(sort, place, message, advice)

    def asked(self, fields: Mapping[str, Json]) -> Asked:
        name = self.at("name").text(fields.get("name"))
        revision = self.at("asked_revision").text_or_none(fields.get("asked_revision"))
        return Asked(name, revision, self.at("path").text_or_none(fields.get("path")))


def _read_repo(at: _Reader, value: Json) -> Recorded:
    fields = at.mapping(value)
    missing = {"repo", "kind", "revision", "files", "notes", "documents", "read", "faults", "variants"} - set(fields)
    if missing:
        at.refuse(f"has no key {min(missing)!r}")
    ref = Ref(
        at.at("repo").text(fields["repo"]),
        at.at("revision").text_or_none(fields["revision"]),
        at.at("kind").kind(fields["kind"]),
    )
    files = tuple(_read_file(r, v) for r, v in at.at("files").items(fields["files"]))
    sizes = {f.path: f.size for f in files}
    if len(sizes) != len(files):
        at.refuse("lists a file twice")
    notes = tuple(Note(*(r.text(v) for v in r.row(row, 3))) for r, row in at.at("notes").items(fields["notes"]))
    total = fields.get("hub_total")
    listing = Listing(
        ref, files, _read_counts(at, fields), None if total is None else at.at("hub_total").size(total), notes
    )
    documents = {p: r.digest(v) for p, r, v in at.at("documents").keyed(fields["documents"])}
    reads = {p: _read_read(r, v, sizes.get(p)) for p, r, v in at.at("read").keyed(fields["read"])}
    faults = {p: r.fault(v) for p, r, v in at.at("faults").keyed(fields["faults"])}
    for path in (*documents, *reads, *faults):
        if path not in sizes:
            at.refuse(f"holds {terminal(path, 80)!r}, which it does not list")
    variants = tuple(r.text_or_none(v) for r, v in at.at("variants").items(fields["variants"]))
    return Recorded(at.asked(fields), variants, listing, documents, reads, faults)


def _read_file(at: _Reader, value: Json) -> File:
    path, size, identity, pointer, holds = at.row(value, 5)
    length = None if size is None else at.size(size)
    return File(at.text(path), length, at.text_or_none(identity), at.flag(pointer), at.text_or_none(holds))


def _read_counts(at: _Reader, fields: Mapping[str, Json]) -> Mapping[str, int] | None:
    value = fields.get("hub_parameters")
    if value is None:
        return None
    rows = [r.row(v, 2) for r, v in at.at("hub_parameters").items(value)]
    return MappingProxyType({at.text(k): at.at("hub_parameters").size(n) for k, n in rows})


def _read_read(at: _Reader, value: Json, file_size: int | None) -> Read:
    fields = at.mapping(value)
    pieces: list[Piece] = []
    reached = -1
    for r, row in at.at("pieces").items(fields.get("pieces")):
        start, size, digest = r.row(row, 3)
        piece = Piece(r.size(start), r.size(size), r.digest(digest))
        if piece.start <= reached or not piece.size:
            r.refuse("does not follow the piece before it")
        reached = piece.start + piece.size
        pieces.append(piece)
    if file_size is not None and reached > file_size:
        at.refuse(f"holds {reached:,} bytes of a file of {file_size:,}")
    return Read(tuple(pieces), at.at("ends").flag(fields.get("ends")))


def _read_refused(at: _Reader, value: Json) -> Refused:
    fields = at.mapping(value)
    return Refused(at.at("kind").kind(fields.get("kind")), at.asked(fields), at.at("fault").fault(fields.get("fault")))
