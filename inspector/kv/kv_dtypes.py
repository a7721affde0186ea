"""Number formats of a KV cache: bytes per element as exact fractions, scales included.

Sources: vLLM v1/kv_cache_interface.py (656-byte record, nvfp4_kv_cache_full_dim, per-token-head scales), sglang
pool_configurator.py (mxfp8, indexer cells), ggml block sizes (q8_0 = 34 bytes per 32 elements, and so on).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

from inspector.errors import UsageError
from inspector.model import Json
from inspector.records import dataclass


@dataclass(frozen=True, slots=True)
class KvDtype:
    """One cache format: `element` bytes per number, `vector` extra bytes per K or V vector of one head.

    `index` says how a sparse indexer keeps its keys beside such rows: in the same elements, as FP8 with one F32
    scale per 128, or as FP4 with one E8M0 scale per 32.
    """

    name: str
    element: Fraction
    vector: int = 0
    index: Literal["elements", "fp8", "fp4"] = "elements"

    def index_key(self, dimension: int) -> Fraction:
        """Bytes of one indexer key of `dimension` numbers: 132 (FP8), 68 (FP4) or 256 (BF16) for 128."""
        if self.index == "fp8":
            return Fraction(dimension + 4 * -(-dimension // 128))
        if self.index == "fp4":
            return Fraction(dimension, 2) + -(-dimension // 32)
        return dimension * self.element


@dataclass(frozen=True, slots=True)
class CacheFormats:
    """What a cache is stored in: KV rows, and bytes per number of recurrent and of convolution state."""

    kv: KvDtype
    state: Fraction
    conv: Fraction


KV_DTYPES = (
    KvDtype("bf16", Fraction(2)),
    KvDtype("fp16", Fraction(2)),
    KvDtype("fp32", Fraction(4)),
    KvDtype("fp8", Fraction(1), index="fp8"),
    KvDtype("fp8_ds_mla", Fraction(1), index="fp8"),
    KvDtype("int8", Fraction(1), vector=4, index="fp8"),
    KvDtype("mxfp8", Fraction(33, 32), index="fp8"),
    KvDtype("nvfp4", Fraction(9, 16), index="fp4"),
    KvDtype("fp4", Fraction(9, 16), index="fp4"),
    KvDtype("mxfp4", Fraction(17, 32), index="fp4"),
    KvDtype("q8_0", Fraction(34, 32)),
    KvDtype("q5_1", Fraction(24, 32)),
    KvDtype("q5_0", Fraction(22, 32)),
    KvDtype("q4_1", Fraction(20, 32)),
    KvDtype("q4_0", Fraction(18, 32)),
    KvDtype("iq4_nl", Fraction(18, 32)),
)

_BY_NAME: Mapping[str, KvDtype] = MappingProxyType({d.name: d for d in KV_DTYPES})
_ALIASES: Mapping[str, str] = MappingProxyType(
    {
        "bfloat16": "bf16",
        "f16": "fp16",
        "float16": "fp16",
        "half": "fp16",
        "f32": "fp32",
        "float32": "fp32",
        "float": "fp32",
        "fp8_e4m3": "fp8",
        "fp8_e5m2": "fp8",
        "fp8_e4m3fn": "fp8",
        "float8": "fp8",
        "float8_e4m3fn": "fp8",
        "float8_e5m2": "fp8",
        "nvfp4_ds_mla": "nvfp4",
        "int8_per_token_head": "int8",
    }
)


def find_dtype(name: str) -> KvDtype | None:
    """The format of that name in any spelling (`torch.bfloat16`, `f16`, `FP8`), or None."""
    key = name.strip().lower().removeprefix("torch.").replace("-", "_")
    return _BY_NAME.get(_ALIASES.get(key, key))


def dtype_named(name: str) -> KvDtype:
    """The format that a user asked for. Raises `UsageError` with the nearest names."""
    found = find_dtype(name)
    if found is None:
        import difflib

        near = difflib.get_close_matches(name.lower(), [*_BY_NAME, *_ALIASES], n=3)
        advice = f"Did you mean {', '.join(near)}?" if near else f"Known: {', '.join(_BY_NAME)}."
        raise UsageError("--kv-dtype", f"{name!r} is not a known cache dtype", advice)
    return found


def declared_dtype(document: Mapping[str, Json], file: str) -> tuple[str, str] | None:
    """The cache dtype that a config.json or hf_quant_config.json declares, as (name, file and key); else None.

    Read: compressed-tensors `kv_cache_scheme` and ModelOpt `kv_cache_quant_algo`, in the object itself or in
    `quantization_config`, `compression_config`, `quantization`.
    """
    for outer in ("quantization_config", "compression_config", "quantization", ""):
        inner = document.get(outer) if outer else document
        if not isinstance(inner, Mapping):
            continue
        for key in ("kv_cache_scheme", "kv_cache_quant_algo", "kv_cache_quant_method", "kv_cache_dtype"):
            name = _declared_name(inner.get(key))
            if name is not None:
                return name, f"{file}: {outer + '.' if outer else ''}{key}"
    return None


def _declared_name(value: Json) -> str | None:
    if isinstance(value, str):
        return value.lower() if value.lower() not in ("", "none", "auto") else None
    if isinstance(value, Mapping):
        kind, bits = value.get("type"), value.get("num_bits")
        return {("float", 8): "fp8", ("int", 8): "int8", ("float", 4): "nvfp4"}.get((str(kind), _small(bits)))
    return None


def _small(value: Json) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 64 else -1
