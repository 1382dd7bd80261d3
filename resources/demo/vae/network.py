"""The network of this demo in PyTorch, and its forward pass once more for the replay in numpy."""
import os
import sys

import torch
from torch import Tensor, nn
from torch.nn import functional

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import replay  # noqa: E402

WIDTH, LATENT, GROUPS = 12, 4, 3


class ResnetBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(GROUPS, WIDTH), nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(GROUPS, WIDTH), nn.Conv2d(WIDTH, WIDTH, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.conv1(functional.silu(self.norm1(x)))
        return x + self.conv2(functional.silu(self.norm2(hidden)))


class UpBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.resnets = nn.ModuleList([ResnetBlock()])
        self.upsample = nn.Conv2d(WIDTH, WIDTH, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        for resnet in self.resnets:
            x = resnet(x)
        return self.upsample(functional.interpolate(x, scale_factor=2.0, mode="nearest"))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_in = nn.Conv2d(3, WIDTH, 3, stride=2, padding=1)
        self.down = nn.Conv2d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.conv_out = nn.Conv2d(WIDTH, LATENT, 3, padding=1)

    def forward(self, image: Tensor) -> Tensor:
        return self.conv_out(functional.silu(self.down(functional.silu(self.conv_in(image)))))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv_in = nn.Conv2d(LATENT, WIDTH, 3, padding=1)
        self.up_blocks = nn.ModuleList([UpBlock(), UpBlock()])
        self.norm_out, self.conv_out = nn.GroupNorm(GROUPS, WIDTH), nn.Conv2d(WIDTH, 3, 3, padding=1)

    def forward(self, latent: Tensor) -> Tensor:
        x = self.conv_in(latent)
        for block in self.up_blocks:
            x = block(x)
        return self.conv_out(functional.silu(self.norm_out(x)))


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = Encoder(), Decoder()

    def forward(self, image: Tensor) -> Tensor:
        return self.decoder(self.encoder(image))


def resnet_block(run, x, path):
    hidden = run.conv(run.silu(run.group_norm(x, path + ".norm1", GROUPS), path), path + ".conv1", padding=1)
    hidden = run.conv(run.silu(run.group_norm(hidden, path + ".norm2", GROUPS), path), path + ".conv2", padding=1)
    return run.add(x, hidden, path)


def forward(run, inputs):
    x = run.silu(run.conv(inputs["image"], "encoder.conv_in", stride=2, padding=1), "encoder")
    x = run.silu(run.conv(x, "encoder.down", stride=2, padding=1), "encoder")
    x = run.conv(run.conv(x, "encoder.conv_out", padding=1), "decoder.conv_in", padding=1)
    for path in ("decoder.up_blocks.0", "decoder.up_blocks.1"):
        x = resnet_block(run, x, path + ".resnets.0")
        x = run.conv(x.view(lambda a: a.repeat(2, 2).repeat(2, 3)), path + ".upsample", padding=1)
    return [run.conv(run.silu(run.group_norm(x, "decoder.norm_out", GROUPS), "decoder"), "decoder.conv_out", padding=1)]
