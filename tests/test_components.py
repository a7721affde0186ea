"""Module names of real releases to components; each row cites where the name is met."""

from __future__ import annotations

import pytest

from inspector.components import component, draft_layer, recurrent_parent
from inspector.model import COMPONENTS

NAMES = {
    # DeepSeek V4 and V4.1
    "layers.3.ffn.experts.17.w1": "routed_experts",
    "layers.3.ffn.shared_experts.w2": "shared_experts",
    "layers.3.ffn.gate": "router",
    "layers.3.ffn.gate.bias_vl": "router",
    "layers.0.ffn.gate.tid2eid": "router",
    "layers.3.attn.wq_a": "attention",
    "layers.3.attn.attn_sink": "attention",
    "layers.3.attn.indexer.k_norm": "attention",
    "layers.3.attn.compressor.norm": "attention",
    "layers.3.attn.q_norm": "norm",
    "layers.3.hc_attn_fn": "other",
    "layers.1.engram.embed": "memory",
    "layers.1.engram.q_weight": "memory",
    "mtp.0.ffn.experts.3.w1": "draft",
    "embed": "embedding",
    "image_newline": "embedding",
    "head": "head",
    "norm": "norm",
    "vision.blocks.3.attn.wqkv": "vision",
    "aligner.w1": "vision",
    # DeepSeek-V3, GLM, Qwen, Mixtral, Llama 4
    "model.layers.3.self_attn.kv_a_proj_with_mqa": "attention",
    "model.layers.3.self_attn.q_a_layernorm": "norm",
    "model.layers.3.mlp.gate": "router",
    "model.layers.3.mlp.gate.e_score_correction_bias": "router",
    "model.layers.3.mlp.gate_proj": "mlp",
    "model.layers.3.mlp.shared_expert_gate": "router",
    "model.layers.3.mlp.shared_expert.up_proj": "shared_experts",
    "model.layers.3.mlp.experts.gate_up_proj": "routed_experts",
    "model.layers.3.mlp.experts.gate_up_proj_bias": "routed_experts",
    "model.layers.3.block_sparse_moe.experts.1.w1": "routed_experts",
    "model.layers.3.block_sparse_moe.gate": "router",
    "model.layers.3.feed_forward.router": "router",
    "model.layers.3.linear_attn.in_proj_qkvz": "recurrent",
    "model.layers.3.self_attn.sinks": "attention",
    "model.layers.3.mlp.router": "router",
    "model.visual.merger.proj": "vision",
    "vision_tower.encoder.blocks.0.wqkv": "vision",
    "mm_projector.proj.0": "vision",
    "audio_tower.layers.0.self_attn.q_proj": "audio",
    "lm_head": "head",
    "model.embed_tokens": "embedding",
    # recurrent mixers marked by the state beside them
    "model.layers.3.self_attn.@recurrent.q_proj": "recurrent",
    "backbone.layers.3.mixer.@recurrent.norm": "recurrent",
    "backbone.layers.3.mixer.experts.4.up_proj": "routed_experts",
    # BERT, GPT-2, T5, diffusion
    "embeddings.word_embeddings": "embedding",
    "encoder.layer.3.attention.output.LayerNorm": "norm",
    "encoder.layer.3.attention.self.query": "attention",
    "encoder.layer.3.intermediate.dense": "mlp",
    "h.3.attn.c_attn": "attention",
    "h.3.mlp.c_fc": "mlp",
    "ln_f": "norm",
    "wte": "embedding",
    "decoder.block.3.layer.1.EncDecAttention.q": "attention",
    "decoder.block.3.layer.2.DenseReluDense.wi_0": "mlp",
    "transformer_blocks.3.attn.to_q": "attention",
    "transformer_blocks.3.ff.net.0.proj": "mlp",
    "down_blocks.1.resnets.0.conv1": "other",
    "down_blocks.1.attentions.0.transformer_blocks.0.attn1.to_q": "attention",
    # GGUF
    "blk.3.ffn_gate_exps": "routed_experts",
    "blk.3.ffn_gate_shexp": "shared_experts",
    "blk.3.ffn_gate_inp": "router",
    "blk.3.exp_probs_b": "router",
    "blk.3.attn_q": "attention",
    "blk.3.attn_output": "attention",
    "blk.3.attn_norm": "norm",
    "blk.3.ffn_up": "mlp",
    "blk.3.ssm_conv1d": "recurrent",
    "token_embd": "embedding",
    "output": "head",
    "output_norm": "norm",
    "v.blk.3.attn_q": "vision",
    "blk.61.nextn.eh_proj": "draft",
    "blk.3.ffn_gate_up_exps": "routed_experts",
    "blk.3.ffn_down_chexps": "routed_experts",
    "blk.3.ffn_norm_exps": "norm",
    "blk.3.ffn_gate_inp_shexp": "router",
    "blk.3.ffn_gate_tid2eid": "router",
    "blk.3.attn_kv_a_mqa": "attention",
    "blk.3.attn_sinks": "attention",
    "blk.3.indexer.k_norm": "attention",
    "blk.3.attn_q_norm": "norm",
    "blk.3.post_ffw_norm": "norm",
    "blk.3.ssm_norm": "recurrent",
    "blk.3.ssm_a": "recurrent",
    "blk.3.time_mix_key": "recurrent",
    "blk.3.channel_mix_key": "mlp",
    "blk.3.shortconv.in_proj": "recurrent",
    "blk.3.@recurrent.attn_qkv": "recurrent",
    "blk.3.@recurrent.attn_gate": "recurrent",
    "blk.3.@recurrent.attn_norm": "norm",
    "blk.3.@recurrent.ffn_up": "mlp",
    "blk.3.@recurrent.ffn_up_exps": "routed_experts",
    "blk.3.@recurrent.post_attention_norm": "norm",
    "per_layer_token_embd": "embedding",
    "per_layer_model_proj": "embedding",
    "per_layer_proj_norm": "norm",
    "token_embd_norm": "norm",
    "position_embd": "embedding",
    "cls.output": "head",
    "enc.blk.3.attn_q": "attention",
    "dec.blk.3.cross_attn_q": "attention",
    "v.patch_embd": "vision",
    "v.post_ln": "vision",
    "mm.0": "vision",
    "mm.input_projection": "vision",
    "a.blk.3.attn_q": "audio",
    "a.conv1d.1": "audio",
    "a.position_embd": "audio",
    "mm.a.mlp.1": "audio",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_of_releases(name: str) -> None:
    assert component(name) == NAMES[name]
    assert component(name) in COMPONENTS


def test_layers_past_the_last_are_draft() -> None:
    assert draft_layer("model.layers.61.mlp.gate", 61)
    assert draft_layer("model.language_model.layers.45.eh_proj", 45)
    assert not draft_layer("model.layers.60.mlp.gate", 61)
    assert not draft_layer("model.layers.61.mlp.gate", None)
    assert not draft_layer("vision_tower.encoder.layers.61.mlp", 61)


def test_state_marks_its_mixer() -> None:
    assert recurrent_parent("model.layers.0.self_attn.A_log") == "model.layers.0.self_attn"
    assert recurrent_parent("backbone.layers.0.mixer.conv1d") == "backbone.layers.0.mixer"
    assert recurrent_parent("model.layers.0.self_attn.q_proj") is None
    assert recurrent_parent("blk.3.ssm_beta") == "blk.3"
    assert recurrent_parent("blk.3.ssm_a") is None
