"""Who holds what: shares under each placement from the rules, in numbers small enough to check by hand."""

from __future__ import annotations

import pytest

from inspector.cache import cache_of
from inspector.errors import UsageError
from inspector.fitting.cluster import parse_cluster
from inspector.fitting.engines import engine_named
from inspector.fitting.fit_plan import Plan
from inspector.fitting.placement import balanced, by_memory, even, sharded
from inspector.fitting.resident import parse_offload
from inspector.model import Slice
from inspector.model.fit_model import Placement, Workload
from inspector.slicing import layer_of, share_of
from tests.fit.builders import GIB, ROWS, answer, footprint, grouped, latent, recorded, split


@pytest.mark.parametrize(
    ("component", "module", "share"),
    [
        ("attention", "model.layers.3.self_attn.q_b_proj", "split"),
        ("attention", "model.layers.3.self_attn.q_a_proj", "copied"),
        ("attention", "model.layers.3.self_attn.kv_a_proj_with_mqa", "copied"),
        ("attention", "model.layers.3.self_attn.kv_b_proj", "split"),
        ("attention", "model.layers.3.self_attn.indexer.wq_b", "copied"),
        ("attention", "layers.3.attn.wkv", "copied"),
        ("attention", "layers.3.attn.wq_b", "split"),
        ("attention", "model.layers.3.self_attn.k_proj", "kv_heads"),
        ("attention", "blk.3.attn_v", "kv_heads"),
        ("attention", "blk.3.attn_kv_a_mqa", "copied"),
        ("attention", "blk.3.attn_kv_b", "split"),
        ("recurrent", "model.layers.3.self_attn.k_proj", "split"),
        ("recurrent", "model.layers.3.self_attn.f_a_proj", "copied"),
        ("routed_experts", "model.layers.3.mlp.experts.7.up_proj", "experts"),
        ("routed_experts", "blk.3.ffn_up_exps", "experts"),
        ("shared_experts", "model.layers.3.mlp.shared_experts.up_proj", "split"),
        ("router", "model.layers.3.mlp.gate", "copied"),
        ("norm", "model.layers.3.input_layernorm", "copied"),
        ("other", "model.layers.3.hc_attn_fn", "copied"),
        ("embedding", "model.embed_tokens", "split"),
        ("draft", "mtp.0.ffn.experts.7.w1", "experts"),
        ("draft", "model.layers.61.self_attn.q_a_proj", "copied"),
    ],
)
def test_shares(component: str, module: str, share: str) -> None:
    assert share_of(component, module) == share


def test_layers_of_names() -> None:
    assert layer_of("model.language_model.layers.12.mlp.experts.7.w1") == 12
    assert layer_of("blk.3.attn_q") == 3
    assert layer_of("transformer.h.5.attn.c_attn") == 5
    assert layer_of("lm_head") is None


def test_tensor_parallel_splits_and_copies() -> None:
    loads = sharded([Slice(0, "split", "", 101), Slice(0, "copied", "", 10)], "tp", 4)
    assert sorted(x.weights for x in loads) == [35, 35, 35, 36]
    assert [x.replicated for x in loads] == [0, 10, 10, 10]


def test_kv_heads_are_duplicated_beyond_their_number() -> None:
    loads = sharded([Slice(2, "kv_heads", "", 100)], "tp", 8)
    assert [x.weights for x in loads] == [50] * 8
    assert sum(x.replicated for x in loads) == 300
    assert [x.weights for x in sharded([Slice(4, "kv_heads", "", 100)], "tp", 2)] == [50, 50]


def test_experts_are_dealt_whole_under_ep_and_cut_under_tp() -> None:
    experts = [Slice(0, "experts", "", 90, 9)]
    assert [x.weights for x in sharded(experts, "ep", 4)] == [30, 20, 20, 20]
    assert sum(x.weights for x in sharded(experts, "tp", 4)) == 90
    assert max(x.weights for x in sharded(experts, "tp", 4)) == 23


def test_data_parallel_copies_all_but_experts_and_memory() -> None:
    pieces = [Slice(0, "experts", "", 80, 8), Slice(0, "split", "", 10), Slice(0, "split", "memory", 40)]
    loads = sharded(pieces, "dp", 2)
    assert [x.weights for x in loads] == [70, 70]
    assert [x.replicated for x in loads] == [0, 10]


def test_stages_are_even_with_the_rest_before_the_last() -> None:
    assert even(45, 2) == [23, 22]
    assert even(61, 4) == [15, 15, 16, 15]
    assert even(2, 4) == [0, 1, 1, 0]


def test_whole_layers_go_where_there_is_room() -> None:
    sums = [0, 10, 20, 30, 40, 50, 60]
    assert by_memory(sums, [0, 0], [40, 20]) == [4, 2]
    assert by_memory(sums, [0, 5], [40, 20]) is None
    assert balanced(sums, [0, 0], [60, 40]) == [4, 2]


def test_ends_of_the_chain() -> None:
    of = footprint(
        Slice(None, "split", "embedding", 8 * GIB),
        *[Slice(n, "split", "mlp", GIB) for n in range(4)],
        Slice(None, "split", "head", 2 * GIB),
    )
    found = answer(of, latent(4, 0), "2x h100", Workload(placement="pp"))
    assert [d.weights for d in found.devices] == [10 * GIB, 4 * GIB]
    tied = footprint(*[s for s in of.slices if s.component != "head"])
    found = answer(tied, latent(4, 0), "2x h100", Workload(placement="pp"))
    assert [(d.weights, d.replicated_bytes) for d in found.devices] == [(10 * GIB, 0), (10 * GIB, 8 * GIB)]


