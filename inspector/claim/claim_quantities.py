"""Every number that a claim may be about: one row per quantity with its kind, and how it is read off a repo.

To add a quantity, write how it is read and add a row to `QUANTITIES`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Final

from inspector.claim.claim_amounts import unit
from inspector.claim.claim_model import Kind, Measure, Measured, Setting, Unit
from inspector.claim.claim_parts import PARTS, Read, complete, part, unknown
from inspector.claim.claim_rules import Named
from inspector.errors import UsageError
from inspector.model import COMPONENTS, Report
from inspector.model.cache_model import Cache
from inspector.model.fit_model import Fit
from inspector.quant import belongs
from inspector.records import dataclass


@dataclass(frozen=True, slots=True)
class Quantity:
    """One quantity: its name in tables, what it is measured in, what it says, what a claim must add to be clear."""

    name: str
    kind: Kind
    summary: str
    read: Read
    needs: tuple[str, ...] = ()


def _whole(get: Callable[[Report], int | float | None], name: str, *, listed: bool = False) -> Read:
    """A figure of the report as it stands; `listed` figures need the listing only, others every header."""

    def read(repo: Measured, setting: Setting) -> Measure:
        if not listed:
            complete(repo.report)
        value = get(repo.report)
        if value is None:
            raise unknown(f"{repo.report.repo} does not say {name}")
        return Fraction(value)

    return read


def _bits(repo: Measured, setting: Setting) -> Measure:
    complete(repo.report)
    size, count = repo.report.tensor_bytes, repo.report.parameters
    if not size or not count:
        raise unknown("parameters are unknown, so bits per weight are")
    return Fraction(8 * size, count)


def _prequantised(repo: Measured, setting: Setting) -> Measure:
    verdict = repo.report.prequantised.verdict
    if verdict == "unknown":
        raise unknown(repo.report.prequantised.summary)
    return verdict


def _cache(repo: Measured, setting: Setting) -> Cache:
    found = repo.cache(setting.kv_dtype)
    if not isinstance(found, Cache):
        raise unknown(f"the cache is unknown: {found.reason}")
    return found


def _cache_bytes(repo: Measured, setting: Setting) -> Measure:
    if setting.context is None:
        raise UsageError("", "cache_bytes needs a context", "Give the tokens in the column `context`.")
    return Fraction(_cache(repo, setting).bytes_at(setting.context))


def _fit(repo: Measured, setting: Setting) -> Fit:
    if setting.cluster is None:
        raise UsageError("", "names no cluster", "Give it in the column `cluster`, as in 2x dgx-spark.")
    complete(repo.report)
    return repo.fit(setting)


def _fits(repo: Measured, setting: Setting) -> Measure:
    found = _fit(repo, setting)
    if found.verdict == "unknown":
        raise unknown(found.blocked or "whether it fits is unknown")
    return found.verdict in ("fits", "tight")


def _of_fit(get: Callable[[Fit], int | None], name: str) -> Read:
    def read(repo: Measured, setting: Setting) -> Measure:
        value = get(_fit(repo, setting))
        if value is None:
            raise unknown(f"{name} is unknown or without bound")
        return Fraction(value)

    return read


def _rows() -> Iterable[Quantity]:
    yield Quantity("file_bytes", "bytes", "the weight files", _whole(lambda r: r.file_bytes, "all sizes", listed=True))
    yield Quantity("tensor_bytes", "bytes", "the tensors", _whole(lambda r: r.tensor_bytes, "its tensors"))
    yield Quantity("weight_bytes", "bytes", "payloads", _whole(lambda r: sum(c.weight_bytes for c in r.cells), ""))
    yield Quantity("overhead_bytes", "bytes", "scales", _whole(lambda r: sum(c.overhead_bytes for c in r.cells), ""))
    yield Quantity(
        "parameters", "count", "logical weights", _whole(lambda r: r.parameters, "how its payloads are packed")
    )
    yield Quantity("bits_per_weight", "number", "8 x tensor bytes / parameters", _bits)
    yield Quantity("files", "count", "weight files", _whole(lambda r: r.files, "", listed=True))
    yield Quantity("tensors", "count", "stored tensors", _whole(lambda r: r.tensors, ""))
    yield Quantity(
        "index_total_size", "bytes", "the index's claim", _whole(lambda r: r.index_total_size, "a total_size")
    )
    yield Quantity(
        "hub_total", "count", "the Hub's own count", _whole(lambda r: r.hub_total, "a total of the Hub", listed=True)
    )
    yield Quantity(
        "excluded_bytes", "bytes", "files left out", _whole(lambda r: r.excluded_bytes, "all sizes", listed=True)
    )
    yield Quantity(
        "other_bytes", "bytes", "files without weights", _whole(lambda r: r.other_bytes, "all sizes", listed=True)
    )
    yield Quantity("repo_bytes", "bytes", "the whole repo", _whole(lambda r: r.repo_bytes, "all sizes", listed=True))
    yield Quantity("prequantised", "word", "yes, partly or no", _prequantised)
    yield Quantity(
        "cache_bytes_per_token", "bytes", "growth per token", lambda m, s: Fraction(_cache(m, s).bytes_per_token)
    )
    yield Quantity("cache_fixed_bytes", "bytes", "states and windows", lambda m, s: Fraction(_cache(m, s).fixed_bytes))
    yield Quantity("cache_bytes", "bytes", "one sequence's cache at a context", _cache_bytes, ("context",))
    yield Quantity("fits", "yesno", "fits a cluster, tight included", _fits, ("cluster",))
    yield Quantity(
        "max_context",
        "count",
        "tokens that a cluster holds",
        _of_fit(lambda f: f.max_context, "the context"),
        ("cluster",),
    )
    yield Quantity(
        "headroom_bytes", "bytes", "left by the weights", _of_fit(lambda f: f.headroom_bytes, "headroom"), ("cluster",)
    )
    yield Quantity(
        "min_units", "count", "units that would do", _of_fit(lambda f: f.min_units, "the count"), ("cluster",)
    )


QUANTITIES: Final[Mapping[str, Quantity]] = MappingProxyType({q.name: q for q in _rows()})
"""The quantities of a whole checkpoint, by name."""

_PRECISION: Final = re.compile(
    r"bf16|f\d+|fp\d+\w*|mxfp\d+\w*|nvfp4|u?int\d+|nf\d|ternary|binary|vq@[\d.]+|exl[23]@[\d.]+|[it]?q\d\w*|unknown",
    re.IGNORECASE | re.ASCII,
)


def quantity(name: str) -> Quantity:
    """The quantity of that name, `<component>.bytes` and `<precision>.parameters` among them.

    Raises `UsageError` that lists those there are.
    """
    key = name.strip()
    found = QUANTITIES.get(key.lower().replace("-", "_").replace(" ", "_"))
    if found is not None:
        return found
    of, dot, figure = key.rpartition(".")
    component, figure = of.lower().replace("-", "_").replace(" ", "_"), figure.lower()
    if dot and figure in PARTS and component in COMPONENTS:
        return Quantity(
            f"{component}.{figure}",
            PARTS[figure],
            f"of {component}",
            part(figure, lambda c: c.component == component, component),
        )
    if dot and figure in PARTS and figure != "precision" and _PRECISION.fullmatch(of):
        return Quantity(
            f"{of}.{figure}", PARTS[figure], f"of {of}", part(figure, lambda c: belongs(c.precision or "", of), of)
        )
    near = difflib.get_close_matches(key, QUANTITIES, n=2)
    first = f"Did you mean {' or '.join(near)}? " if near else ""
    listed = f"There are: {', '.join(QUANTITIES)}, and <component or precision>.<{'|'.join(PARTS)}>."
    raise UsageError("", f"{key[:60]!r} is no quantity", first + listed)


def named(name: str) -> Named:
    """What a name in a rule is: a quantity, or one with a unit as suffix (`tensor_bytes_gb`, `parameters_b`).

    Raises `UsageError`.
    """
    if name == "context":
        return Named("context", "count")
    found, scale = _suffixed(name)
    if found.kind in ("yesno", "word"):
        raise UsageError("rule", f"{found.name} is no number", "Claim it in a column of its own.")
    return Named(found.name, found.kind, scale)


def _suffixed(name: str) -> tuple[Quantity, Unit | None]:
    try:
        return quantity(name), None
    except UsageError as error:
        stem, _, suffix = name.rpartition("_")
        try:
            found = quantity(stem)
        except UsageError:
            raise error from None
        scale = unit(suffix, found.kind) if suffix.isalpha() else None
        if scale is None:
            raise
        return found, scale
