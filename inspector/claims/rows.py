"""Rows become claims: the long form, a row per claim; the wide form, a row per model and a column per quantity."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

from inspector.claim.claim_amounts import absent, amount
from inspector.claim.claim_build import Words, cells_figure, claim, said_of
from inspector.claim.claim_mapping import Column, Layout
from inspector.claim.claim_model import Amount, Cell, Claim, Kind, Place, Row, Subject, Table, Unit
from inspector.claim.claim_quantities import QUANTITIES, named, quantity
from inspector.claim.claim_rules import Expression
from inspector.errors import UsageError
from inspector.records import dataclass, replace

_SPELLINGS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "repo": (
            *("repo", "repoid", "repository", "hfrepo", "hfrepoid", "hfid", "hfmodel", "hfmodelid", "huggingface"),
            *("huggingfaceid", "huggingfacerepo", "hubid", "modelid", "model", "modelname", "checkpoint", "name"),
        ),
        "revision": ("revision", "rev", "commit", "sha"),
        "variant": ("variant", "quant", "quantization", "quantisation", "build"),
        "quantity": ("quantity", "metric", "measure", "figure", "claim"),
        "value": ("value", "claimed", "estimate", "expected"),
        "unit": ("unit", "units"),
        "tolerance": ("tolerance", "tol", "margin"),
        "context": ("context", "contextlength", "ctx", "tokens", "maxmodellen"),
        "kv_dtype": ("kvdtype", "kvcachedtype", "cachedtype", "kvcache"),
        "cluster": ("cluster", "hardware", "machines"),
        "placement": ("placement",),
        "note": ("note", "notes", "comment", "comments"),
    }
)
"""Roles of columns, and the spellings that say them, without case and punctuation; the first that is there counts."""

_HUB: Final = frozenset({"huggingface.co", "hf.co", "www.huggingface.co"})


def names_repo(column: str) -> bool:
    """Whether a column's name says that it holds repos."""
    return _plain(column) in _SPELLINGS["repo"]


def claims(table: Table, layout: Layout, default: str) -> Iterator[Claim]:
    """All claims of a table, row by row. `default` is the tolerance of claims that state none of their own.

    Raises `UsageError` where the table has neither the columns of a form nor a mapping that names some.
    """
    columns = _roles(table.columns, layout)
    if layout.columns:
        _present(table, layout, columns)
        yield from _wide(table, layout, columns, layout.columns, default)
    elif {"repo", "quantity", "value"} <= columns.keys():
        for row in table.rows:
            yield _long(row, columns, layout, default)
    else:
        found = tuple(_own(table.columns, columns))
        if "repo" not in columns or not found:
            place = table.rows[0].place.file if table.rows else ""
            listed = ", ".join(table.columns)[:200] or "none"
            message = f"its columns ({listed}) are neither repo, quantity, value nor repo and quantities"
            raise UsageError(place, message, "Say with --mapping which column is what; see docs/check.md.")
        yield from _wide(table, layout, columns, found, default)


def fits(table: Table, layout: Layout) -> bool:
    """Whether a table has the columns that its mapping or a form needs: how one among several is chosen."""
    columns = _roles(table.columns, layout)
    if layout.columns:
        return all(c.value is not None or c.name in table.columns for c in layout.columns)
    return "repo" in columns


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _roles(names: Iterable[str], layout: Layout) -> dict[str, str]:
    """Role -> column: as the mapping says, else by spelling."""
    by_plain = {_plain(n): n for n in reversed(tuple(names))}
    found: dict[str, str] = {}
    for role, spellings in _SPELLINGS.items():
        column = next((by_plain[s] for s in spellings if s in by_plain), None)
        if column is not None:
            found[role] = column
    if layout.columns:
        # A wide table's own `quant` or `context` column is no role unless the mapping says so.
        found = {r: c for r, c in found.items() if r in ("repo", "revision")}
    return {**found, **layout.names}


def _present(table: Table, layout: Layout, columns: Mapping[str, str]) -> None:
    for column in layout.columns:
        if column.value is None and column.name not in table.columns:
            listed = ", ".join(table.columns)[:200]
            file = table.rows[0].place.file if table.rows else ""
            raise UsageError(file, f"has no column {column.name[:80]!r} (there are: {listed})", "Correct the mapping.")
        if not column.repo and "repo" not in columns:
            raise UsageError(str(column.name), "nothing says which repo it is about", "Name a repo column or a repo.")


def _own(names: Iterable[str], columns: Mapping[str, str]) -> Iterator[Column]:
    """Columns that are named as quantities, with or without a unit as suffix: what `inspect table` writes."""
    for name in names:
        if name in columns.values():
            continue
        try:
            if name in QUANTITIES or "." in name:
                kind = quantity(name).kind
                yield Column(name, quantity=name, unit="B" if kind == "bytes" else "")
            else:
                what = named(name)
                if what.scale is not None:
                    yield Column(name, quantity=what.name, unit=what.scale.name)
        except UsageError:
            continue