@pytest.mark.parametrize(("placement", "cache"), [("tp", 1.0), ("ep", 1.0), ("pp", 0.5), ("layers", 0.5)])
def test_latent_rows_are_whole_on_every_rank_and_follow_their_layer_in_a_pipeline(
    placement: Placement, cache: float
) -> None:
    found = answer(split(8 * GIB), latent(64, 1_000), "2x h100", Workload(context=10_000, placement=placement))
    assert [d.cache for d in found.devices] == [int(cache * 640_000_000)] * 2


def test_data_parallel_spreads_sequences() -> None:
    work = Workload(context=1_000, sequences=3, placement="dp")
    found = answer(split(8 * GIB), latent(64, 1_000), "2x h100", work)
    assert [d.cache for d in found.devices] == [128_000_000, 64_000_000]


def test_kv_heads_split_the_cache_until_they_run_out() -> None:
    work = Workload(context=1_000)
    two = answer(split(8 * GIB), grouped(64, 1_000, heads=2), "2x h100", work)
    eight = answer(split(8 * GIB), grouped(64, 1_000, heads=2), "8x h100", work)
    assert two.devices[0].cache == eight.devices[0].cache == 32_000_000


def test_heads_that_do_not_divide_are_named() -> None:
    asked = answer(split(8 * GIB), latent(64, 1_000), "3x h100", Workload(placement="tp"))
    assert asked.verdict == "unknown"
    assert "64 heads over 3 devices" in asked.blocked
    assert any("64 heads over 3 devices" in a for a in asked.assumptions)
    default = answer(split(8 * GIB), latent(64, 1_000), "3x h100")
    assert (default.placement, default.verdict) == ("pp", "fits")
    assert any("64 heads over 3 devices" in a for a in default.assumptions)


def test_the_smallest_count_skips_what_does_not_divide() -> None:
    # 200 GiB on 80 GB devices, 64.1 GiB each: four of 3, 4 would do; 3 does not divide 64 heads.
    found = answer(split(170 * GIB), latent(64, 100), "1x h100")
    assert (found.verdict, found.min_units) == ("does_not_fit", 4)
    assert any("smallest count under layers: 3x h100-80" in a for a in found.assumptions)


def test_no_count_helps_what_every_rank_must_hold() -> None:
    found = answer(split(100 * GIB, copied=90 * GIB), latent(64, 100), "2x h100")
    assert (found.verdict, found.min_units) == ("does_not_fit", None)
    assert any("no count" in a for a in found.assumptions)


def test_left_out_and_on_disk_are_not_resident() -> None:
    of = footprint(Slice(None, "split", "vision", 3), Slice(None, "split", "memory", 5), Slice(0, "split", "mlp", 7))
    found = answer(of, latent(1, 1), "h100", Workload(without=("vision",), offload={"memory": "disk"}))
    assert found.devices[0].weights == 7


@pytest.mark.parametrize(
    "work",
    [
        Workload(context=0),
        Workload(context=-5),
        Workload(sequences=0),
        Workload(utilization=1.5),
        Workload(utilization=0.0),
        Workload(utilization=float("nan")),
        Workload(reserve=-1),
        Workload(without=("visoin",)),
        Workload(offload={"engram": "disk"}),
        Workload(without=("memory",), offload={"memory": "disk"}),
        Workload(without=("draft",), with_draft=True),
    ],
)
def test_contradictions_are_the_users(work: Workload) -> None:
    with pytest.raises(UsageError):
        answer(split(GIB), latent(1, 1), "h100", work)


def test_offload_as_written() -> None:
    assert parse_offload(["memory=disk", "routed_experts = Host"]) == {"memory": "disk", "routed_experts": "host"}
    for wrong in (["memory"], ["memory=cloud"], ["memory=disk", "memory=host"]):
        with pytest.raises(UsageError):
            parse_offload(wrong)


def test_another_count_of_devices_does_not_look_at_every_layer_again() -> None:
    """A kilobyte of GGUF that says it has 512 layers of 16 million heads took 3.5 s for one cluster."""
    config = {"model_type": "llama", "num_hidden_layers": 1_000, "hidden_size": 64, "num_attention_heads": 1 << 24}
    cache = cache_of({**config, "num_key_value_heads": 1 << 24, "head_dim": 1})
    slices, unit = recorded("meta-llama/Llama-3.1-8B").slices, parse_cluster("2x dgx-spark", ROWS).devices[0]
    plan = Plan(slices, cache, "layers", (unit,) * 2, Workload(), engine_named("vllm"))
    more = plan.over((unit,) * 3)
    for name in ("_kinds", "_main_layers", "_stages", "_pieces"):
        assert getattr(more, name) is getattr(plan, name)
    fresh = Plan(slices, cache, "layers", (unit,) * 3, Workload(), engine_named("vllm"))
    assert [more.loads(n) for n in (1, 8_192)] == [fresh.loads(n) for n in (1, 8_192)]
