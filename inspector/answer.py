"""One run of the default command: inspect each repo, print what is known, and say what was not with a status."""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspector import output, snapshot_file
from inspector.errors import InspectorError, UsageError
from inspector.escape import terminal
from inspector.progress import shown
from inspector.request import Request

if TYPE_CHECKING:
    from inspector.ahead import Ahead
    from inspector.model import Report
    from inspector.model.fit_model import Cluster, Workload

_FIT_STATUS: Final = {"fits": 0, "tight": 0, "does_not_fit": 1, "unknown": 3}


def ended(command: Callable[[], int], *, verbose: bool = False) -> int:
    """The exit status of a command; nothing but a line reaches a person, never a traceback."""
    try:
        return command()
    except KeyboardInterrupt:
        # Threads may still wait for a server: a second Ctrl-C ends the process without more words.
        with suppress(ValueError):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        complain("interrupted")
        return 130
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EIO, errno.EPIPE):
            return crashed(error, verbose=verbose)
        # Help and version; everything else is written by `output`, which says so itself.
        complain(f"standard output: cannot be written: {error.strerror}")
        return 2
    except InspectorError as error:
        complain(str(error))
        return 2 if isinstance(error, UsageError) else 3
    except Exception as error:
        return crashed(error, verbose=verbose)


def run(request: Request, ahead: Ahead | None = None) -> int:
    """Answer, and return the exit status: 2 before 1 before 3 before 0.

    Raises UsageError where the output cannot be written.
    """
    output.check(request.output)
    output.spare(request.output, request.repos)
    if request.require_fit and not request.clusters:
        raise UsageError("--require-fit", "says nothing without a cluster", 'Name one: --cluster "2x dgx-spark".')
    found, statuses = _gathered(request, ahead)
    if request.require_fit:
        statuses |= {_FIT_STATUS[f.verdict] for _, r in found for f in r.fits}
    status = next(s for s in (2, 1, 3, 0) if s in statuses)
    if found or (request.format == "json" and request.output in (None, "-") and status == 3):
        _show(found, request)
    elif request.output:
        complain(f"{request.output}: not written, since there is nothing to write")
    return status


def gather(request: Request) -> tuple[tuple[Report, ...], set[int]]:
    """The reports that could be made, and the statuses met; what went wrong is said on standard error."""
    found, statuses = _gathered(request)
    return tuple(report for _, report in found), statuses


def _gathered(request: Request, ahead: Ahead | None = None) -> tuple[list[tuple[str, Report]], set[int]]:
    """Each report with the word that asked for it."""
    found: list[tuple[str, Report]] = []
    statuses = {0}
    outlook = _outlook(request)
    for number, repo in enumerate(each(request.repos)):
        try:
            report = _inspect(repo, request, outlook, ahead if number == 0 else None)
        except InspectorError as error:
            complain(str(error))
            statuses.add(2 if isinstance(error, UsageError) else 3)
        except Exception as error:
            statuses.add(crashed(error, verbose=request.verbose))
        else:
            found.append((repo, report))
            if report.incomplete:
                complain(f"{repo}: {_fault(report)}")
                statuses.add(3)
    return found, statuses


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
    output.say(f"inspect: {terminal(message)}")


def crashed(error: Exception, *, verbose: bool) -> int:
    """Report a fault of this program in one line, with its traceback only where asked; returns the status 3."""
    if verbose:
        import traceback

        trace = "".join(traceback.format_exception(error))
        output.say("\n".join(map(terminal, trace.splitlines())))
    advice = "please report it" if verbose else "please report it; -v shows the traceback"
    complain(f"internal error: {type(error).__name__}: {error}; {advice}")
    return 3


def _inspect(repo: str, request: Request, outlook: tuple[Sequence[Cluster], Workload], ahead: Ahead | None) -> Report:
    from inspector.inspection import inspect

    # A bar and trace lines would overwrite each other, and a screen reader would read every change of it.
    with shown(quiet=request.quiet or request.verbose or request.plain, first=f"listing {repo}") as progress:
        return inspect(
            repo,
            revision=request.revision,
            repo_type=request.repo_type,
            variant=request.variant,
            tensors=request.tensors or request.match is not None,
            match=request.match,
            metadata=request.metadata,
            token=request.token,
            endpoint=request.endpoint,
            timeout=request.timeout,
            jobs=request.jobs,
            offline=request.offline or None,
            cached=not request.no_cache,
            clusters=outlook[0],
            workload=outlook[1],
            survey=bool(request.machines),
            progress=progress,
            trace=_trace if request.verbose else None,
            ahead=ahead,
        )


def _outlook(request: Request) -> tuple[Sequence[Cluster], Workload]:
    """The clusters and the workload asked for. Raises `UsageError` where a flag is wrong, before anything is read."""
    if request.kv_dtype not in (None, "auto", "default"):
        from inspector.kv.kv_dtypes import dtype_named

        dtype_named(str(request.kv_dtype))
    if request.engine is not None:
        from inspector.fitting.engines import engine_named

        engine_named(request.engine)
    workload = _workload(request)
    if request.machines:
        return request.machines, workload
    if not request.clusters and request.hardware is None:
        return (), workload
    from inspector.fitting.cluster import parse_cluster
    from inspector.fitting.hardware import load_hardware

    rows = load_hardware(Path(request.hardware) if request.hardware is not None else None)
    return tuple(parse_cluster(c, rows) for c in request.clusters), workload


def _workload(request: Request) -> Workload:
    """What is asked of a fit, with every assumption that flags replace; checked with or without a cluster."""
    from inspector.fitting.resident import check, parse_offload
    from inspector.model.fit_model import Workload

    workload = Workload(
        context=request.context,
        sequences=request.sequences,
        kv_dtype=request.kv_dtype,
        engine=request.engine,
        placement=request.placement,  # type: ignore[arg-type]  # click has checked the choice
        utilization=request.utilization,
        reserve=None if request.reserve is None else _size(request.reserve),
        offload=parse_offload(request.offload),  # type: ignore[arg-type]  # host or disk, checked there
        without=request.without,
        with_draft=request.with_draft,
    )
    check(workload)
    return workload


def _size(text: str) -> int:
    from inspector.fitting.sizes import parse_size

    size = parse_size(text)
    if size is None:
        raise UsageError("--reserve", f"{text[:40]!r} is not a size", "Write it like 4GiB or 4GB.")
    return size.bytes


def _trace(line: str) -> None:
    output.say(terminal(line))


def _show(found: Sequence[tuple[str, Report]], request: Request) -> None:
    from inspector.render import render

    commands: list[str] = []
    if request.format == "html":
        from inspector.repeating import command

        commands = [command(word, report, request) for word, report in found]
    to_file = request.output not in (None, "-")
    columns = output.PLAIN_WIDTH if to_file else output.width(sys.stdout)
    coloured = not to_file and output.colour(sys.stdout, os.environ, plain=request.plain)
    reports = tuple(report for _, report in found)
    text = render(request.format, reports, width=columns, colour=coloured, bars=not request.plain, commands=commands)
    output.emit(text, request.output)