def _long(row: Row, columns: Mapping[str, str], layout: Layout, default: str) -> Claim:
    texts = {role: row.cells[name].text for role, name in columns.items() if name in row.cells}
    said = row.cells.get(columns["value"], Cell("", row.place))
    subject = _named(_repo_text(row, columns), layout)
    revision, variant = texts.get("revision", "").strip(), texts.get("variant", "").strip()
    subject = replace(subject, revision=revision or subject.revision, variant=variant or subject.variant)
    if row.fault:
        return Claim(row.place, subject, texts.get("quantity", ""), said.text, fault=row.fault)
    words = Words(
        quantity=texts.get("quantity", ""),
        unit=texts.get("unit", ""),
        tolerance=texts.get("tolerance", "") or default or layout.tolerance,
        context=texts.get("context", ""),
        kv_dtype=texts.get("kv_dtype", ""),
        cluster=texts.get("cluster", ""),
        placement=texts.get("placement", ""),
    )
    return claim(said.place if said.span or said.place.key else row.place, subject, words, said)


def _wide(
    table: Table, layout: Layout, columns: Mapping[str, str], wanted: Iterable[Column], default: str
) -> Iterator[Claim]:
    wanted = tuple(wanted)
    for row in table.rows:
        if row.fault:
            yield Claim(row.place, _named(_repo_text(row, columns), layout), "", "", fault=row.fault)
            continue
        for column in wanted:
            found = _of_column(row, column, layout, columns, default)
            if found is not None:
                yield found


@dataclass(frozen=True, slots=True)
class _About:
    """Which checkpoint a figure is about, or why nobody can say."""

    subject: Subject
    beyond: str = ""


def _of_column(row: Row, column: Column, layout: Layout, columns: Mapping[str, str], default: str) -> Claim | None:
    said = row.cells.get(column.name)
    if column.value is None and (said is None or not said.text.strip() or said.text.strip() in column.skip):
        return None
    about = _about(row, column, layout, columns)
    words = Words(
        quantity=column.quantity,
        rule=column.rule,
        unit=column.unit,
        tolerance=default or column.tolerance or layout.tolerance,
        context=column.context,
        kv_dtype=column.kv_dtype,
        cluster=column.cluster,
    )
    if column.value is not None:
        return _derived(row, column, column.value, about, words)
    cell = said if said is not None else Cell("", row.place)
    found = claim(cell.place, about.subject, words, cell)
    found = replace(found, beyond=about.beyond)
    return _contradicted(found, row, column)


def _derived(row: Row, column: Column, value: Expression, about: _About, words: Words) -> Claim | None:
    if not any(name in row.cells for name in value.names):
        return None
    cell = next(row.cells[name] for name in value.names if name in row.cells)
    told = Cell(value.text, Place(cell.place.file, cell.place.line, cell.place.column, cell.place.key))
    kind = column.rule.kind if column.rule else quantity(column.quantity).kind
    try:
        figure = cells_figure(value, row.cells, kind, column.unit)
    except UsageError as error:
        return Claim(told.place, about.subject, column.quantity, value.text, fault=said_of(error))
    return replace(claim(told.place, about.subject, words, told, figure), beyond=about.beyond)


def _about(row: Row, column: Column, layout: Layout, columns: Mapping[str, str]) -> _About:
    subject = _named(column.repo or _repo_text(row, columns), layout)
    for role in ("revision", "variant"):
        text = row.cells[columns[role]].text.strip() if role in columns and columns[role] in row.cells else ""
        if text and not column.repo:
            subject = replace(subject, **{role: text})
    if not column.build:
        return _About(subject)
    cell = row.cells.get(column.build)
    build = cell.text.strip() if cell is not None else ""
    if build in column.builds:
        return _About(column.builds[build] or subject)
    return _About(replace(subject, variant=build)) if build else _About(subject, "the row names no build")


def _contradicted(found: Claim, row: Row, column: Column) -> Claim:
    """The claim, malformed where it is below a figure of its own row that it must hold."""
    least = row.cells.get(column.at_least) if column.at_least else None
    if least is None or absent(least.text) or found.fault or not isinstance(found.claimed, Amount):
        return found
    try:
        floor = _floor(least.text, found.kind, found.claimed.unit)
    except UsageError as error:
        return replace(found, fault=f"{column.at_least}: {said_of(error)}")
    if found.claimed.value >= floor.value:
        return found
    words = f"contradicts itself: {found.said.strip()} is below its own {column.at_least} of {least.text.strip()}"
    return replace(found, fault=words)


def _floor(text: str, kind: Kind, default: Unit | None) -> Amount:
    try:
        return amount(text, kind)
    except UsageError:
        return amount(text, kind, default)


def _repo_text(row: Row, columns: Mapping[str, str]) -> str:
    cell = row.cells.get(columns.get("repo", ""))
    if cell is None:
        return ""
    link = urlsplit(cell.link) if cell.link.startswith("http") else None
    if link is not None and (link.hostname or "") in _HUB and "/" not in cell.text:
        return cell.link
    return cell.text.strip()


def _named(text: str, layout: Layout) -> Subject:
    return layout.repos.get(text, Subject(text))
