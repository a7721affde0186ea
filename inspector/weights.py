"""What a file is, from its name alone: which weight format, and why it would never be loaded.

Names: transformers `utils/__init__.py` (WEIGHTS_NAME and its siblings), diffusers `utils/constants.py`, vLLM
`model_executor/model_loader/weight_utils.py` (the pattern that drops optimizer and trainer state).
"""

from __future__ import annotations

import re
from typing import Final

from inspector.model import File

_FORMATS: Final = (
    ("safetensors", re.compile(r"\.safetensors$")),
    (
        "gguf",
        re.compile(
            r"\.gguf(\.part\d+of\d+|-split-[a-z])?$|(^|/)([^/]*[-._])?imatrix[^/]*\.dat$|(^|/)imatrix[^/]*\.gguf_file$"
        ),
    ),
    ("coreml", re.compile(r"\.(mlmodel|mlmodelc|mlpackage)(/|$)")),
    ("ggml", re.compile(r"(^|/)ggml-[^/]*\.bin$|\.ggml$")),
    ("openvino", re.compile(r"(^|/)openvino_\w+\.bin$")),
    ("onnx", re.compile(r"\.onnx(\.data|_data(_\d+)?)?$")),
    ("pytorch", re.compile(r"\.(bin|pt|pth|ckpt|pkl)$")),
    ("distcp", re.compile(r"\.distcp$")),
    ("flax", re.compile(r"\.msgpack(\.index\.json)?$")),
    ("tensorflow", re.compile(r"\.(h5|pb|tflite)$|(^|/)tf_model\.|\.ckpt\.(data|index)")),
    ("rust", re.compile(r"\.ot$")),
    ("numpy", re.compile(r"\.np[yz]$")),
    ("archive", re.compile(r"\.(nemo|tar|tar\.gz|zip|7z)$")),
)
_ASIDE: Final = (
    (re.compile(r"(^|/)(checkpoint-\d+|global_step\d+|runs|checkpoints?)/"), "training checkpoint, not loaded"),
    (
        re.compile(r"(^|/)(optimizer|scheduler|scaler|rng_state|training_args|random_states)[^/]*$|\.distcp$"),
        "optimizer or trainer state, not loaded",
    ),
    (re.compile(r"(^|/)original/"), "copy of the same weights in original/, not loaded"),
    (re.compile(r"(^|/)metal/"), "copy of the same weights for Metal in metal/, not loaded"),
    (re.compile(r"(^|/)onnx/"), "ONNX export, another format"),
    (re.compile(r"(^|/)openvino/"), "OpenVINO export, another format"),
    (re.compile(r"(^|/)(coreml|flax|tf|mlx|tflite|litert)/"), "export to another framework"),
)
_OTHER_FORMAT: Final = {
    "pytorch": "PyTorch pickle, another format",
    "gguf": "GGUF, another format",
    "ggml": "legacy GGML, another format",
    "onnx": "ONNX export, another format",
    "openvino": "OpenVINO export, another format",
    "flax": "Flax export, another format",
    "tensorflow": "TensorFlow export, another format",
    "rust": "rust-bert export, another format",
    "coreml": "Core ML export, another format",
    "numpy": "NumPy arrays, another format",
    "archive": "archive, not loaded",
    "distcp": "optimizer or trainer state, not loaded",
    "safetensors": "safetensors, not loaded",
}


def weight_format(path: str) -> str | None:
    """The weight format that a path's name says; None for files that hold no weights."""
    lowered = path.lower()
    return next((name for name, pattern in _FORMATS if pattern.search(lowered)), None)


def format_of(file: File) -> str | None:
    """The weight format of a file: by its name, else by what its first bytes were seen to be."""
    return weight_format(file.path) or file.holds


def set_aside(path: str) -> str | None:
    """The reason for which a weight file is never part of the loadable set; None where it may be."""
    lowered = path.lower()
    return next((reason for pattern, reason in _ASIDE if pattern.search(lowered)), None)


def other_format(file: File) -> str:
    """Why a weight file of another format than the chosen one is left out."""
    return _OTHER_FORMAT[format_of(file) or "archive"]
