"""Small models for fits: slices, caches and footprints from a few numbers, and recorded repos measured with slices."""

from __future__ import annotations

from fractions import Fraction
from functools import cache as remember

from inspector import address
from inspector.cache import cache_of
from inspector.fitting.cluster import parse_cluster
from inspector.fitting.engines import choose_engine
from inspector.fitting.fit import fit
from inspector.fitting.hardware import load_hardware
from inspector.measure import measure
from inspector.model import Footprint, Json, Prequantised, Slice
from inspector.model.cache_model import Cache, CachePart, LayerCache, UnknownCache
from inspector.model.fit_model import Cluster, Fit, Workload
from inspector.sources import open_source
from tests.loopback import LoopbackHub, load
from tests.waiting import load as load_checkpoint

GIB = 1 << 30
ROWS = load_hardware()


@remember
def _read(repo: str) -> tuple[Footprint, Json]:
    with LoopbackHub([load(repo)]) as hub:
        source = open_source(address.parse(repo, endpoint=hub.endpoint), endpoint=hub.endpoint)
        try:
            checkpoint = load_checkpoint(source).checkpoint
            return measure(checkpoint, sliced=True)[0], checkpoint.documents["config.json"]
        finally:
            source.close()


def recorded(repo: str) -> Footprint:
    """A recorded repo's footprint with slices, through the loopback Hub."""
    return _read(repo)[0]


def recorded_cache(repo: str, kv_dtype: str | None = None) -> Cache:
    """The cache of a recorded repo's own config."""
    found = cache_of(_read(repo)[1], kv_dtype=kv_dtype)
    assert isinstance(found, Cache), found
    return found


def footprint(*slices: Slice) -> Footprint:
    """A footprint that holds just these slices."""
    return Footprint((), (), None, Prequantised("unknown", None, ""), slices=slices)


def split(size: int, layers: int = 64, copied: int = 0) -> Footprint:
    """`size` bytes in equal layers, `copied` of them on every rank."""
    pieces = []
    for layer in range(layers):
        part = size * (layer + 1) // layers - size * layer // layers
        pieces += [
            Slice(layer, "copied", "norm", copied // layers),
            Slice(layer, "split", "mlp", part - copied // layers),
        ]
    return footprint(*pieces)


def grouped(layers: int, row: int, heads: int = 8, limit: int | None = 1 << 20) -> Cache:
    """GQA: `row` bytes per token and layer, split by `heads` KV heads."""
    part = CachePart("kv", Fraction(row), sharding="kv_heads", heads=heads)
    return _cache(layers, part, limit)


def latent(layers: int, row: Fraction | int, state: int = 0, limit: int | None = 1 << 20) -> Cache:
    """MLA: whole on every rank."""
    return _cache(layers, CachePart("latent", Fraction(row), state_bytes=Fraction(state)), limit)


def _cache(layers: int, part: CachePart, limit: int | None) -> Cache:
    return Cache((LayerCache("test", (part,)),) * layers, "bf16", "given", "fp32", "bf16", limit, 64)


def answer(of: Footprint, cache: Cache | UnknownCache, cluster: str | Cluster, workload: Workload | None = None) -> Fit:
    """The fit on a cluster in words, with the default engine for safetensors."""
    asked = workload or Workload()
    machines = parse_cluster(cluster, ROWS) if isinstance(cluster, str) else cluster
    engine, chosen = choose_engine(asked.engine, "safetensors", machines)
    return fit(of, cache, machines, asked, engine, chosen=chosen)
