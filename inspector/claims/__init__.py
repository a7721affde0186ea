"""Estimator tables: read them, hold every claim against the repo that it is about, say what is wrong and why.

Members: `documents` (files with places), `rows` (tables to claims), `measured` (repos, each read once), `judging`,
`reasons`, `fixing`. They meet here only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from pathlib import Path

from inspector.claim.claim_mapping import Layout, layouts, within
from inspector.claim.claim_model import Claim, Document, Measured, Subject, Table
from inspector.claim.claim_rules import Expression
from inspector.claim.claim_tree import at_path, first_list
from inspector.claim.claim_verdict import Verdicts
from inspector.claims import documents, fixing, judging, reasons, rows
from inspector.claims.measured import Gathered, Opener, reports_for
from inspector.errors import SourceError, UsageError
from inspector.model import Progress
from inspector.records import dataclass

__all__ = [
    "Gathered",
    "Opener",
    "Sheet",
    "check",
    "fixing",
    "gather",
    "judged",
    "mapping_file",
    "mapping_of",
    "reports_for",
    "sheet",
    "subjects",
    "subjects_named",
]


@dataclass(frozen=True, slots=True)
class Sheet:
    """A table's file as read, and the claims in it."""

    document: Document
    claims: tuple[Claim, ...]


def sheet(path: Path, layout: Sequence[Layout] = (), *, number: int | None = None, tolerance: str = "") -> Sheet:
    """The claims of a file. `number` chooses among Markdown tables, `tolerance` is for claims that state none.

    Raises `UsageError` where the file, the mapping or its columns cannot be read.
    """
    document = documents.read(path)
    found: list[Claim] = []
    for one in layout or (Layout(),):
        found += rows.claims(_table(document, one, number), one, tolerance)
    return Sheet(document, tuple(found))


def mapping_of(table: Path, mapping: Path | None) -> tuple[Layout, ...]:
    """The layouts for a table: of the mapping file, else of `[tool.inspect]` in the nearest pyproject.toml.

    Raises `UsageError` where the mapping cannot be read, or does not speak of this table though it was asked for.
    """
    path = mapping if mapping is not None else _pyproject(table)
    if path is None:
        return ()
    found = tuple(x for x in mapping_file(path) if x.is_for(str(table)))
    if not found and mapping is not None:
        raise UsageError(str(path), f"maps no table called {table.name}", "Correct its `file`.")
    return found


def mapping_file(path: Path) -> tuple[Layout, ...]:
    """Every layout of a mapping file, or of `[tool.inspect]` in a pyproject.toml. Raises `UsageError`."""
    root = documents.read(path).root
    if root is not None and path.name == "pyproject.toml":
        root = within(root, "tool", "inspect")
    if root is None:
        raise UsageError(str(path), "has no mapping", "Write TOML, YAML or JSON; in pyproject.toml [tool.inspect].")
    return layouts(root)


def subjects_named(names: Sequence[str], layout: Sequence[Layout]) -> list[tuple[str, Subject]]:
    """Names as they are shown, with what each stands for: display names of a mapping, which are all without names."""
    known = {name: subject for one in layout for name, subject in one.repos.items()}
    return [(name, known.get(name, Subject(name))) for name in names] if names else list(known.items())


def subjects(claims: Iterable[Claim]) -> tuple[Subject, ...]:
    """What must be read for some claims, each once, in order."""
    return tuple(dict.fromkeys(c.subject for c in claims if not c.fault and not c.beyond))


def gather(
    claims: Sequence[Claim],
    opener: Opener,
    *,
    endpoint: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Gathered:
    """Read every repo that the claims are about, once."""
    fits = frozenset(c.subject for c in claims if c.setting.cluster is not None)
    return reports_for(subjects(claims), opener, fits=fits, endpoint=endpoint, progress=progress)


def judged(
    claims: Sequence[Claim],
    now: Gathered,
    then: Gathered | None = None,
    *,
    strict: bool = False,
    allow_unverifiable: bool = False,
) -> Verdicts:
    """All verdicts, in the order of the claims. `then` is what a lock recorded."""
    missing = SourceError("", "it was not read")
    out = []
    for claim in claims:
        before = None if then is None else then.found.get(claim.subject)
        out.append(judging.judge(claim, now.found.get(claim.subject, missing), _explain, before))
    return Verdicts(tuple(out), strict, allow_unverifiable, now.interrupted, now.cost)


def check(
    path: Path,
    opener: Opener,
    *,
    mapping: Path | None = None,
    number: int | None = None,
    tolerance: str = "",
    strict: bool = False,
    allow_unverifiable: bool = False,
    endpoint: str | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Verdicts:
    """Hold a table against the bytes that ship. Raises `UsageError` where table or mapping cannot be read."""
    read = sheet(path, mapping_of(path, mapping), number=number, tolerance=tolerance)
    found = gather(read.claims, opener, endpoint=endpoint, progress=progress)
    return judged(read.claims, found, strict=strict, allow_unverifiable=allow_unverifiable)


def _explain(claim: Claim, repo: Measured, figure: Fraction) -> str:
    rule = claim.rule if isinstance(claim.rule, Expression) else None

    def evaluate(name: str, value: Fraction) -> Fraction:
        if rule is None:
            return value
        return rule.evaluate(
            lambda n: value if n == name else judging.number(n, repo, claim.setting),
            lambda tokens: judging.cached(tokens, repo, claim.setting),
        )

    def evaluate_cache(cache: Callable[[int], Fraction]) -> Fraction:
        far = 1 << 20
        names = {
            "cache_bytes_per_token": lambda: (cache(2 * far) - cache(far)) / far,
            "cache_bytes": lambda: cache(claim.setting.context or 0),
        }
        if rule is None:
            if claim.quantity not in names:
                raise UsageError("", "is no cache")
            return names[claim.quantity]()
        return rule.evaluate(lambda n: names[n]() if n in names else judging.number(n, repo, claim.setting), cache)

    return reasons.explain(claim, repo, figure, evaluate, evaluate_cache)


def _table(document: Document, layout: Layout, number: int | None) -> Table:
    if document.root is not None:
        if layout.rows:
            return at_path(document.root, layout.rows)
        repo = layout.names.get("repo")
        found = first_list(document.root, lambda key: key == repo if repo else rows.names_repo(key))
        if found is None:
            advice = "Say with `rows` and `repo` in a mapping where the rows are; see docs/check.md."
            raise UsageError(document.file, "has no list of rows with a repo", advice)
        return found
    wanted = number if number is not None else layout.number
    if wanted is not None:
        if not 1 <= wanted <= len(document.tables):
            raise UsageError("--table", f"{wanted} of {len(document.tables)} tables in {document.file}")
        return document.tables[wanted - 1]
    found = next((t for t in document.tables if rows.fits(t, layout)), None)
    if found is None and len(document.tables) == 1:
        return document.tables[0]
    if found is None:
        raise UsageError(document.file, "none of its tables has a column of repos", "Choose one with --table N.")
    return found


def _pyproject(table: Path) -> Path | None:
    """The nearest pyproject.toml above a table that has [tool.inspect]."""
    folder = table.absolute().parent
    for parent in (folder, *folder.parents):
        path = parent / "pyproject.toml"
        try:
            if path.is_file() and "tool.inspect" in documents.read_text(path):
                root = documents.read(path).root
                if root is not None and within(root, "tool", "inspect") is not None:
                    return path
        except (UsageError, OSError):
            continue
    return None
