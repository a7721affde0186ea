"""What ran on real machines, and what did not, beside this tool's answer: the table of docs/fit.md.

`tests/fixtures/fit_outcomes.json` has a row per published outcome. Weights are a recorded repo, a layout of
`scripts/layouts`, or so many bytes spread evenly over the layers of a config.
"""

from __future__ import annotations

import io
import json
import shlex
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

from inspector import cli
from inspector.show.fit_tables import WORDS
from inspector.units import gib
from scripts.benchmarks.recognise import write
from scripts.layouts import glm53_nvfp4
from scripts.layouts.glm53_config import config as glm53
from scripts.layouts.tensors import Tensor

DATA = Path(__file__).resolve().parents[1] / "tests" / "fixtures" / "fit_outcomes.json"
_HOLDS = ("fits", "tight")


class Outcome(NamedTuple):
    """A published outcome and the fit of the JSON report that the command line gives."""

    row: Mapping[str, Any]
    fit: Mapping[str, Any]
    tensor_bytes: int

    @property
    def agrees(self) -> str:
        """yes, NO, or borderline where either answer would do."""
        if self.row["expect"] == "borderline":
            return "borderline"
        wanted = self.row["expect"] == "holds"
        return "yes" if (self.fit["verdict"] in _HOLDS) is wanted and self.fit["verdict"] != "unknown" else "NO"


def outcomes(endpoint: str) -> Iterator[Outcome]:
    """Each row with the tool's answer, recorded repos read from the Hub at `endpoint`."""
    for row in json.loads(DATA.read_text())["outcomes"]:
        with tempfile.TemporaryDirectory() as folder:
            repo = row["weights"].get("recorded") or _made(Path(folder), row["weights"])
            words = [repo, "--cluster", row["cluster"], *shlex.split(row["flags"]), "--endpoint", endpoint]
            (report,) = _report(words)["reports"]
        yield Outcome(row, report["fits"][0], report["tensor_bytes"])


def table(endpoint: str) -> str:
    """One row per outcome; where none of the flags is the reader's, they are the engine's as published."""
    lines = ["| checkpoint | GiB | cluster | published | our answer | agree? |", "|---|---:|---|---|---|---|"]
    for found in outcomes(endpoint):
        row = found.row
        flags = f" `{row['flags']}`" if row["flags"] else ""
        published = f"{row['outcome']} ({row['source']})"
        size = gib(found.tensor_bytes).removesuffix(" GiB")
        cells = (row["model"], size, row["cluster"] + flags, published, _answer(found.fit), found.agrees)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _answer(fit: Mapping[str, Any]) -> str:
    budget = "server" if fit["verdict"] == "fits" else "tight"
    context = fit["budgets"][budget]["max_context"]
    words = WORDS[fit["verdict"]]
    return f"{words}, {context:,} tokens" if fit["verdict"] in _HOLDS else words


def _report(words: list[str]) -> Any:
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(io.StringIO()):
        cli.main([*words, "--format", "json", "--quiet"])
    return json.loads(printed.getvalue())


def _made(folder: Path, weights: Mapping[str, Any]) -> str:
    if weights.get("layout") == "glm53_nvfp4":
        write(folder, list(glm53_nvfp4.shards()), glm53_nvfp4.described())
    else:
        config = weights.get("config") or glm53(None)
        layers = config.get("text_config", config)["num_hidden_layers"]
        write(folder, [list(spread(weights["bytes"], layers))], config)
    return str(folder)


def spread(size: int, layers: int) -> Iterator[Tensor]:
    """`size` bytes in as many equal pieces as there are layers."""
    for at in range(layers):
        piece = size * (at + 1) // layers - size * at // layers
        yield Tensor(f"model.layers.{at}.mlp.up_proj.weight", "F8_E4M3", (piece, 1))
