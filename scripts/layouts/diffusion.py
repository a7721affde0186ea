"""A Stable Diffusion 1.x pipeline: five components, fp16 variants for three of them, single-file twins."""

from __future__ import annotations

from collections.abc import Iterable

from scripts.layouts import plain
from scripts.layouts.diffusion_parts import safety_checker, text_encoder, unet, vae
from scripts.layouts.recording import Json, Recording
from scripts.layouts.tensors import Tensor

UNET_CONFIG: dict[str, Json] = {
    "_class_name": "UNet2DConditionModel",
    "_diffusers_version": "0.6.0",
    "act_fn": "silu",
    "attention_head_dim": 8,
    "block_out_channels": [320, 640, 1280, 1280],
    "center_input_sample": False,
    "cross_attention_dim": 768,
    "down_block_types": ["CrossAttnDownBlock2D"] * 3 + ["DownBlock2D"],
    "in_channels": 4,
    "layers_per_block": 2,
    "out_channels": 4,
    "sample_size": 64,
    "up_block_types": ["UpBlock2D"] + ["CrossAttnUpBlock2D"] * 3,
}
VAE_CONFIG: dict[str, Json] = {
    "_class_name": "AutoencoderKL",
    "_diffusers_version": "0.6.0",
    "block_out_channels": [128, 256, 512, 512],
    "in_channels": 3,
    "latent_channels": 4,
    "layers_per_block": 2,
    "out_channels": 3,
    "sample_size": 512,
}
TEXT_CONFIG: dict[str, Json] = {
    "architectures": ["CLIPTextModel"],
    "hidden_size": 768,
    "intermediate_size": 3072,
    "max_position_embeddings": 77,
    "model_type": "clip_text_model",
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "projection_dim": 768,
    "torch_dtype": "float32",
    "vocab_size": 49408,
}
CHECKER_CONFIG: dict[str, Json] = {
    "architectures": ["StableDiffusionSafetyChecker"],
    "model_type": "clip",
    "projection_dim": 768,
    "vision_config": {
        "hidden_size": 1024,
        "image_size": 224,
        "intermediate_size": 4096,
        "model_type": "clip_vision_model",
        "num_attention_heads": 16,
        "num_hidden_layers": 24,
        "patch_size": 14,
    },
}


def _halved(rows: Iterable[Tensor]) -> list[Tensor]:
    return [t._replace(dtype="F16") if t.dtype == "F32" else t for t in rows]


def record() -> Recording:
    """F32 in five folders; `fp16` files for unet, vae and text encoder; a root file with everything again."""
    out = Recording(
        "example/stable-diffusion-1",
        published=("parameters: unet 859,520,964 (the Hub's count for CompVis/stable-diffusion-v1-4)",),
        inferred=("the listing: a repo in the shape that diffusers writes; sizes of the twins",),
    )
    parts = {
        "unet": (unet(), "diffusion_pytorch_model"),
        "vae": (vae(), "diffusion_pytorch_model"),
        "text_encoder": (text_encoder(), "model"),
        "safety_checker": (safety_checker(), "model"),
    }
    for folder, (rows, stem) in parts.items():
        path = f"{folder}/{stem}"
        out.shard(f"{path}.safetensors", sorted(rows), {"format": "pt"})
        if folder != "safety_checker":
            out.shard(f"{path}.fp16.safetensors", sorted(_halved(rows)), {"format": "pt"}, main=False)
        twin = "pytorch_model.bin" if stem == "model" else f"{stem}.bin"
        out.blank(f"{folder}/{twin}", sum(t.nbytes for t in rows) + 93_000, lfs=True)
    out.check("unet parameters", sum(t.elements for t in parts["unet"][0]), 859_520_964)
    out.json(
        "model_index.json",
        {
            "_class_name": "StableDiffusionPipeline",
            "_diffusers_version": "0.6.0",
            "feature_extractor": ["transformers", "CLIPImageProcessor"],
            "safety_checker": ["stable_diffusion", "StableDiffusionSafetyChecker"],
            "scheduler": ["diffusers", "PNDMScheduler"],
            "text_encoder": ["transformers", "CLIPTextModel"],
            "tokenizer": ["transformers", "CLIPTokenizer"],
            "unet": ["diffusers", "UNet2DConditionModel"],
            "vae": ["diffusers", "AutoencoderKL"],
        },
    )
    out.json("unet/config.json", UNET_CONFIG)
    out.json("vae/config.json", VAE_CONFIG)
    out.json("text_encoder/config.json", TEXT_CONFIG)
    out.json("safety_checker/config.json", CHECKER_CONFIG)
    out.json("scheduler/scheduler_config.json", {"_class_name": "PNDMScheduler", "num_train_timesteps": 1000})
    out.json("feature_extractor/preprocessor_config.json", {"crop_size": 224, "size": 224})
    out.blank("tokenizer/merges.txt", 524_619)
    out.blank("tokenizer/vocab.json", 1_059_962)
    out.json("tokenizer/tokenizer_config.json", {"model_max_length": 77, "tokenizer_class": "CLIPTokenizer"})
    _single_file(out, [*parts["unet"][0], *parts["vae"][0], *parts["text_encoder"][0]])
    plain.repo_files(out, licence="creativeml-openrail-m", about="Stable Diffusion 1.x")
    chosen = [f"{folder}/{stem}.safetensors" for folder, (_, stem) in parts.items()]
    out.expected |= {
        "files": len(chosen),
        "file_bytes": sum(out.size(path) for path in chosen),
        "parameters": sum(t.elements for t in out.tensors),
        "verdict": "no",
    }
    return out


def _single_file(out: Recording, rows: list[Tensor]) -> None:
    """The twins at the root; real ones have the training code's names, these keep the component's under a prefix."""
    renamed = sorted(t._replace(name=f"model.{t.name}") for t in rows)
    out.shard("v1-pruned-emaonly.safetensors", renamed, {"format": "pt"}, main=False)
    out.blank("v1-pruned-emaonly.ckpt", sum(t.nbytes for t in rows) + 310_000, lfs=True)
