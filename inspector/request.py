"""What the default command is asked: its options as one value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from inspector.records import dataclass

if TYPE_CHECKING:
    from inspector.model.fit_model import Cluster

FORMATS: Final = ("text", "json", "markdown", "csv", "html", "svg")
"""What `--format` takes: `render.FORMATS`, written out so that `--help` need not import the report's values."""

_SUFFIXES: Final = (
    (".json", "json"),
    (".md", "markdown"),
    (".markdown", "markdown"),
    (".csv", "csv"),
    (".html", "html"),
    (".htm", "html"),
    (".svg", "svg"),
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
    metadata: bool = False
    token: str | None = None
    endpoint: str | None = None
    timeout: float | None = None
    jobs: int | None = None
    offline: bool = False
    no_cache: bool = False
    clusters: tuple[str, ...] = ()
    context: int = 8192
    sequences: int = 1
    kv_dtype: str | None = None
    engine: str | None = None
    placement: str | None = None
    utilization: float | None = None
    reserve: str | None = None
    offload: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    with_draft: bool = False
    hardware: str | None = None
    require_fit: bool = False
    machines: tuple[Cluster, ...] = ()
    plain: bool = False
    quiet: bool = False
    verbose: bool = False

    @property
    def format(self) -> str:
        """The output asked for, else the one that the file's suffix names, else text."""
        suffix = Path(self.output or "").suffix.lower()
        return self.form or dict(_SUFFIXES).get(suffix, "text")
