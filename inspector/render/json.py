"""Reports as JSON, schema version 1: integers for bytes and counts, null for unknown, never left out.

The shape is stated in `inspector/schema.json`. Output is ASCII, so a hostile name cannot reach a terminal raw.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from inspector.model import Cell, Json, Report, TensorRow, Variant
from inspector.model.cache_model import Cache
from inspector.model.fit_model import Device, Fit
from inspector.rollup import bits_per_weight, by_component, by_precision, parameters

SCHEMA_VERSION = 1


def render(reports: tuple[Report, ...], *, width: int = 80, colour: bool = False, bars: bool = True) -> str:
    """One document for all reports, tensors one a line; `width`, `colour` and `bars` say nothing to JSON."""
    body = ",\n".join(_indented(_report_text(r), "    ") for r in reports)
    listed = f"[\n{body}\n  ]" if reports else "[]"
    text = f'{{\n  "schema_version": {SCHEMA_VERSION},\n  "reports": {listed}\n}}\n'
    # DEL is the one control character that the encoder leaves as it is.
    return text.replace("\x7f", "\\u007f")


def document(report: Report) -> dict[str, Json]:
    """One report by the contract, without its tensors."""
    return {
        "repo": report.repo,
        "revision": report.revision,
        "format": report.format,
        "kind": report.kind,
        "incomplete": report.incomplete,
        "variant": report.variant,
        "files": report.files,
        "tensors": report.tensors,
        "file_bytes": report.file_bytes,
        "tensor_bytes": report.tensor_bytes,
        "parameters": report.parameters,
        "bits_per_weight": report.bits_per_weight,
        "prequantised": {
            "verdict": report.prequantised.verdict,
            "method": report.prequantised.method,
            "summary": report.prequantised.summary,
            "evidence": [{"where": e.where, "fact": e.fact} for e in report.prequantised.evidence],
        },
        "dtypes": [{"dtype": d.dtype, "tensors": d.tensors, "bytes": d.bytes} for d in report.dtypes],
        "precisions": _precisions(by_precision(report.cells)),
        "components": [
            {
                "component": component,
                "parameters": parameters(cells),
                "bytes": sum(c.bytes for c in cells),
                "precisions": _precisions(cells),
            }
            for component, cells in by_component(report.cells)
        ],
        "menu": [_variant(v) for v in report.menu],
        "excluded": [{"path": e.path, "bytes": e.bytes, "reason": e.reason} for e in report.excluded],
        "excluded_bytes": report.excluded_bytes,
        "other_bytes": report.other_bytes,
        "repo_bytes": report.repo_bytes,
        "index_total_size": report.index_total_size,
        "hub_total": report.hub_total,
        "base_model": report.base_model,
        "metadata": _metadata(report.metadata),
        "cache": _cache(report.cache),
        "fits": [_fit(f) for f in report.fits],
        "notes": [{"code": n.code, "message": n.message, "where": n.where} for n in report.notes],
        "cost": {
            "requests": report.cost.requests,
            "bytes_fetched": report.cost.bytes_fetched,
            "weight_bytes_read": report.cost.weight_bytes_read,
            "cached_files": report.cost.cached_files,
            "seconds": round(report.cost.seconds, 3),
        },
    }


def _precisions(cells: Iterable[Cell]) -> list[Json]:
    return [
        {
            "precision": c.precision,
            "bits": int(c.bits) if c.bits is not None and c.bits == int(c.bits) else c.bits,
            "storage_dtypes": list(c.storage_dtypes),
            "parameters": c.parameters,
            "weight_bytes": c.weight_bytes,
            "overhead_bytes": c.overhead_bytes,
            "blocks": [list(b) for b in c.blocks],
        }
        for c in cells
    ]


def _metadata(found: Mapping[str, Mapping[str, Json]] | None) -> list[Json] | None:
    if found is None:
        return None
    return [{"file": file, "values": _finite(dict(values))} for file, values in found.items()]


def _finite(value: Json) -> Json:
    """The value without NaN and infinities, which JSON has none of: they are text."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, Mapping):
        return {k: _finite(v) for k, v in value.items()}
    return [_finite(v) for v in value] if isinstance(value, (list, tuple)) else value


def _variant(variant: Variant) -> Json:
    return {
        "variant": variant.name,
        "default": variant.default,
        "files": len(variant.files),
        "missing_files": variant.missing,
        "file_bytes": variant.file_bytes,
        "tensor_bytes": variant.tensor_bytes,
        "parameters": variant.parameters,
        "bits_per_weight": bits_per_weight(variant.tensor_bytes, variant.parameters),
        "derived": variant.derived,
    }


def _report_text(report: Report) -> str:
    text = json.dumps(document(report), indent=2, allow_nan=False)
    if report.tensor_rows is None:
        return text
    # The indenting encoder is pure Python: half a million tensors go through the fast one, a line each.
    rows = ",\n".join(["    " + json.dumps(_tensor(t)) for t in report.tensor_rows])
    listed = f"[\n{rows}\n  ]" if rows else "[]"
    return f'{text[:-2]},\n  "tensor_list": {listed}\n}}'


def _tensor(row: TensorRow) -> Json:
    return {
        "name": row.name,
        "dtype": row.dtype,
        "shape": list(row.shape),
        "bytes": row.bytes,
        "file": row.file,
        "component": row.component,
        "precision": row.precision,
        "role": row.role,
    }


def _indented(text: str, indent: str) -> str:
    return indent + text.replace("\n", "\n" + indent)


def _cache(found: Cache | None) -> Json:
    if found is None:
        return None
    return {
        "bytes_per_token": _number(found.bytes_per_token),
        "fixed_bytes": found.fixed_bytes,
        "kv_dtype": found.kv_dtype,
        "reason": found.kv_dtype_reason,
        "state_dtype": found.state_dtype,
        "conv_dtype": found.conv_dtype,
        "max_positions": found.max_positions,
        "layers": [
            {
                "family": layer.family,
                "bytes_per_token": _number(layer.bytes_per_token),
                "fixed_bytes": _number(layer.fixed_bytes),
                "window": layer.window,
                "draft": layer.draft,
            }
            for layer in found.layers
        ],
    }


def _number(value: Fraction) -> int | float:
    """An integer where it is one; 3850.25 otherwise."""
    return value.numerator if value.denominator == 1 else float(value)


def _device(device: Device) -> Json:
    return {
        "name": device.name,
        "usable_bytes": device.usable_bytes,
        "weights": device.weights,
        "replicated_bytes": device.replicated_bytes,
        "components": [{"component": n, "bytes": size, "replicated_bytes": again} for n, size, again in device.parts],
        "cache": device.cache,
        "longer": [{"context": tokens, "cache": size} for tokens, size in device.longer],
        "overhead": device.overhead,
        "free": device.free,
    }


def _fit(found: Fit) -> Json:
    return {
        "cluster": found.cluster,
        "engine": found.engine,
        "placement": found.placement,
        "context": found.context,
        "sequences": found.sequences,
        "kv_dtype": found.kv_dtype,
        "verdict": found.verdict,
        "budgets": {
            b.name: {
                "usable_bytes": b.usable_bytes,
                "headroom_bytes": b.headroom_bytes,
                "max_context": b.max_context,
            }
            for b in found.budgets
        },
        "devices": [_device(d) for d in found.devices],
        "headroom_bytes": found.headroom_bytes,
        "max_context": found.max_context,
        "min_units": found.min_units,
        "stops_at": found.stops_at,
        "blocked": found.blocked or None,
        "assumptions": list(found.assumptions),
    }
