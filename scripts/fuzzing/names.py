"""Names of everything that a repo can name, from a whole repo to every output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from inspector.model import File, Listing, Note, Ref
from scripts.fuzzing import reports
from scripts.fuzzing.target import Target, tried
from tests.memory import MemorySource, Tensors, header

_REPO: Final = "org/name"


@dataclass
class _Named(MemorySource):
    """A repo of the Hub whose names are what the input says."""

    repo: str = _REPO
    revision: str | None = None
    counts: Mapping[str, int] | None = None

    async def small(self, path: str) -> bytes:
        content = self.files[path]
        return content if isinstance(content, bytes) else content[0] + bytes(min(content[1], 1 << 10))

    async def listing(self) -> Listing:
        sizes = {p: len(f) if isinstance(f, bytes) else len(f[0]) + f[1] for p, f in self.files.items()}
        files = tuple(File(p, s) for p, s in sorted(sizes.items()))
        notes = (Note("said_by_the_hub", self.repo, self.revision or ""),)
        return Listing(Ref(self.repo, self.revision, "model"), files, self.counts, None, notes)


def _names(data: bytes) -> None:
    """`{"repo", "revision", "counts": {dtype: n}, "documents": {path: JSON}, "files": {path: {tensor: elements}}}`."""
    try:
        value: Any = json.loads(data)
        files = {p: _header(t) for p, t in value["files"].items()}
        documents = {p: json.dumps(d).encode() for p, d in value["documents"].items()}
        counts = {k: n for k, n in value["counts"].items() if type(n) is int and n >= 0}
        repo, revision = str(value["repo"]), value["revision"]
        revision = revision if isinstance(revision, str) else None
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return
    source = _Named({**files, **documents}, jobs=1, repo=repo, revision=revision, counts=MappingProxyType(counts))
    tried(lambda: reports.of(source, data))


def _header(table: Any) -> tuple[bytes, int]:
    """The header of a file of U8 tensors, and BF16 where the number of elements is even."""
    tensors: Tensors = {
        name: ("BF16" if n % 2 == 0 else "U8", (n,), 2 * n if n % 2 == 0 else n)
        for name, n in table.items()
        if type(n) is int and 0 <= n < 1 << 40
    }
    return header(tensors, {"format": "pt", **dict.fromkeys(tensors, "x")})


def _seeds() -> Iterable[bytes]:
    plain = {"model.layers.0.self_attn.q_proj.weight": 64, "model.embed_tokens.weight": 640, "odd": 3}
    hostile = {"a\x1b[2J\u202e": 4, "=1+1": 2, "|`<b>@all\n": 6, "\ud800": 8, "": 1}
    one = {"repo": _REPO, "revision": "0" * 40, "counts": {"BF16": 355}}
    yield json.dumps({**one, "documents": {"config.json": {}}, "files": {"model.safetensors": plain}}).encode()
    shards = {"model-00001-of-00002.safetensors": plain, "model-00002-of-00002.safetensors": hostile}
    index = {"model.safetensors.index.json": {"weight_map": dict.fromkeys(hostile, "model-00002-of-00002.safetensors")}}
    yield json.dumps({**one, "documents": index, "files": shards}).encode()
    parts = {"unet/diffusion_pytorch_model.fp16.safetensors": plain, "text_encoder/model.safetensors": plain}
    model = {"model_index.json": {"unet": ["diffusers", "UNet"], "text_encoder": ["transformers", "CLIP"]}}
    yield json.dumps({**one, "documents": model, "files": parts}).encode()
    adapter = {"adapter_config.json": {"base_model_name_or_path": "<b>/|x"}}
    yield json.dumps({**one, "documents": adapter, "files": {"adapter_model.safetensors": hostile}}).encode()


TARGETS: Final = (
    Target(
        "names",
        _names,
        _seeds,
        (
            *(
                "<script>",
                "](x)",
                "![",
                "**",
                "`",
                "~~",
                "| a |",
                "@all",
                "&lt;",
                "\\|",
                "\u2066",
                "\u061c",
                "\x9b",
                "::error",
            ),
            *(
                "<!--",
                "</style>",
                "&#x202e;",
                "https://x.example",
                "%0A",
                "model.safetensors",
                "config.json",
                "quant_method",
            ),
            *(
                "consolidated.safetensors",
                "original/",
                "onnx/x.onnx",
                "model-00001-of-00003.safetensors",
                "../x.safetensors",
            ),
        ),
        structured=0,
    ),
)
