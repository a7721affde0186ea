"""`inspect fit REPO`: which known machines hold a checkpoint, and the smallest that does."""

from __future__ import annotations

import json
import sys
from typing import Any

import click

from inspector import answer, output
from inspector.errors import UsageError
from inspector.request import Request


@click.command("fit", context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("repo", metavar="REPO")
@click.option("--all-hardware", is_flag=True, help="List every machine, those known by their marketed size too.")
@click.option("--context", type=click.IntRange(min=1), default=8192, metavar="N", help="Tokens; 8192 by default.")
@click.option("--sequences", type=click.IntRange(min=1), default=1, metavar="N", help="At once; 1 by default.")
@click.option("--kv-dtype", metavar="D", help="Of the cache: bf16, fp8, fp8_ds_mla, q8_0 ...")
@click.option("--engine", metavar="E", help="vllm, sglang, llama.cpp, mlx or tensorrt-llm.")
@click.option("--without", multiple=True, metavar="PART", help="A part that is not loaded; repeatable.")
@click.option("--offload", multiple=True, metavar="PART=host|disk", help="A part that is not resident; repeatable.")
@click.option("--hardware", type=click.Path(), metavar="FILE", help="More hardware, as rows of TOML.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("-o", "--output", "path", type=click.Path(), metavar="FILE", help="Write to FILE, whole or not at all.")
@click.option("--revision", metavar="R", help="Branch, tag, commit or refs/pr/N; as does REPO@R.")
@click.option("--variant", metavar="NAME|PATH", help="Another of the repo's sets of weights.")
@click.option("--token", metavar="T", help="Hub token; HF_TOKEN keeps it out of the process list.")
@click.option("--endpoint", metavar="URL", help="Another Hub.")
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Total deadline.")
@click.option("--offline", is_flag=True, help="Local files and the cache only.")
@click.option("-q", "--quiet", is_flag=True, help="No progress bar.")
def command(repo: str, all_hardware: bool, form: str, path: str | None, **options: Any) -> int:
    """Say how many known machines hold a checkpoint as it ships, by size of memory, and the smallest that does.

    What this repo does not hold is not invented: there is no Q4 of a release that ships as FP8.
    """
    from pathlib import Path

    from inspector.fitting.hardware import load_hardware
    from inspector.fitting.survey import clusters, survey
    from inspector.show.survey_page import document, text

    output.check(path)
    extra = options.pop("hardware")
    rows = load_hardware(Path(extra) if extra else None)
    machines = clusters(rows)
    if not machines:
        raise UsageError("--hardware", "there is no machine to ask about")
    request = Request((repo,), form=form, machines=machines, **options)
    reports, statuses = answer.gather(request)
    for report in reports:
        found = survey(report, machines)
        width = output.width(sys.stdout) if path in (None, "-") else output.PLAIN_WIDTH
        body = (
            json.dumps(document(found), indent=2) + "\n"
            if form == "json"
            else text(found, width, everything=all_hardware)
        )
        output.emit(body, path)
    return next(s for s in (2, 1, 3, 0) if s in statuses)
