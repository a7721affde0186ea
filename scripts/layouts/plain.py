"""The small files that every repo has: written here, or blank with a likely size. All of them are inferred."""

from __future__ import annotations

from scripts.layouts.recording import Recording

_ATTRIBUTES = (
    "*.bin",
    "*.safetensors",
    "*.gguf",
    "*.pth",
    "*.pt",
    "*.onnx",
    "*.onnx_data",
    "*.h5",
    "*.msgpack",
    "*.pdf",
    "*.zip",
)


def repo_files(out: Recording, *, licence: str, about: str, base: str | None = None) -> None:
    """`.gitattributes`, `LICENSE`, `README.md`."""
    out.text(".gitattributes", "".join(f"{p} filter=lfs diff=lfs merge=lfs -text\n" for p in _ATTRIBUTES))
    out.blank("LICENSE", {"mit": 1_064, "apache-2.0": 11_357}.get(licence, 7_627))
    card = f"---\nlicense: {licence}\nlibrary_name: transformers\n"
    card += f"base_model: {base}\n" if base else ""
    out.text("README.md", f"{card}---\n\n# {about}\n\nThis card is a stand-in; the recorded repo has its own.\n")


def tokenizer(out: Recording, size: int, *, length: int, folder: str = "", lfs: bool = False) -> None:
    """`tokenizer.json`, `tokenizer_config.json`, `special_tokens_map.json`."""
    out.blank(f"{folder}tokenizer.json", size, lfs=lfs)
    config = {"model_max_length": length, "tokenizer_class": "PreTrainedTokenizerFast"}
    out.json(f"{folder}tokenizer_config.json", config)
    out.json(f"{folder}special_tokens_map.json", {"bos_token": "<bos>", "eos_token": "<eos>"})
