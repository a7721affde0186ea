"""The JSON contract: literal figures, the schema, determinism, hostile text."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.resources import files
from typing import Any

import jsonschema
import pytest

from inspector.model import COMPONENTS, Report
from inspector.render import render
from tests.render.samples import HOSTILE, UNKNOWN, V41, hostile

KEYS = [
    "repo",
    "revision",
    "format",
    "kind",
    "incomplete",
    "variant",
    "files",
    "tensors",
    "file_bytes",
    "tensor_bytes",
    "parameters",
    "bits_per_weight",
    "prequantised",
    "dtypes",
    "precisions",
    "components",
    "menu",
    "excluded",
    "excluded_bytes",
    "other_bytes",
    "repo_bytes",
    "index_total_size",
    "hub_total",
    "base_model",
    "metadata",
    "cache",
    "fits",
    "notes",
    "cost",
]


def schema() -> Any:
    return json.loads((files("inspector") / "schema.json").read_text(encoding="utf-8"))


def only(report: Report) -> Any:
    (found,) = json.loads(render("json", (report,)))["reports"]
    return found


@pytest.mark.parametrize(
    "reports",
    [(), (V41,), (UNKNOWN,), (V41, UNKNOWN), (hostile(),)],
    ids=["none", "v41", "unknown", "two", "hostile"],
)
def test_output_is_valid_by_the_shipped_schema(reports: tuple[Report, ...]) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    document = json.loads(render("json", reports))
    assert [e.message for e in validator.iter_errors(document)] == []
    assert document["schema_version"] == 1
    assert len(document["reports"]) == len(reports)


def test_the_schema_is_one_and_refuses_what_the_contract_lacks() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    validator = jsonschema.Draft202012Validator(schema())
    document = json.loads(render("json", (V41,)))
    changes: tuple[dict[str, Any], ...] = ({"size": 1}, {"files": 48.5}, {"parameters": "unknown"}, {"cost": {}})
    for change in changes:
        broken = {**document, "reports": [{**document["reports"][0], **change}]}
        assert not validator.is_valid(broken), change


def test_the_schema_names_the_components_of_the_model() -> None:
    assert schema()["$defs"]["component"]["properties"]["component"]["enum"] == list(COMPONENTS)


def test_every_key_is_there_and_tensors_only_where_asked() -> None:
    assert list(only(V41)) == KEYS
    assert list(only(UNKNOWN)) == [*KEYS, "tensor_list"]


def test_published_figures_of_v41_flash() -> None:
    report = only(V41)
    assert report["repo"] == "deepseek-ai/DeepSeek-V4.1-Flash"
    assert (report["files"], report["tensors"]) == (48, 96_085)
    assert (report["file_bytes"], report["tensor_bytes"]) == (510_296_708_312, 510_286_023_000)
    assert report["parameters"] == 763_205_315_794
    assert report["dtypes"][0] == {"dtype": "I8", "tensors": 47_232, "bytes": 278_585_671_680}
    parts = {c["component"]: c for c in report["components"]}
    assert [c for c in COMPONENTS if c in parts] == list(parts)
    assert parts["memory"]["bytes"] == 203_073_076_240
    assert parts["draft"]["bytes"] == 7_932_874_632
    assert parts["vision"]["bytes"] == 970_506_240
    assert parts["routed_experts"] == {
        "component": "routed_experts",
        "parameters": 543_581_798_400,
        "bytes": 288_777_830_400,
        "precisions": [
            {
                "precision": "fp4_e2m1",
                "bits": 4,
                "storage_dtypes": ["I8"],
                "parameters": 543_581_798_400,
                "weight_bytes": 271_790_899_200,
                "overhead_bytes": 16_986_931_200,
                "blocks": [[1, 32]],
            }
        ],
    }


def test_precisions_add_up_over_components() -> None:
    report = only(V41)
    assert [p["precision"] for p in report["precisions"]] == ["fp4_e2m1", "fp8_e4m3", "bf16", "f32"]
    assert report["precisions"][0]["weight_bytes"] == 278_585_671_680  # the published bytes of dtype I8
    assert sum(p["weight_bytes"] + p["overhead_bytes"] for p in report["precisions"]) == 510_286_023_000
    assert sum(p["parameters"] for p in report["precisions"]) == 763_205_315_794


def test_unknown_is_null_and_overhead_alone_has_no_precision() -> None:
    report = only(UNKNOWN)
    for key in ("revision", "file_bytes", "tensor_bytes", "parameters", "bits_per_weight", "cache"):
        assert report[key] is None, key
    assert report["incomplete"] is True
    by_name = {p["precision"]: p for p in report["precisions"]}
    assert by_name["unknown"]["parameters"] is None
    assert by_name["unknown"]["bits"] is None
    assert by_name[None]["parameters"] == 0
    assert by_name[None]["overhead_bytes"] == 28
    mlp, other = report["components"]
    assert (mlp["component"], mlp["parameters"], mlp["bytes"]) == ("mlp", None, 164)
    assert (other["component"], other["parameters"], other["bytes"]) == ("other", 0, 28)
    assert report["menu"] == [
        {
            "variant": "fp16",
            "default": True,
            "files": 1,
            "missing_files": 0,
            "file_bytes": None,
            "tensor_bytes": None,
            "parameters": None,
            "bits_per_weight": None,
            "derived": False,
        },
        {
            "variant": "full",
            "default": False,
            "files": 1,
            "missing_files": 0,
            "file_bytes": 2_000_000,
            "tensor_bytes": 1_999_000,
            "parameters": 999_500,
            "bits_per_weight": 16.0,
            "derived": True,
        },
    ]
    assert report["tensor_list"][1] == {
        "name": "mlp.up",
        "dtype": "BF16",
        "shape": [],
        "bytes": 64,
        "file": "a.safetensors",
        "component": "mlp",
        "precision": "bf16",
        "role": "weight",
    }


def test_hostile_text_survives_whole_and_prints_as_ascii() -> None:
    text = render("json", (hostile(),))
    assert all(line.isprintable() and line.isascii() for line in text.split("\n"))
    report = only(hostile())
    assert report["repo"] == HOSTILE
    assert report["tensor_list"][0]["name"] == HOSTILE


def test_output_does_not_depend_on_the_order_of_cells() -> None:
    assert render("json", (V41,)) == render("json", (replace(V41, cells=V41.cells[::-1]),))
