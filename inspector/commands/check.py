"""`inspect check TABLE...`: hold every figure of a table against the bytes that ship."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from inspector import answer, output
from inspector.errors import UsageError
from inspector.opening import opener
from inspector.progress import shown

if TYPE_CHECKING:
    from inspector.address import Address
    from inspector.claim.claim_verdict import Verdicts
    from inspector.claims import Sheet
    from inspector.model import Source

FORMATS = ("text", "json", "markdown", "github", "junit", "html")
"""What `--format` takes: `verdict_render.FORMATS`, written out so that `--help` need not import the values."""

_SUFFIXES = {".json": "json", ".md": "markdown", ".xml": "junit", ".html": "html"}


@click.command("check", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("tables", metavar="TABLE...", nargs=-1, required=True, type=click.Path())
@click.option("--mapping", metavar="FILE", type=click.Path(), help="Which column is what; else [tool.inspect].")
@click.option("--table", "number", metavar="N", type=click.IntRange(min=1), help="Which table of a Markdown file.")
@click.option("--tolerance", metavar="P", help="For rows that state none: 2%, 0 for exact; before the mapping's.")
@click.option("--locked", metavar="FILE", type=click.Path(), help="Read from what `inspect lock` recorded, offline.")
@click.option("--since", metavar="FILE", type=click.Path(), help="A lock: what was right then and is not now drifted.")
@click.option("--strict", is_flag=True, help="A right figure without a revision fails too.")
@click.option("--allow-unverifiable", is_flag=True, help="Exit 0 where nothing is wrong but something is unknown.")
@click.option("--fix", is_flag=True, help="Rewrite wrong numbers in the table, and print the change.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="By default what FILE's suffix says, else text.")
@click.option("-o", "--output", "path", type=click.Path(), metavar="FILE", help="Write to FILE, whole or not at all.")
@click.option("--token", metavar="T", help="Hub token; HF_TOKEN keeps it out of the process list.")
@click.option("--endpoint", metavar="URL", help="Another Hub.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Total deadline of each repo."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Files read at once of each repo.")
@click.option("--offline", is_flag=True, help="Local files and the cache only.")
@click.option("--plain", is_flag=True, help="No colours.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
@click.option("-v", "--verbose", is_flag=True, help="Explain each request on standard error.")
def command(
    tables: tuple[str, ...],
    mapping: str | None,
    number: int | None,
    tolerance: str | None,
    locked: str | None,
    since: str | None,
    strict: bool,
    allow_unverifiable: bool,
    fix: bool,
    form: str | None,
    path: str | None,
    plain: bool,
    quiet: bool,
    **options: Any,
) -> int:
    """Compare every figure of estimator tables with what ships, one read per repo.

    \b
      inspect check estimates.csv
      inspect check sizes.md --mapping sizes.toml --format github
      inspect check estimates.csv --fix
      inspect check estimates.csv --locked estimates.lock.zip

    Exit status: 0 all ok, 1 something wrong or malformed, 2 the table cannot be
    read, 3 nothing wrong but something could not be established.
    """
    from inspector import claims

    output.check(path)
    _check_tolerance(tolerance)
    opened = _locked(locked) if locked else opener(**options)
    before = _locked(since) if since else None

    def read() -> list[Sheet]:
        found = []
        for table in map(Path, tables):
            layout = claims.mapping_of(table, Path(mapping) if mapping else None)
            found.append(claims.sheet(table, layout, number=number, tolerance=tolerance or ""))
        return found

    sheets = read()
    every = [c for sheet in sheets for c in sheet.claims]
    with shown(quiet=quiet or options["verbose"], first=f"reading what {len(every):,} claims are about") as progress:
        found = claims.gather(every, opened, endpoint=options["endpoint"], progress=progress)
        then = claims.gather(every, before, endpoint=options["endpoint"]) if before else None

    def judged(sheets: Iterable[Sheet]) -> Verdicts:
        every = [c for sheet in sheets for c in sheet.claims]
        return claims.judged(every, found, then, strict=strict, allow_unverifiable=allow_unverifiable)

    verdicts = judged(sheets)
    if fix and not found.interrupted:
        text = _form(form, path) == "text"
        # Every table is rewritten before one is read again.
        rewritten = [_fixed(sheet, judged([sheet]), to_stdout=text) for sheet in sheets]
        if any(rewritten):
            verdicts = judged(read())
    show(verdicts, _form(form, path), path, plain=plain)
    return 130 if found.interrupted else verdicts.status


def _locked(file: str) -> Callable[[Address], Source]:
    from inspector.sources.snapshot import open_locked

    return open_locked(file)


def show(verdicts: Verdicts, form: str, path: str | None, *, plain: bool) -> None:
    """Print or write the verdicts; under GitHub Actions the job summary gets them too."""
    from inspector.verdict_render import render

    to_file = path not in (None, "-")
    columns = output.PLAIN_WIDTH if to_file else output.width(sys.stdout)
    columns = columns if output.terminal(sys.stdout) and not to_file else max(columns, 200)
    coloured = not to_file and output.colour(sys.stdout, os.environ, plain=plain)
    output.emit(render(form, verdicts, width=columns, colour=coloured), path)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if form == "github" and summary:
        try:
            with Path(summary).open("a", encoding="utf-8") as stream:
                stream.write(render("markdown", verdicts))
        except OSError as error:
            answer.complain(f"{summary}: the job summary cannot be written: {error.strerror}")


def _fixed(sheet: Sheet, verdicts: Verdicts, *, to_stdout: bool) -> bool:
    """Rewrite the table, print the diff, and say what was left; whether anything was rewritten."""
    from inspector.claims import fixing
    from inspector.escape import terminal

    fixed = fixing.fix(sheet.document, verdicts.judged)
    for judged, why in fixed.left:
        answer.complain(f"{judged.claim.place}: not rewritten: {why}")
    if not fixed.done:
        return False
    output.emit(fixed.text, sheet.document.file)
    # A diff between other formats' lines would spoil them.
    lines = [terminal(line) for line in fixing.diff(sheet.document, fixed).splitlines()]
    if to_stdout:
        output.emit("".join(f"{line}\n" for line in lines), None)
    else:
        for line in lines:
            output.say(line)
    answer.complain(f"{sheet.document.file}: {len(fixed.done):,} numbers rewritten")
    return True


def _form(form: str | None, path: str | None) -> str:
    return form or _SUFFIXES.get(Path(path or "").suffix.lower(), "text")


def _check_tolerance(text: str | None) -> None:
    if text is None:
        return
    from inspector.claim.claim_amounts import tolerance

    try:
        tolerance(text, "number")
    except UsageError as error:
        raise UsageError("--tolerance", error.message, error.advice) from None
