"""Reports as JSON, schema version 1: integers for bytes and counts, null for unknown, never left out.

The shape is stated in `inspector/schema.json`. Output is ASCII, so a hostile name cannot reach a terminal raw.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from inspector.model import Cell, Json, Report, TensorRow, Variant
from inspector.rollup import bits_per_weight, by_component, by_precision, parameters

SCHEMA_VERSION = 1


def render(reports: tuple[Report, ...], *, width: int = 80, colour: bool = False) -> str:
    """One document for all reports, tensors one a line; `width` and `colour` say nothing to JSON."""
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
        "cache": None,
        "fits": [],
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


def _variant(variant: Variant) -> Json:
    return {
        "variant": variant.name,
        "files": len(variant.files),
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
