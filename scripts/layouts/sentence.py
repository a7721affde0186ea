"""A sentence-transformers repo: BERT, pooling, a dense module, and the same weights in four other formats."""

from __future__ import annotations

from scripts.layouts import plain
from scripts.layouts.recording import Recording
from scripts.layouts.tensors import Rows

HIDDEN, INNER, VOCAB, LAYERS, POSITIONS = 768, 3072, 501153, 12, 512


def bert(vocab: int, layers: int, hidden: int, inner: int, positions: int) -> Rows:
    """A BERT encoder with pooler in F32."""
    rows = Rows()
    rows.f32("embeddings.word_embeddings.weight", vocab, hidden)
    rows.f32("embeddings.position_embeddings.weight", positions, hidden)
    rows.f32("embeddings.token_type_embeddings.weight", 2, hidden)

    def norm(at: str) -> None:
        rows.f32(f"{at}.weight", hidden)
        rows.f32(f"{at}.bias", hidden)

    def linear(at: str, out: int, inn: int) -> None:
        rows.f32(f"{at}.weight", out, inn)
        rows.f32(f"{at}.bias", out)

    norm("embeddings.LayerNorm")
    for layer in range(layers):
        at = f"encoder.layer.{layer}"
        for name in ("query", "key", "value"):
            linear(f"{at}.attention.self.{name}", hidden, hidden)
        linear(f"{at}.attention.output.dense", hidden, hidden)
        norm(f"{at}.attention.output.LayerNorm")
        linear(f"{at}.intermediate.dense", inner, hidden)
        linear(f"{at}.output.dense", hidden, inner)
        norm(f"{at}.output.LayerNorm")
    linear("pooler.dense", hidden, hidden)
    return rows


def record() -> Recording:
    """The shape of sentence-transformers/LaBSE: 470,926,848 parameters of BERT and 590,592 of the dense module."""
    out = Recording(
        "example/sentence-encoder",
        published=("parameters by the architecture of LaBSE",),
        inferred=("the listing: a repo in the shape that sentence-transformers writes",),
    )
    dense = Rows()
    dense.f32("linear.bias", HIDDEN)
    dense.f32("linear.weight", HIDDEN, HIDDEN)
    rows = bert(VOCAB, LAYERS, HIDDEN, INNER, POSITIONS)
    out.shard("model.safetensors", sorted(rows), {"format": "pt"})
    out.shard("2_Dense/model.safetensors", dense, {"format": "pt"})
    out.check("parameters", out.tensor_bytes // 4, 470_926_848 + 590_592)
    out.json(
        "modules.json",
        [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            {"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"},
            {"idx": 3, "name": "3", "path": "3_Normalize", "type": "sentence_transformers.models.Normalize"},
        ],
    )
    out.json("1_Pooling/config.json", {"word_embedding_dimension": HIDDEN, "pooling_mode_cls_token": True})
    activation = "torch.nn.modules.activation.Tanh"
    out.json(
        "2_Dense/config.json",
        {"in_features": HIDDEN, "out_features": HIDDEN, "bias": True, "activation_function": activation},
    )
    out.blank("2_Dense/pytorch_model.bin", 2_363_431, lfs=True)
    out.json("config_sentence_transformers.json", {"__version__": {"sentence_transformers": "5.1.0"}})
    out.json("sentence_bert_config.json", {"max_seq_length": 256, "do_lower_case": False})
    out.json(
        "config.json",
        {
            "architectures": ["BertModel"],
            "attention_probs_dropout_prob": 0.1,
            "hidden_act": "gelu",
            "hidden_dropout_prob": 0.1,
            "hidden_size": HIDDEN,
            "initializer_range": 0.02,
            "intermediate_size": INNER,
            "layer_norm_eps": 1e-12,
            "max_position_embeddings": POSITIONS,
            "model_type": "bert",
            "num_attention_heads": 12,
            "num_hidden_layers": LAYERS,
            "pad_token_id": 0,
            "position_embedding_type": "absolute",
            "type_vocab_size": 2,
            "use_cache": True,
            "vocab_size": VOCAB,
        },
    )
    out.blank("pytorch_model.bin", 1_883_790_613, lfs=True)
    out.blank("tf_model.h5", 1_883_974_040, lfs=True)
    out.blank("onnx/model.onnx", 1_883_879_301, lfs=True)
    for name, size in (("O4", 941_994_212), ("qint8_avx512", 471_931_100)):
        out.blank(f"onnx/model_{name}.onnx", size, lfs=True)
    out.blank("openvino/openvino_model.bin", 1_883_707_388, lfs=True)
    out.blank("openvino/openvino_model.xml", 378_401)
    plain.repo_files(out, licence="apache-2.0", about="A sentence encoder")
    plain.tokenizer(out, 9_621_583, length=512)
    out.blank("vocab.txt", 5_220_781)
    out.expected |= {
        "files": 2,
        "file_bytes": out.size(".safetensors"),
        "parameters": 471_517_440,
        "verdict": "no",
    }
    return out
