"""Each dialect's rules on snippets of configs: `cases/<name>.json`.

A case: `source` (the rule it was made from), `documents`, `metadata`, and what must come of them: `method`, `modules`
{name: {excluded, bits, group, entry: keys that must be in the module's entry}}, and any of `per_name`, `tool`,
`kv_cache`, `notes` (codes, in order).
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from inspector import declared
from inspector.declared import uniform

CASES = sorted((Path(__file__).parent / "cases").glob("*.json"))


def test_there_is_a_case_for_every_method() -> None:
    assert len(CASES) > 40
    met = {json.loads(p.read_text())["method"] for p in CASES}
    like_others = set(uniform.METHODS) | {"paroquant", "qqq"}
    assert set(declared.DIALECTS) - met <= like_others


def test_the_table_names_every_dialect_and_its_methods() -> None:
    folder = Path(declared.__file__).parent
    names = sorted(p.stem for p in folder.glob("*.py") if p.stem != "__init__")
    own = {m: name for name in names for m in import_module(f"inspector.declared.{name}").METHODS}
    assert own == dict(declared.DIALECTS)


@pytest.mark.parametrize("path", CASES, ids=lambda p: p.stem)
def test_case(path: Path) -> None:
    case: dict[str, Any] = json.loads(path.read_text())
    assert case["source"]
    found = declared.read(case["documents"], case.get("metadata", {}))
    assert found.method == case["method"]
    for name, expected in case["modules"].items():
        module = found.module(name)
        got = {"excluded": module.excluded, "bits": module.bits, "group": module.group}
        wanted = {"excluded": False, "bits": None, "group": None} | {k: v for k, v in expected.items() if k != "entry"}
        assert got == wanted, name
        assert module.method == case["method"]
        assert {k: module.entry[k] for k in expected.get("entry", {})} == expected.get("entry", {}), name
        assert found.module(name) is module
    if "per_name" in case:
        assert found.per_name is case["per_name"]
    if "tool" in case:
        assert found.tool == case["tool"]
    if "kv_cache" in case:
        assert found.kv_cache == tuple(case["kv_cache"])
    assert [n.code for n in found.notes] == case.get("notes", [])
    assert all(n.where for n in found.notes)


def test_both_sides_of_a_difference_are_told() -> None:
    case = json.loads((Path(__file__).parent / "cases" / "both_places_differ.json").read_text())
    (note,) = declared.read(case["documents"]).notes
    for words in ("hf_quant_config.json:quantization", "'NVFP4' here", "'FP8' there", "1 only there", "'router'"):
        assert words in note.message
    assert note.where == "config.json:quantization_config"


def test_places_name_file_and_key() -> None:
    case = json.loads((Path(__file__).parent / "cases" / "ct_groups.json").read_text())
    found = declared.read(case["documents"])
    assert found.module("lm_head").where == "config.json:text_config.quantization_config.ignore"
    group = "config.json:text_config.quantization_config.config_groups.group_0"
    assert found.module("model.layers.0.mlp.down_proj").where == group


def test_nothing_said() -> None:
    assert declared.read({}) is declared.NOTHING
    assert declared.NOTHING.module("a") == declared.NOTHING.module("b")
    assert declared.NOTHING.module("a").method is None
    plain = declared.read({"config.json": {"model_type": "llama", "expert_dtype": "fp4"}})
    assert plain.method is None and plain.expert_dtype == ("fp4", "config.json:expert_dtype")
