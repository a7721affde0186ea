"""What configs say: of quantisation, of attention and its cache. An input's first byte says which file it is."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from inspector import declared
from inspector.cache import cache_of
from inspector.model.cache_model import Cache
from inspector.witness.places import _READERS
from scripts.fuzzing import reports
from scripts.fuzzing.target import FOUR, Target
from tests.memory import header

_FILES: Final = ("config.json", "config.json", "config.json", *sorted(_READERS))
_NAMES: Final = ("", ".", "lm_head", "model.layers.0.self_attn.q_proj", "model.layers.1.mlp.experts.0.w1", "a" * 3000)
_CASES: Final = Path(__file__).resolve().parents[2] / "tests"
_BASE: Final = "model.layers.0.self_attn.q_proj."
_WEIGHTS: Final = header(
    {
        _BASE + "weight": ("F8_E4M3", (128, 128), 16_384),
        _BASE + "weight_scale_inv": ("F32", (1, 1), 4),
        "model.layers.1.mlp.experts.0.w1.weight": ("BF16", (8, 8), 128),
        "lm_head.weight": ("BF16", (64, 8), 1_024),
    }
)


def _config(data: bytes) -> None:
    file, body = _FILES[(data[0] if data else 0) % len(_FILES)], data[1:]
    try:
        value: Any = json.loads(body.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        value = None
    if value is not None:
        _read(file, value)
    if not reports.now_and_then(data):
        return
    beside = {} if file == "config.json" else {"config.json": b'{"model_type":"llama"}'}
    report = reports.whole({"model.safetensors": _WEIGHTS, **beside, file: body}, data)
    assert report.tensor_bytes == _WEIGHTS[1], "a config changes how many bytes are stored"


def _read(file: str, value: Any) -> None:
    """What is read of a config never raises, asks alike twice, and is of the right kind."""
    found = declared.read({file: value})
    assert found.method is None or (found.method and found.method == found.method.lower())
    assert all(n.code and n.message for n in found.notes)
    for name in _NAMES:
        module = found.module(name)
        assert module.method == found.method
        assert module.bits is None or (type(module.bits) is int and 1 <= module.bits <= 64)
        assert module.group is None or (type(module.group) is int and module.group > 0)
    count = declared.num_hidden_layers(value)
    assert count is None or count > 0
    plain, drafted = cache_of(value), cache_of(value, with_draft=True)
    reports.sound(plain)
    reports.sound(drafted)
    if isinstance(plain, Cache) and isinstance(drafted, Cache):
        assert plain.bytes_at(8_192) <= drafted.bytes_at(8_192), "draft layers take less than nothing"


def _seeds() -> Iterable[bytes]:
    for path in sorted((_CASES / "declared" / "cases").glob("*.json")):
        for name, document in json.loads(path.read_text("utf-8")).get("documents", {}).items():
            if name in _FILES:
                yield bytes([_FILES.index(name)]) + json.dumps(document).encode()
    for path in sorted((_CASES / "attention" / "cases").glob("*.json")):
        for case in json.loads(path.read_text("utf-8")):
            yield b"\0" + json.dumps(case["config"]).encode()


def _words() -> tuple[str, ...]:
    """Every key and every short text of the seeds, and every method."""
    found: dict[str, None] = dict.fromkeys(declared.DIALECTS)

    def walk(value: Any) -> None:
        if isinstance(value, dict):
            found.update(dict.fromkeys(k for k in value if len(k) < 40))
            for child in value.values():
                walk(child)
        elif isinstance(value, list):
            for child in value:
                walk(child)
        elif isinstance(value, str) and 1 < len(value) < 40:
            found[value] = None

    for seed in _seeds():
        walk(json.loads(seed[1:]))
    return (*found, "re:.*", "re:(a+)+$", "*", "model.layers.0*", "[", "a{9999}")


TARGETS: Final = (Target("config", _config, _seeds, _words(), structured=1, seconds=FOUR),)
