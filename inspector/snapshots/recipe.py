"""A recipe: what was measured of a model on a cluster, as a table that `inspect check` holds against it again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Final

from inspector.claim.claim_model import Measure, Measured, Setting, Subject
from inspector.claim.claim_quantities import quantity
from inspector.errors import SourceError
from inspector.records import dataclass

_ALWAYS: Final = ("file_bytes", "tensor_bytes", "parameters", "bits_per_weight", "files", "tensors", "prequantised")
_CACHE: Final = ("cache_bytes_per_token", "cache_bytes")
_CLUSTER: Final = ("fits", "max_context")


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured figure with what it depends on."""

    subject: Subject
    quantity: str
    value: Measure
    setting: Setting


def figures(subject: Subject, repo: Measured, setting: Setting) -> tuple[Figure, ...]:
    """What can be measured of a repo: sizes, its cache, and with a cluster whether it fits.

    A figure that the repo does not give is left out. Raises `UsageError` for a KV dtype or cluster that is not known.
    """
    cache = Setting(setting.context, setting.kv_dtype)
    wanted = [(name, Setting()) for name in _ALWAYS]
    wanted += [(name, cache) for name in _CACHE if name != "cache_bytes" or setting.context is not None]
    wanted += [(name, setting) for name in _CLUSTER if setting.cluster is not None]
    found = []
    for name, one in wanted:
        try:
            found.append(Figure(subject, name, quantity(name).read(repo, one), one))
        except SourceError:
            continue
    return tuple(found)


def write(found: Iterable[Figure], words: str) -> str:
    """The recipe as TOML: a row per figure under `claims`, after a comment."""
    out = [*(f"# {line}".rstrip() for line in words.splitlines()), ""]
    for figure in found:
        out.append("[[claims]]")
        out += [f"{key} = {value}" for key, value in _row(figure).items()]
        out.append("")
    return "\n".join(out)


def _row(figure: Figure) -> Mapping[str, str]:
    kind = quantity(figure.quantity).kind
    subject, setting = figure.subject, figure.setting
    texts = {
        "repo": subject.repo,
        "revision": subject.revision,
        "variant": subject.variant,
        "quantity": figure.quantity,
    }
    row = {key: _text(value) for key, value in texts.items() if value is not None}
    row["value"] = _value(figure.value)
    if kind == "bytes":
        row["unit"] = _text("B")
    if setting.context is not None:
        row["context"] = str(setting.context)
    words = {"kv_dtype": setting.kv_dtype, "cluster": setting.cluster, "placement": setting.placement}
    for key, value in words.items():
        if value is not None:
            row[key] = _text(value)
    return row


def _value(value: Measure) -> str:
    if isinstance(value, bool):
        return _text("yes" if value else "no")
    if isinstance(value, str):
        return _text(value)
    return str(value.numerator) if value.denominator == 1 else _decimal(value)


def _decimal(value: Fraction) -> str:
    """Four digits behind the point, or all where fewer say it exactly: a claim is right as far as it is written."""
    text = f"{float(value):.4f}"
    shorter = text.rstrip("0")
    return shorter if Fraction(shorter) == value else text


def _text(value: str) -> str:
    r"""A TOML basic string: JSON's escapes, but for what JSON leaves raw (U+007F) or writes as two halves."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
