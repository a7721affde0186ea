"""`inspect lock TABLE... -o FILE`: record every repo that tables are about, to check them without a network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector import __version__, answer, output
from inspector.errors import InspectorError, UsageError
from inspector.progress import shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inspector.address import Address
    from inspector.claim.claim_model import Claim, Subject
    from inspector.snapshots.snapshot import Snapshot


@click.command("lock", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True, type=click.Path())
@click.option("-o", "--output", "path", type=click.Path(), metavar="FILE", required=True, help="The lock, a .zip.")
@click.option("--update", is_flag=True, help="Show what is different from the lock that FILE holds now.")
@click.option("--mapping", metavar="FILE", type=click.Path(), help="Which column is what; else [tool.inspect].")
@click.option("--table", "number", metavar="N", type=click.IntRange(min=1), help="Which table of a Markdown file.")
@click.option("--token", metavar="T", help="Hub token; HF_TOKEN keeps it out of the process list. Never recorded.")
@click.option("--endpoint", metavar="URL", help="Another Hub.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Total deadline of each repo."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Files read at once of each repo.")
@click.option("--offline", is_flag=True, help="Local files and the cache only.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
@click.option("-v", "--verbose", is_flag=True, help="Explain each request on standard error.")
def command(
    tables: tuple[str, ...],
    path: str,
    update: bool,
    mapping: str | None,
    number: int | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Record every repo that each TABLE is about into one FILE, to check it with no network.

    \b
      inspect lock estimates.csv -o estimates.lock.zip
      inspect check estimates.csv --locked estimates.lock.zip
      inspect lock estimates.csv -o estimates.lock.zip --update

    Claims may be wrong: that is for `inspect check`. A repo that cannot be read is
    locked as such, named on standard error, and the exit status is 3.
    """
    from inspector import claims
    from inspector.locking import changes, record_all
    from inspector.opening import opener
    from inspector.saving import complain, said, save
    from inspector.snapshots.snapshot import from_bytes

    output.check(path)
    found_claims: list[Claim] = []
    for table in map(Path, tables):
        layout = claims.mapping_of(table, Path(mapping) if mapping else None)
        found_claims += claims.sheet(table, layout, number=number).claims
    wanted = _addresses(claims.subjects(found_claims), options["endpoint"])
    if not wanted:
        raise UsageError(
            ", ".join(tables), "names no repo that can be locked", "`inspect check` says what is wrong with its rows."
        )
    old = _old(Path(path)) if update else None
    with shown(quiet=quiet or options["verbose"], first=f"recording {len(wanted):,} repos") as progress:
        found = record_all(wanted, opener(**options), progress)
    new = from_bytes(found.file(__version__), Path(path))
    lines = None if old is None else changes(old, new) or ("nothing changed",)
    save(new, path)
    complain(found)
    if lines is None:
        said(found, new, path)
    else:
        output.emit("\n".join(lines) + "\n", None)
    return 3 if found.unread else 0


def _addresses(subjects: Iterable[Subject], endpoint: str | None) -> dict[Address, list[str | None]]:
    """Every repo that a table names, with the sets of weights that its rows are about."""
    from inspector import address

    wanted: dict[Address, list[str | None]] = {}
    for subject in subjects:
        try:
            where = address.parse(subject.repo, revision=subject.revision, endpoint=endpoint)
        except InspectorError as error:
            answer.complain(str(error))
            continue
        variants = wanted.setdefault(where, [])
        if subject.variant not in variants:
            variants.append(subject.variant)
    return {where: sorted(variants, key=lambda v: v or "") for where, variants in wanted.items()}


def _old(path: Path) -> Snapshot | None:
    """The lock as it is; None where there is none yet. Raises `UsageError` for a file that is no sound snapshot."""
    from inspector.snapshots.snapshot import open_snapshot

    if not path.exists():
        return None
    try:
        old = open_snapshot(path)
        old.verify()
    except InspectorError as error:
        raise UsageError(f"--update {error.place}", error.message, "Lock anew without --update.") from None
    return old
