#!/usr/bin/env python3
"""Writes the two large workloads of the benches: make_workloads.py OUTDIR

OUTDIR/resnet18: ResNet-18, scripted (a traced convolution is not autocast on the CPU), 8 images of 224 x 224.
OUTDIR/encoder6: six transformer encoder layers, traced, d = 512, 8 heads, 8 sequences of 128.
Weights are random: what an op costs does not hang on them. Each folder has model.ts and inputs.pt.
"""
import os
import sys
import warnings

import torch
import torchvision
from torch import nn

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from fixtures.ordinary import noise, seeded  # noqa: E402
from fixtures.saving import export, write_inputs  # noqa: E402


def write(outdir, name, model, inputs, how):
    folder = os.path.join(outdir, name)
    os.makedirs(folder, exist_ok=True)
    model.eval()
    torch.jit.save(export(model, inputs, how), os.path.join(folder, "model.ts"))
    write_inputs(folder, inputs)


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: make_workloads.py OUTDIR")
    warnings.filterwarnings("ignore")
    write(arguments[1], "resnet18", seeded(torchvision.models.resnet18, weights=None), {"x": noise(8, 3, 224, 224)}, "script")
    layer = seeded(nn.TransformerEncoderLayer, d_model=512, nhead=8, dim_feedforward=2048, batch_first=True)
    write(arguments[1], "encoder6", nn.TransformerEncoder(layer, num_layers=6), {"src": noise(8, 128, 512)}, "trace")


if __name__ == "__main__":
    main(sys.argv)
