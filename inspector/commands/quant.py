"""`inspect quant REPO`: is it already quantised, on what evidence, and what is left to save."""

from __future__ import annotations

import sys
from typing import Any

import click

from inspector import answer, output
from inspector.request import Request


@click.command("quant", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("repos", nargs=-1, required=True, metavar="REPO...")
@click.option("--exit-code", is_flag=True, help="Exit 0 where weights are quantised, 1 where none is, 3 if unknown.")
@click.option("--expect", metavar="LIST", help='Exit 1 unless it holds: "routed_experts=fp4,attention=fp8".')
@click.option(
    "--format", "form", type=click.Choice(["text", "json", "markdown"]), help="By default what FILE's suffix says."
)
@click.option("-o", "--output", "path", type=click.Path(), metavar="FILE", help="Write to FILE, whole or not at all.")
@click.option("--revision", metavar="R", help="Branch, tag, commit or refs/pr/N; as does REPO@R.")
@click.option("--repo-type", type=click.Choice(["model", "dataset", "space"]), help="What REPO is on the Hub.")
@click.option("--variant", metavar="NAME|PATH", help="Another of the repo's sets of weights.")
@click.option("--token", metavar="T", help="Hub token; HF_TOKEN keeps it out of the process list.")
@click.option("--endpoint", metavar="URL", help="Another Hub.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Total deadline.")
@click.option("--jobs", type=click.IntRange(min=1), metavar="N", help="Files read at once.")
@click.option("--offline", is_flag=True, help="Local files and the cache only.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
@click.option("-v", "--verbose", is_flag=True, help="Explain each request on standard error.")
def command(
    repos: tuple[str, ...], exit_code: bool, expect: str | None, form: str | None, path: str | None, **options: Any
) -> int:
    """Say whether a checkpoint ships quantised, in which precision each part, and on what evidence.

    \b
      inspect quant moonshotai/Kimi-K2.5
      inspect quant org/name --exit-code && echo already quantised
      inspect quant org/name --expect "routed_experts=fp4,attention=fp8"
    """
    from inspector import quant
    from inspector.show import quant_page

    output.check(path)
    quant.check(expect)
    request = Request(repos, form=form, output=path, **options)
    form = request.format if request.format in quant_page.FORMS else "text"
    reports, statuses = answer.gather(request)
    found = [quant.answer(r, expect) for r in reports]
    statuses |= {quant.status(a, exit_code=exit_code) for a in found}
    if found:
        width = output.width(sys.stdout) if path in (None, "-") else output.PLAIN_WIDTH
        output.emit(quant_page.FORMS[form](found, width), path)
    return next(s for s in (2, 1, 3, 0) if s in statuses)
