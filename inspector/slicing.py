"""A checkpoint's bytes by layer and by what parallelism does with them: sharded, copied to every rank, or by expert.

Which modules vLLM and sglang keep whole on every rank: norms, router gates, MLA down-projections (ReplicatedLinear),
sparse indexers and compressors, DeepSeek V4's single-head K/V, small convolutions, hyper-connections.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, Literal

from inspector import components
from inspector.grouping import Groups, Kind
from inspector.model import Slice

Share = Literal["split", "kv_heads", "experts", "copied"]

_LAYER: Final = re.compile(r"(?:^|\.)(?:layers?|blk|h|\w*blocks?)\.(\d{1,9})\.")
_EXPERT: Final = re.compile(r"experts?\.(\d{1,9})(?:\.|$)")
_DRAFT: Final = re.compile(r"(^|\.)(?:mtp\w*|nextn\w*|eagle\w*|dspark\w*|draft\w*)(?=\.)")
_COPIED: Final = re.compile(
    r"(^|\.)(q_a_proj|kv_a_proj\w*|fused_qkv_a_proj\w*|wq_a|wkv(_a)?|attn_q_a|attn_kv_a\w*|attn_kv|indexer\w*|index_\w+"
    r"|compressor\w*|attn_compressor\w*|\w*conv1d|f_a_proj|g_a_proj|\w*norm\w*|q_lora\w*|kv_lora\w*)(\.|$)"
)
_KV: Final = re.compile(
    r"(^|\.)(k_proj|v_proj|attn_k|attn_v|key|value|wk|wv|k|v|to_k|to_v)(\.(weight|bias|base_layer))?$"
)
_WHOLE: Final = frozenset({"norm", "router"})
_NO_LAYER: Final = frozenset({"vision", "audio", "memory", "draft"})


def share_of(component: str, module: str) -> Share:
    """How tensor parallelism treats a module of that component."""
    name = module.lower()
    if component == "draft":
        name = _DRAFT.sub(r"\1layers", name)
        component = components.component(name)
    if component == "routed_experts":
        return "experts"
    if component in _WHOLE or (component == "other" and ".hc_" in f".{name}"):
        return "copied"
    if component in ("attention", "recurrent") and _COPIED.search(name):
        return "copied"
    return "kv_heads" if component == "attention" and _KV.search(name) else "split"


def layer_of(module: str) -> int | None:
    """The layer number in a module's name."""
    found = _LAYER.search(module)
    return int(found[1]) if found is not None else None


def slices(groups: Groups, of: Sequence[Kind]) -> Iterable[Slice]:
    """Bytes of every group (`of` is parallel to `groups.members`) by layer, share and component; sums are exact."""
    seen: dict[int, tuple[Share, int]] = {}
    sums: dict[tuple[int | None, Share, str], int] = {}
    experts: dict[tuple[int | None, str], int] = {}
    for base, kind in zip(groups.members, of, strict=True):
        known = seen.get(id(kind))
        if known is None:
            size = sum(t.nbytes for t in kind.tensors.values())
            known = seen[id(kind)] = share_of(kind.component, kind.example), size
        share, size = known
        layer = None if kind.component in _NO_LAYER else layer_of(base)
        key = layer, share, kind.component
        sums[key] = sums.get(key, 0) + size
        if share == "experts":
            count = _experts(base, kind)
            place = layer, kind.component
            if count > experts.get(place, 0):
                experts[place] = count
    by_base = dict(zip(groups.members, of, strict=True)) if groups.again else {}
    for base, _, tensor in groups.again:
        kind = by_base[base]
        layer = None if kind.component in _NO_LAYER else layer_of(base)
        key = layer, seen[id(kind)][0], kind.component
        sums[key] = sums.get(key, 0) + tensor.nbytes
    for (layer, share, component), size in sums.items():
        yield Slice(layer, share, component, size, experts.get((layer, component), 0) if share == "experts" else 0)


def _experts(base: str, kind: Kind) -> int:
    """One more than the expert's number, or the leading dimension where experts are stored as one tensor."""
    found = _EXPERT.search(base)
    if found is not None:
        return int(found[1]) + 1
    return max((t.shape[0] for t in kind.tensors.values() if len(t.shape) >= 3), default=0)
