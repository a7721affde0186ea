"""Subcommands, one module each, imported only when one is called.

To add a command, add a module here with a click command named `command`, and a row to `COMMANDS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Final

import click

COMMANDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "cache": "What is kept of earlier runs, and how to be rid of it.",
        "check": "Hold a table of sizes against what ships.",
        "fit": "Which known machines hold it, and the smallest that does?",
        "hardware": "List known hardware with the memory that it really shows.",
        "lock": "Record what a table is about, to check it without a network.",
        "quant": "Is it already quantised, and on what evidence?",
        "record": "Keep what a report reads in one file, to replay it.",
        "schema": "Print the JSON Schema of `--format json`.",
        "table": "Write a table of sizes that are true.",
    }
)
"""Each command's word, which is also its module here, and its line in `--help`."""


def load(word: str) -> click.Command:
    """The click command of one of `COMMANDS`."""
    command: click.Command = import_module(f"{__name__}.{word}").command
    return command
