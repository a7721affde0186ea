"""The generated blocks of README.md and docs/fit.md: what the tool prints, and tables that the code holds."""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from difflib import unified_diff
from types import MappingProxyType

from inspector import cli
from scripts.outcomes import table as outcome_table
from scripts.verdicts import table as verdict_table
from tests.loopback import LoopbackHub, load, names, quants

BLOCK = re.compile(r"<!-- (?P<kind>\w+): (?P<words>[^\n]*?) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)
SECONDS = re.compile(r"\d+\.\d\d s\b")
MEASURED = re.compile(r"[\d,.]+ [kM]?B fetched|[\d,]+ weight bytes? read|\d+ requests")


def written(text: str) -> str:
    """The text with every block made again."""
    with LoopbackHub([*[load(n) for n in names()], quants.repo()]) as hub:
        return BLOCK.sub(lambda m: _block(m, hub.endpoint), text)


def differences(old: str, new: str) -> list[str]:
    """Unified diff of what does not vary from run to run."""
    before, after = ([MEASURED.sub("…", SECONDS.sub("… s", line)) for line in text.splitlines()] for text in (old, new))
    return list(unified_diff(before, after, "README.md", "made by the tool", lineterm=""))


def _block(found: re.Match[str], endpoint: str) -> str:
    body = KINDS[found["kind"]](found["words"], endpoint)
    return f"<!-- {found['kind']}: {found['words']} -->\n{body}<!-- end -->"


def output(words: str, endpoint: str) -> str:
    """The command as typed, and what it prints."""
    text = run(shlex.split(words), endpoint)
    return f"```console\n$ inspect {words}\n{text}```\n"


def menu(words: str, endpoint: str) -> str:
    """The command as typed, and of what it prints the headline, the menu and the cost."""
    blocks = run(shlex.split(words), endpoint).rstrip("\n").split("\n\n")
    parts = [blocks[0], *[b for b in blocks if b.startswith(("Sets in this repo", "cost:"))]]
    text = "\n...\n".join(parts)
    return f"```console\n$ inspect {words}\n{text}\n```\n"


def fit(words: str, endpoint: str) -> str:
    """The command as typed, and of what it prints the headline and the budgets of each cluster."""
    blocks = run(shlex.split(words), endpoint).rstrip("\n").split("\n\n")
    text = "\n...\n".join([blocks[0], *[b for b in blocks if b.startswith("Fit on ")]])
    return f"```console\n$ inspect {words}\n{text}\n...\n```\n"


def outcomes(words: str, endpoint: str) -> str:
    """Published outcomes beside the tool's answer."""
    return outcome_table(endpoint)


def run(words: Sequence[str], endpoint: str) -> str:
    """What `inspect` prints for these arguments against this Hub."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        cli.main([*words, "--endpoint", endpoint])
    return printed.getvalue()


def table(words: str, endpoint: str) -> str:
    """A table that the command line holds."""
    titles, rows = TABLES[words]
    lines = [f"| {' | '.join(titles)} |", f"|{'---|' * len(titles)}"]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def verdicts(words: str, endpoint: str) -> str:
    """The verdict on recorded releases and on one model in five builds."""
    return verdict_table(endpoint)


KINDS: Mapping[str, Callable[[str, str], str]] = MappingProxyType(
    {"output": output, "fit": fit, "outcomes": outcomes, "menu": menu, "table": table, "verdicts": verdicts}
)
TABLES: Mapping[str, tuple[Sequence[str], Sequence[Sequence[str]]]] = MappingProxyType(
    {
        "exit status": (("status", "meaning"), cli.EXIT_STATUS),
        "environment": (
            ("variable", "what it does"),
            [(f"`{n}`".replace(", ", "`, `"), w) for n, w in cli.ENVIRONMENT],
        ),
    }
)
