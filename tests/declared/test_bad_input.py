"""Any JSON in any file that may declare: never an exception, never long, and answers of the right kind."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector import declared
from inspector.witness.places import _READERS
from scripts.fuzzing.bounds import within
from tests.shared import folder, listed

WORDS = """
bits num_bits nbits w_bit group_size q_group_size quant_algo exclude_modules ignore config_groups targets
weights modules_to_not_convert ignored_layers quantized_layers dynamic extra_config module_quant_configs
layer_quant_config global_quant_config weight exclude dtype mx_element_dtype qscheme quant_config skip_modules
weight_quant_params dynamic_config config_for_layers shared_layer_config shapes qmap quant_type default _type
_data fqn_to_config tensor_storage bits_per_weight layers format svdq_w4a4 precision modules_dtype_dict
weights_dtype kv_cache_scheme kv_cache_quant_algo kv_cache_quant_config producer name version meta quantizer
quant_method quantization_config quantization compression_config quip_params text_config llm_config
thinker_config expert_dtype block_name_to_quantize modules_in_block_to_quantize codebook qformat_weight type
model.layers.0.q a.b.dense_weights.shape W4A16 NVFP4
"""
KEYS = WORDS.split()
PATTERNS = (
    "re:.*",
    "re:(",
    "(a+)+$",
    "*",
    "model.layers.0*",
    "[",
    "a{9999}",
    "lm_head",
    "",
    ".",
    "re:",
    "Linear",
    "-:x",
)
NAMES = ("", ".", "model.layers.0.q", "lm_head", "a" * 3000, "a.b", "é.ü", "model.", "\n")

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 200)
    | st.floats()
    | st.sampled_from([*PATTERNS, *declared.DIALECTS, "4", "fp8_e4m3", "int99", "FP8"])
    | st.text(max_size=6)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYS) | st.sampled_from(PATTERNS) | st.text(max_size=4), inner, max_size=6)
    ),
    max_leaves=25,
)
objects = st.dictionaries(st.sampled_from(KEYS), values, max_size=8)


def check(documents: dict[str, Any], metadata: dict[str, str]) -> None:
    found = declared.read(documents, metadata)
    assert found.method is None or (found.method == found.method.lower() and found.method)
    assert all(n.code and n.message for n in found.notes)
    assert isinstance(found.per_name, bool)
    for name in NAMES:
        module = found.module(name)
        assert module is found.module(name)
        assert module.method == found.method
        assert module.bits is None or (type(module.bits) is int and 1 <= module.bits <= 64)
        assert module.group is None or (type(module.group) is int and module.group > 0)


@settings(max_examples=300, deadline=2000, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(declared.DIALECTS)), objects)
def test_any_object_under_any_method(method: str, body: dict[str, Any]) -> None:
    check({"config.json": {"quantization_config": {**body, "quant_method": method}}}, {})


@settings(max_examples=300, deadline=2000, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.dictionaries(st.sampled_from(sorted(_READERS)), values, max_size=4),
    st.dictionaries(st.sampled_from(["_quantization_metadata", "quant_format", "tensor_names", "a.weight"]), st.text()),
)
def test_any_json_in_any_file(documents: dict[str, Any], metadata: dict[str, str]) -> None:
    check(documents, metadata)


@given(values)
def test_any_json_as_header_metadata(value: Any) -> None:
    text = json.dumps(value)
    check({}, {"_quantization_metadata": text, "a.weight": f'{{"_type": {text}, "_tensor_data_names": []}}'})
    check({}, {"tensor_names": "[]", "a.weight": f'{{"_type": "X", "_data": {text}, "_tensor_data_names": []}}'})


@pytest.mark.parametrize(
    "pattern", ["^(a+)+$", "(a|a)*b", "(.*.*)*x", ".*.*.*.*.*.*.*.*b", "(a?){200}a{200}", "(x+x+)+y"]
)
@pytest.mark.parametrize("method", ["compressed-tensors", "gptq", "auto-round", "gemma", "fp8", "quark"])
def test_no_pattern_takes_long(method: str, pattern: str) -> None:
    body = {
        "quant_method": method,
        "ignore": [f"re:{pattern}"],
        "exclude": [f"re:{pattern}"],
        "dynamic": {f"-:{pattern}": {}},
        "extra_config": {pattern: {"bits": 8}},
        "module_quant_configs": {pattern: {"num_bits": 2}},
        "modules_to_not_convert": [pattern],
    }
    with within(2):
        found = declared.read({"config.json": {"quantization_config": body}})
        for size in range(20):
            found.module("a" * (400 + size) + "!")
            found.module("x" * (400 + size))


def test_a_list_of_thousands_is_looked_up_not_walked() -> None:
    """22,422 entries and 978 exclusions are in real files; a quarter of a million modules are asked."""
    layers = {f"model.layers.{i}.mlp.experts.{e}.w1": {"quant_algo": "NVFP4"} for i in range(60) for e in range(200)}
    excluded = [f"model.layers.{i}.self_attn*" for i in range(500)] + [f"model.layers.{i}.gate" for i in range(500)]
    body = {"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": layers, "ignore": excluded}
    found = declared.read({"config.json": {"quantization_config": body}})
    with within(2):
        answers = {id(found.module(f"model.layers.{i}.mlp.experts.{e}.w1")) for i in range(60) for e in range(400)}
    assert len(answers) == 2


def corpus() -> list[Any]:
    return [p for part in ("configs", "repos") for p in listed("corpus", f"{part}/*") if p.is_dir()]


KNOWN = {
    "NVFP4": {"modelopt", "fp8", "compressed-tensors"},
    "FP8": {"fp8", "modelopt", "compressed-tensors"},
    "fp8": {"compressed-tensors"},
    "GPTQ": {"gptq"},
    "Int4": {"gptq"},
    "NF4": {"bitsandbytes"},
    "gpt-oss": {"mxfp4"},
    "DeepSeek-V3": {"fp8"},
}


def test_real_configs() -> None:
    folder("corpus")
    met = 0
    for place in corpus():
        documents = {}
        for path in place.glob("*.json"):
            try:
                documents[path.name] = json.loads(path.read_text())
            except ValueError:
                continue
        found = declared.read(documents)
        met += found.method is not None
        assert found.method is None or found.method in declared.DIALECTS, place.name
        assert not found.notes, f"{place.name}: {found.notes}"
        for name in NAMES:
            found.module(name)
        methods = [m for word, m in KNOWN.items() if word in place.name]
        if methods and documents and not place.name.startswith("aic__nvidia--Qwen3-3"):
            assert found.method in set.union(*methods), place.name
    assert met >= 40
