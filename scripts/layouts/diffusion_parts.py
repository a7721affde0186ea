"""Tensors of the components of Stable Diffusion 1.x, by the architectures that diffusers and transformers build."""

from __future__ import annotations

from scripts.layouts.tensors import Rows


class Net(Rows):
    """F32 layers with biases."""

    def layer(self, at: str, *shape: int) -> None:
        """A linear or convolution of that weight shape, with bias."""
        self.f32(f"{at}.weight", *shape)
        self.f32(f"{at}.bias", shape[0])

    def norm(self, at: str, width: int) -> None:
        """Scale and shift."""
        self.f32(f"{at}.weight", width)
        self.f32(f"{at}.bias", width)

    def conv(self, at: str, out: int, inn: int, side: int = 3) -> None:
        """A square convolution with bias."""
        self.layer(at, out, inn, side, side)

    def residual(self, at: str, inn: int, out: int, *, time: int | None) -> None:
        """A residual block, with a shortcut where the width changes."""
        self.norm(f"{at}.norm1", inn)
        self.conv(f"{at}.conv1", out, inn)
        if time:
            self.layer(f"{at}.time_emb_proj", out, time)
        self.norm(f"{at}.norm2", out)
        self.conv(f"{at}.conv2", out, out)
        if inn != out:
            self.conv(f"{at}.conv_shortcut", out, inn, 1)

    def spatial(self, at: str, width: int, context: int) -> None:
        """A spatial transformer: self-attention, cross-attention, gated feed-forward."""
        self.norm(f"{at}.norm", width)
        self.conv(f"{at}.proj_in", width, width, 1)
        block = f"{at}.transformer_blocks.0"
        for number, source in ((1, width), (2, context)):
            attn = f"{block}.attn{number}"
            self.f32(f"{attn}.to_q.weight", width, width)
            self.f32(f"{attn}.to_k.weight", width, source)
            self.f32(f"{attn}.to_v.weight", width, source)
            self.layer(f"{attn}.to_out.0", width, width)
        self.layer(f"{block}.ff.net.0.proj", 8 * width, width)
        self.layer(f"{block}.ff.net.2", width, 4 * width)
        for number in (1, 2, 3):
            self.norm(f"{block}.norm{number}", width)
        self.conv(f"{at}.proj_out", width, width, 1)


def unet() -> Net:
    """UNet2DConditionModel of SD 1.x."""
    net, widths, time, context = Net(), (320, 640, 1280, 1280), 1280, 768
    net.conv("conv_in", 320, 4)
    net.layer("time_embedding.linear_1", time, 320)
    net.layer("time_embedding.linear_2", time, time)
    skips, at_width = [320], 320
    for level, width in enumerate(widths):
        for number in range(2):
            net.residual(f"down_blocks.{level}.resnets.{number}", at_width, width, time=time)
            if level < 3:
                net.spatial(f"down_blocks.{level}.attentions.{number}", width, context)
            at_width = width
            skips.append(width)
        if level < 3:
            net.conv(f"down_blocks.{level}.downsamplers.0.conv", width, width)
            skips.append(width)
    for number in range(2):
        net.residual(f"mid_block.resnets.{number}", 1280, 1280, time=time)
    net.spatial("mid_block.attentions.0", 1280, context)
    for level, width in enumerate(reversed(widths)):
        for number in range(3):
            net.residual(f"up_blocks.{level}.resnets.{number}", at_width + skips.pop(), width, time=time)
            if level > 0:
                net.spatial(f"up_blocks.{level}.attentions.{number}", width, context)
            at_width = width
        if level < 3:
            net.conv(f"up_blocks.{level}.upsamplers.0.conv", width, width)
    net.norm("conv_norm_out", 320)
    net.conv("conv_out", 4, 320)
    return net


def vae() -> Net:
    """AutoencoderKL of SD 1.x."""
    net, widths = Net(), (128, 256, 512, 512)

    def middle(at: str) -> None:
        for number in range(2):
            net.residual(f"{at}.mid_block.resnets.{number}", 512, 512, time=None)
        attn = f"{at}.mid_block.attentions.0"
        net.norm(f"{attn}.group_norm", 512)
        for name in ("to_q", "to_k", "to_v", "to_out.0"):
            net.layer(f"{attn}.{name}", 512, 512)

    net.conv("encoder.conv_in", 128, 3)
    at_width = 128
    for level, width in enumerate(widths):
        for number in range(2):
            net.residual(f"encoder.down_blocks.{level}.resnets.{number}", at_width, width, time=None)
            at_width = width
        if level < 3:
            net.conv(f"encoder.down_blocks.{level}.downsamplers.0.conv", width, width)
    middle("encoder")
    net.norm("encoder.conv_norm_out", 512)
    net.conv("encoder.conv_out", 8, 512)
    net.conv("quant_conv", 8, 8, 1)
    net.conv("post_quant_conv", 4, 4, 1)
    net.conv("decoder.conv_in", 512, 4)
    middle("decoder")
    at_width = 512
    for level, width in enumerate(reversed(widths)):
        for number in range(3):
            net.residual(f"decoder.up_blocks.{level}.resnets.{number}", at_width, width, time=None)
            at_width = width
        if level < 3:
            net.conv(f"decoder.up_blocks.{level}.upsamplers.0.conv", width, width)
    net.norm("decoder.conv_norm_out", 128)
    net.conv("decoder.conv_out", 3, 128)
    return net


def _clip(net: Net, at: str, layers: int, width: int, inner: int) -> None:
    for number in range(layers):
        here = f"{at}.encoder.layers.{number}"
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            net.layer(f"{here}.self_attn.{name}", width, width)
        net.norm(f"{here}.layer_norm1", width)
        net.norm(f"{here}.layer_norm2", width)
        net.layer(f"{here}.mlp.fc1", inner, width)
        net.layer(f"{here}.mlp.fc2", width, inner)


def text_encoder() -> Net:
    """CLIP ViT-L/14's text model."""
    net, at = Net(), "text_model"
    net.f32(f"{at}.embeddings.token_embedding.weight", 49408, 768)
    net.f32(f"{at}.embeddings.position_embedding.weight", 77, 768)
    _clip(net, at, 12, 768, 3072)
    net.norm(f"{at}.final_layer_norm", 768)
    return net


def safety_checker() -> Net:
    """CLIP ViT-L/14's vision model with the concept tables."""
    net, at = Net(), "vision_model.vision_model"
    net.f32(f"{at}.embeddings.class_embedding", 1024)
    net.f32(f"{at}.embeddings.patch_embedding.weight", 1024, 3, 14, 14)
    net.f32(f"{at}.embeddings.position_embedding.weight", 257, 1024)
    net.norm(f"{at}.pre_layrnorm", 1024)
    _clip(net, at, 24, 1024, 4096)
    net.norm(f"{at}.post_layernorm", 1024)
    net.f32("visual_projection.weight", 768, 1024)
    for name, count in (("concept", 17), ("special_care", 3)):
        net.f32(f"{name}_embeds", count, 768)
        net.f32(f"{name}_embeds_weights", count)
    return net
