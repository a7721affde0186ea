"""`inspect schema`: the JSON Schema of `--format json`, as shipped in the package."""

from __future__ import annotations

from importlib.resources import files

import click

from inspector.output import emit


@click.command("schema", context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-o", "--output", type=click.Path(), metavar="FILE", help="Write to FILE instead of standard output.")
def command(output: str | None) -> None:
    """Print the JSON Schema (draft 2020-12) of `--format json`."""
    emit((files("inspector") / "schema.json").read_text(encoding="utf-8"), output)
