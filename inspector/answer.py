"""One run of the default command: inspect each repo, print what is known, and say what was not with a status."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspector import output, snapshot_file
from inspector.errors import InspectorError, UsageError
from inspector.escape import terminal
from inspector.progress import shown

if TYPE_CHECKING:
    from inspector.model import Report

FORMATS: Final = ("text", "json", "markdown", "csv")
"""What `--format` takes: `render.FORMATS`, written out so that `--help` need not import the report's values."""

_SUFFIXES: Final = (
    (".json", "json"),
    (".md", "markdown"),
    (".markdown", "markdown"),
    (".csv", "csv"),
)


@dataclass(frozen=True, slots=True)
class Request:
    """The options of one run, by the names that the command line gives them."""

    repos: tuple[str, ...]
    revision: str | None = None
    repo_type: str | None = None
    variant: str | None = None
    form: str | None = None
    output: str | None = None
    tensors: bool = False
    match: str | None = None
    token: str | None = None
    endpoint: str | None = None
    timeout: float | None = None
    jobs: int | None = None
    offline: bool = False
    plain: bool = False
    quiet: bool = False
    verbose: bool = False

    @property
    def format(self) -> str:
        """The output asked for, else the one that the file's suffix names, else text."""
        suffix = Path(self.output or "").suffix.lower()
        return self.form or dict(_SUFFIXES).get(suffix, "text")


def run(request: Request) -> int:
    """Answer, and return the exit status: 2 before 3 before 0. Raises UsageError where the output is unwritable."""
    output.check(request.output)
    reports, statuses = gather(request)
    status = next(s for s in (2, 3, 0) if s in statuses)
    if reports or (request.format == "json" and request.output in (None, "-") and status == 3):
        _show(reports, request)
    elif request.output:
        complain(f"{request.output}: left as it was, since there is nothing to write")
    return status


def gather(request: Request) -> tuple[tuple[Report, ...], set[int]]:
    """The reports that could be made, and the statuses met; what went wrong is said on standard error."""
    reports: list[Report] = []
    statuses = {0}
    for repo in each(request.repos):
        try:
            report = _inspect(repo, request)
        except InspectorError as error:
            complain(str(error))
            statuses.add(2 if isinstance(error, UsageError) else 3)
        except Exception as error:
            statuses.add(crashed(error, verbose=request.verbose))
        else:
            reports.append(report)
            if report.incomplete:
                complain(f"{repo}: {_fault(report)}")
                statuses.add(3)
    return tuple(reports), statuses


def each(repos: Iterable[str]) -> Iterator[str]:
    """The repos to read: a snapshot of several stands for each in it. One that cannot be opened says so when read."""
    for repo in repos:
        split = snapshot_file.split(repo)
        if split is None or split[1] is not None:
            yield repo
            continue
        from inspector.sources import snapshot

        try:
            yield from snapshot.each(split[0])
        except InspectorError:
            yield repo


def _fault(report: Report) -> str:
    """Why a report is incomplete, in one line."""
    first, *more = report.faults or ("incomplete; see the report's notes",)
    return f"{first} (and {len(more):,} more; see the report's notes)" if more else first


def complain(message: str) -> None:
    """One line on standard error, safe for a terminal."""
    print(f"inspect: {terminal(message)}", file=sys.stderr, flush=True)


def crashed(error: Exception, *, verbose: bool) -> int:
    """Report a fault of this program in one line, with its traceback only where asked; returns the status 3."""
    if verbose:
        import traceback

        trace = "".join(traceback.format_exception(error))
        print("\n".join(map(terminal, trace.splitlines())), file=sys.stderr)
    advice = "please report it" if verbose else "please report it; -v shows the traceback"
    complain(f"internal error: {type(error).__name__}: {error}; {advice}")
    return 3


def _inspect(repo: str, request: Request) -> Report:
    from inspector.inspection import inspect

    # A bar and trace lines would overwrite each other.
    with shown(quiet=request.quiet or request.verbose) as progress:
        return inspect(
            repo,
            revision=request.revision,
            repo_type=request.repo_type,
            variant=request.variant,
            tensors=request.tensors or request.match is not None,
            match=request.match,
            token=request.token,
            endpoint=request.endpoint,
            timeout=request.timeout,
            jobs=request.jobs,
            offline=request.offline or None,
            progress=progress,
            trace=_trace if request.verbose else None,
        )


def _trace(line: str) -> None:
    print(terminal(line), file=sys.stderr, flush=True)


def _show(reports: tuple[Report, ...], request: Request) -> None:
    from inspector.render import render

    to_file = request.output not in (None, "-")
    columns = output.PLAIN_WIDTH if to_file else output.width(sys.stdout)
    coloured = not to_file and output.colour(sys.stdout, os.environ, plain=request.plain)
    output.emit(render(request.format, reports, width=columns, colour=coloured), request.output)
