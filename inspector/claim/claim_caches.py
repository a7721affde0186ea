"""Caches as estimators get them wrong: what a mistake would make of so many tokens of this model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

from inspector.claim.claim_model import Measured
from inspector.errors import InspectorError
from inspector.kv.config_fields import fields_of
from inspector.model.cache_model import Cache, LayerCache


def other_caches(repo: Measured) -> Iterator[tuple[str, Callable[[int], Fraction]]]:
    """Other caches of so many tokens, as known mistakes give them."""
    for dtype in ("", "bf16", "fp8"):
        cache = _cache(repo, dtype)
        if cache is None:
            continue
        main = [x for x in cache.layers if not x.draft]
        growing = [x for x in main if x.bytes_per_token]
        if not growing:
            continue
        latent = _part_of(growing, "latent")
        others = sum((x.bytes_per_token for x in growing), Fraction(0)) - latent
        as_type = f" in {cache.kv_dtype}"
        if latent:
            yield f"latent counted twice, as K and as V{as_type}", _rate(2 * latent)
            yield f"latent counted twice, as K and as V{as_type}, index keys besides", _rate(2 * latent + others)
            if others:
                yield f"index keys left out{as_type}", _rate(latent)
        if len(growing) < len(main):
            share = Fraction(len(main), len(growing))
            words = f"all layers cached: {len(main)} counted, {len(growing)} cache"
            yield f"{words}{as_type}", _rate((latent + others) * share)
            yield f"{words}{as_type}, index keys left out", _rate(latent * share)
        for size, how in _heads(repo) if dtype else ():
            width = Fraction(2 if dtype == "bf16" else 1)
            if len(growing) < len(main):
                words = f"all layers cached, {how}{as_type}: {len(main)} counted, {len(growing)} cache"
                yield words, _rate(size * width * len(main))
            if latent:
                yield f"{how}{as_type}, where one latent row is kept", _rate(size * width * len(growing))
        windowed = sum((p.row_bytes for x in main for p in x.parts if p.window is not None), Fraction(0))
        if windowed:
            yield f"windows charged at full length{as_type}", _rate(latent + others + windowed)
        if dtype:
            yield f"cached in {cache.kv_dtype}, not as this model does", _held(cache)


def _cache(repo: Measured, dtype: str) -> Cache | None:
    try:
        found = repo.cache(dtype or None)
    except InspectorError:
        return None
    return found if isinstance(found, Cache) else None


def _held(cache: Cache) -> Callable[[int], Fraction]:
    return lambda tokens: Fraction(cache.bytes_at(tokens))


def _rate(per_token: Fraction) -> Callable[[int], Fraction]:
    return lambda tokens: per_token * tokens


def _part_of(layers: list[LayerCache], name: str) -> Fraction:
    return sum((p.bytes_per_token for x in layers for p in x.parts if p.name == name), Fraction(0))


def _heads(repo: Measured) -> Iterator[tuple[int, str]]:
    """Numbers per token and layer, were K and V of every KV head kept: by the config's head size, or hidden / heads."""
    try:
        fields = fields_of(repo.config)
    except InspectorError:
        return
    heads, hidden = fields.get("num_attention_heads"), fields.get("hidden_size")
    kept, size = fields.get("num_key_value_heads"), fields.get("head_dim")
    if not (isinstance(heads, int) and heads > 0 and isinstance(hidden, int)):
        return
    kept = kept if isinstance(kept, int) and kept > 0 else heads
    if isinstance(size, int) and size > 0:
        yield 2 * kept * size, "K and V of every head"
    yield 2 * kept * (hidden // heads), "K and V of every head (hidden size / heads)"
