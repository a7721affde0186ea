"""A model's config -> the cache of one sequence, or why it is not known. Never the dense formula by default."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from inspector.attention import FAMILIES, Family
from inspector.kv.config_fields import Fields, UnknownAttention, fields_of, layer_count
from inspector.kv.kv_dtypes import CacheFormats, KvDtype, declared_dtype, dtype_named, find_dtype
from inspector.kv.kv_shape import HEADS
from inspector.kv.layer_kinds import draft_kinds, layer_kinds
from inspector.kv.plain_attention import require_plain, require_resolved
from inspector.model import Json
from inspector.model.cache_model import Cache, LayerCache, UnknownCache
from inspector.records import replace

_POSITIONS = (
    "max_target_positions",
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "max_seq_len",
    "seq_length",
    "context_length",
)
_TWO_IN_ONE = {"hybrid": ("linear", "full"), "hybrid_sliding": ("linear", "sliding")}
_RECURRENT = frozenset({"linear", "conv", "hybrid", "hybrid_sliding"})


def cache_of(
    config: object,
    *,
    kv_dtype: str | None = None,
    state_dtype: str | None = None,
    conv_dtype: str | None = None,
    declared_kv: tuple[str, str] | None = None,
    with_draft: bool = False,
) -> Cache | UnknownCache:
    """The cache of one sequence of the model with that config.json.

    `kv_dtype` is what the user asks (None: the default, with its reason), `declared_kv` a dtype that the checkpoint
    declares and where (None: read from the config), `state_dtype` and `conv_dtype` an engine's own formats (None: what
    the config says, else F32 and BF16). `with_draft` adds draft layers. Raises `UsageError` for an unknown dtype name.
    """
    asked = None if kv_dtype in (None, "auto", "default") else dtype_named(str(kv_dtype))
    states = [dtype_named(x) if x else None for x in (state_dtype, conv_dtype)]
    if not isinstance(config, Mapping):
        return UnknownCache("the config is not a JSON object", "config")
    try:
        declared = declared_kv or declared_dtype(config, "config.json")
        return _cache(config, asked, states[0], states[1], declared, with_draft)
    except UnknownAttention as unknown:
        return UnknownCache(unknown.reason, unknown.where)


def _cache(
    config: Mapping[str, Json],
    asked: KvDtype | None,
    state: KvDtype | None,
    conv: KvDtype | None,
    declared: tuple[str, str] | None,
    with_draft: bool,
) -> Cache:
    fields = fields_of(config)
    require_resolved(fields)
    count = layer_count(fields)
    kinds = layer_kinds(fields, count)
    chosen = {kind: _family(fields, kind) for whole in kinds for kind in _TWO_IN_ONE.get(whole, (whole,))}
    if any(f.PLAIN for f in chosen.values()):
        require_plain(fields, recurrent=bool(_RECURRENT & set(kinds)))
    kv, reason = _kv_dtype(fields, asked, declared, tuple(chosen.values()))
    state = state or _state_dtype(fields)
    conv = conv or dtype_named("bf16")
    formats = CacheFormats(kv, state.element, conv.element)
    layers = [_layer(fields, kind, i, formats) for i, kind in enumerate(kinds)]
    if with_draft:
        extra = enumerate(draft_kinds(fields, kinds), start=count)
        layers += [replace(_layer(fields, kind, i, formats), draft=True) for i, kind in extra]
    return Cache(
        layers=tuple(layers),
        kv_dtype=kv.name,
        kv_dtype_reason=reason,
        state_dtype=state.name,
        conv_dtype=conv.name,
        max_positions=fields.integer(*_POSITIONS) if fields.first(*_POSITIONS) else None,
        num_attention_heads=fields.integer(*HEADS) if fields.first(*HEADS) else None,
    )


def _family(fields: Fields, kind: str) -> Family:
    claims = [f for f in FAMILIES if kind in f.KINDS and f.claims(fields)]
    if len(claims) == 1:
        return claims[0]
    what = " and ".join(f.NAME for f in claims)
    found = f"{what} both claim" if claims else "no attention family that is known here explains"
    kind_of = fields.model_type or "the config"
    raise UnknownAttention(f"{found} the {kind} layers of {kind_of[:60]}", fields.where("model_type"))


def _layer(fields: Fields, kind: str, index: int, formats: CacheFormats) -> LayerCache:
    halves = [_family(fields, k).layer(fields, k, index, formats) for k in _TWO_IN_ONE.get(kind, (kind,))]
    if len(halves) == 1:
        return halves[0]
    return LayerCache(" + ".join(h.family for h in halves), tuple(p for h in halves for p in h.parts))


def _kv_dtype(
    fields: Fields, asked: KvDtype | None, declared: tuple[str, str] | None, families: tuple[Family, ...]
) -> tuple[KvDtype, str]:
    if asked is not None:
        return asked, "as asked"
    if declared is not None:
        found = find_dtype(declared[0])
        if found is None:
            raise UnknownAttention(f"the declared cache dtype {declared[0][:40]!r} is not known here", declared[1])
        return found, f"declared by the checkpoint ({declared[1]})"
    for family in families:
        if family.DEFAULT_KV is not None:
            return dtype_named(family.DEFAULT_KV), f"the architecture's own rows ({family.NAME})"
    for name in ("torch_dtype", "dtype"):
        value = fields.get(name)
        found = find_dtype(value) if isinstance(value, str) else None
        if found is not None and found.element >= Fraction(2):
            return found, f"the model's dtype ({fields.where(name)})"
    return dtype_named("bf16"), "assumed: the config states no 16-bit or wider dtype"


def _state_dtype(fields: Fields) -> KvDtype:
    name = fields.first("mamba_ssm_dtype", "mamba_ssm_cache_dtype")
    if name is None:
        return dtype_named("fp32")
    value = fields.get(name)
    found = find_dtype(value) if isinstance(value, str) else None
    if found is None:
        raise UnknownAttention(f"{fields.where(name)} is not a dtype that is known here", fields.where(name))
    return found
