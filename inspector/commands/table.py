"""`inspect table REPOS -o FILE`: a table of sizes that are true, in a form that `inspect check` reads."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import click

from inspector import answer, escape, output
from inspector.errors import UsageError
from inspector.opening import opener
from inspector.progress import shown

if TYPE_CHECKING:
    from inspector.claims.truth import Truth

_SUFFIXES: Final[Mapping[str, str]] = MappingProxyType({".json": "json", ".md": "markdown", ".markdown": "markdown"})
_LISTS: Final = (".txt", ".list")


@click.command("table", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("repos", nargs=-1, metavar="[REPO...]")
@click.option("--mapping", metavar="FILE", type=click.Path(), help="Its columns and repos instead of the usual ones.")
@click.option("--columns", metavar="LIST", help='Quantities, as in "tensor_bytes,routed_experts.bytes".')
@click.option("--format", "form", type=click.Choice(["csv", "json", "markdown"]), help="By default what FILE says.")
@click.option("-o", "--output", "path", type=click.Path(), metavar="FILE", help="Write to FILE, whole or not at all.")
@click.option("--token", metavar="T", help="Hub token; HF_TOKEN keeps it out of the process list.")
@click.option("--endpoint", metavar="URL", help="Another Hub.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Total deadline of each repo."
)
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Files read at once of each repo.")
@click.option("--offline", is_flag=True, help="Local files and the cache only.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
@click.option("-v", "--verbose", is_flag=True, help="Explain each request on standard error.")
def command(
    repos: tuple[str, ...],
    mapping: str | None,
    columns: str | None,
    form: str | None,
    path: str | None,
    quiet: bool,
    **options: Any,
) -> int:
    """Write what ships of each REPO as a table: CSV, JSON or Markdown.

    \b
      inspect table org/one org/two -o sizes.csv && inspect check sizes.csv
      inspect table --mapping sizes.toml -o sizes.md

    REPO may be a .txt file with one repo a line. Each row names the commit read.
    """
    from inspector import claims
    from inspector.claims import judging, truth

    output.check(path)
    layouts = claims.mapping_file(Path(mapping)) if mapping else ()
    wanted = truth.mapped_columns(layouts)
    if columns or not wanted:
        named = [c.strip() for c in (columns or ",".join(truth.COLUMNS)).split(",") if c.strip()]
        try:
            wanted = truth.plain_columns(named)
        except UsageError as error:
            raise UsageError("--columns", error.message, error.advice) from None
    subjects = claims.subjects_named(_repos(repos), layouts)
    if not subjects:
        raise UsageError("REPO", "there is none", "Name repos, or a mapping with `repos`.")
    fits = frozenset(s for _, s in subjects) if any(c.cluster for c in wanted) else frozenset()
    with shown(quiet=quiet or options["verbose"], first=f"reading {len(subjects):,} repos") as progress:
        found = claims.reports_for(
            [s for _, s in subjects], opener(**options), fits=fits, endpoint=options["endpoint"], progress=progress
        )
    made = truth.table(subjects, wanted, found.found, judging.measure)
    for fault in made.faults:
        answer.complain(fault)
    suffix = Path(path or "").suffix.lower()
    output.emit(_FORMS[form or _SUFFIXES.get(suffix, "csv")](made), path)
    return 130 if found.interrupted else 3 if made.faults else 0


def _repos(words: Sequence[str]) -> list[str]:
    from inspector.claims.documents import read_text

    found: list[str] = []
    for word in words:
        if word.endswith(_LISTS) and Path(word).is_file():
            lines = read_text(Path(word)).lstrip("\ufeff").splitlines()
            found += [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        else:
            found.append(word)
    return found


def _csv(made: Truth) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(made.columns)
    writer.writerows([escape.csv(cell) for cell in row] for row in made.rows)
    return out.getvalue()


def _json(made: Truth) -> str:
    rows = [{k: _number(v) for k, v in zip(made.columns, row, strict=True)} for row in made.rows]
    return json.dumps(rows, indent=2) + "\n"


def _number(text: str) -> int | float | str | None:
    """JSON's own number where the text is one in full."""
    if text == "unknown":
        return None
    digits = text.lstrip("-")
    if re.fullmatch(r"\d{1,40}", digits, re.ASCII):
        return int(text)
    return float(text) if re.fullmatch(r"\d{0,40}\.\d{1,40}", digits, re.ASCII) else text


def _markdown(made: Truth) -> str:
    rows = [made.columns, tuple("---" for _ in made.columns), *made.rows]
    safe = [[cell if at == 1 else escape.markdown(cell) for cell in row] for at, row in enumerate(rows)]
    return "".join("| " + " | ".join(row) + " |\n" for row in safe)


_FORMS: Final[Mapping[str, Callable[[Truth], str]]] = MappingProxyType(
    {"csv": _csv, "json": _json, "markdown": _markdown}
)
