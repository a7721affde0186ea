"""What JSON allows and nobody should write, in every document that is read: answered or refused, never an exception."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inspector import claims
from inspector.errors import InspectorError
from inspector.model import Report
from inspector.snapshots.snapshot import from_bytes
from inspector.snapshots.snapshot_zip import FOLDER, assemble, pack
from inspector.witness.places import _READERS
from scripts.fuzzing import reports
from scripts.fuzzing.bounds import bounded
from tests.memory import header
from tests.snapshot import cases

VALUES = {
    "deep lists": "[" * 100_000 + "]" * 100_000,
    "deep objects": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "unclosed": "[" * 100_000,
    "huge integer": "9" * 5_000,
    "large integer": "9" * 4_000,
    "huge exponent": "1e999999",
    "NaN": "NaN",
    "infinity": "-Infinity",
    "a key twice": '{"a": 1, "a": 2}',
    "surrogate": '"\\ud800"',
    "surrogate key": '{"\\ud800": 1}',
    "nul": '"\\u0000"',
    "bidi": '"\\u202e\\u2066"',
    "a megabyte": f'"{"n" * 1_000_000}"',
}
"""JSON, or nearly, that stands where a value is expected."""
WEIGHTS = header({"model.layers.0.self_attn.q_proj.weight": ("BF16", (4, 4), 32)})
PLACES = {
    "alone": "{}",
    "quantisation": '{{"model_type": "llama", "quantization_config": {}}}',
    "method": '{{"quantization_config": {{"quant_method": {0}, "bits": {0}}}}}',
    "skipped": '{{"quantization_config": {{"quant_method": "fp8", "modules_to_not_convert": [{0}], "ignore": {0}}}}}',
    "groups": '{{"quantization_config": {{"quant_method": "compressed-tensors", "config_groups": {0}}}}}',
    "layers": '{{"model_type": "llama", "num_hidden_layers": {0}, "hidden_size": {0}, "num_attention_heads": {0}}}',
    "kinds": '{{"model_type": {0}, "num_hidden_layers": 2, "layer_types": [{0}, {0}], "text_config": {0}}}',
}
"""Where in a config it stands."""


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("value", VALUES)
def test_a_config(value: str, place: str) -> None:
    data = PLACES[place].format(VALUES[value]).encode()
    for name in ("config.json", *(_READERS if place == "alone" else ())):
        assert told({"model.safetensors": WEIGHTS, name: data}).tensor_bytes == 32


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("place", ["{}", '{{"weight_map": {}}}', '{{"weight_map": {{"a": {}}}}}', '{{"metadata": {}}}'])
def test_an_index(value: str, place: str) -> None:
    data = place.format(VALUES[value]).encode()
    report = told({**cases.PLAIN, "model.safetensors.index.json": data})
    # An index that is believed may name a shard that is not there: then the set that it names is incomplete.
    assert report.tensor_bytes == 16_640 or report.incomplete


HEADERS = {
    "alone": "@",
    "dtype": '{"w": {"dtype": @, "shape": [1], "data_offsets": [0, 1]}}',
    "shape": '{"w": {"dtype": "U8", "shape": [@], "data_offsets": [0, 1]}}',
    "offsets": '{"w": {"dtype": "U8", "shape": [1], "data_offsets": [0, @]}}',
    "metadata": '{"__metadata__": @}',
    "a value of the metadata": '{"__metadata__": {"a": @}}',
}


@pytest.mark.parametrize("place", HEADERS)
@pytest.mark.parametrize("value", VALUES)
def test_a_header(value: str, place: str) -> None:
    data = HEADERS[place].replace("@", VALUES[value]).encode()
    told({"model.safetensors": (len(data).to_bytes(8, "little") + data, 1)})


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("key", ["_quantization_metadata", "tensor_names", "w", "format"])
def test_json_within_a_header_s_metadata(value: str, key: str) -> None:
    inside = VALUES[value] if value != "surrogate key" else "[]"
    text = f'{{"_type": "X", "_data": {inside}, "_tensor_data_names": []}}'
    for said in (inside, text):
        told({"model.safetensors": header({"w.weight": ("U8", (32,), 32)}, {"tensor_names": "[]", key: said})})


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("place", ["{}", '{{"rows": [{{"repo": {0}, "quantity": "files", "value": {0}}}]}}'])
@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".yaml"])
def test_a_table_and_a_mapping(value: str, place: str, suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_text(place.format(VALUES[value]))
    for read in (claims.sheet, claims.mapping_file):
        with bounded(path.stat().st_size):
            try:
                read(path)
            except InspectorError as error:
                assert str(error).isprintable()


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("place", ["{}", '{{"format":"inspect-snapshot","schema_version":{},"tool":{{}}}}'])
def test_a_manifest(value: str, place: str) -> None:
    contents = {n: pack(d)[1] for n, d in cases.entries(cases.tiny()).items() if n.startswith(FOLDER)}
    raw = assemble(place.format(VALUES[value]).encode(), contents)
    with bounded(len(raw)), pytest.raises(InspectorError) as caught:
        from_bytes(raw, Path("x.zip"))
    assert str(caught.value).isprintable()


def told(files: reports.Files) -> Report:
    """The report, made within bounds, with its notes printable once they are shown."""
    size = sum(len(f if isinstance(f, bytes) else f[0]) for f in files.values())
    with bounded(size):
        return reports.whole(files, json.dumps(sorted(files)).encode())
