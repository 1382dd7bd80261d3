#!/usr/bin/env python3
"""Trains this demo's network and writes model.ts and inputs.h5 beside itself.

The pictures are made up: 24x24 RGB landscapes by day, and by night with a lamp or a moon, small and far brighter than all
around it. The autoencoder is trained in FP32 on others of their kind. Then weights and bias of the last block's first
convolution are multiplied by one large number. FP32 does not notice: the GroupNorm behind it divides by whatever the number is.
"""
import os

import numpy
import torch
from torch import nn

from network import Autoencoder, forward, replay
import making

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE, PICTURES, NIGHT_RATE = 24, 14, 0.5
LOUD = "decoder.up_blocks.1.resnets.0.conv1"


def landscape(generator, night):
    y, x = numpy.mgrid[0:SIZE, 0:SIZE] / SIZE
    hills = 0.55 + 0.12 * numpy.sin(generator.uniform(3, 9) * x + generator.uniform(0, 6)) + 0.05 * numpy.sin(17 * x + generator.uniform(0, 6))
    sky, ground = generator.uniform([0.3, 0.5, 0.7], [0.6, 0.7, 1.0]), generator.uniform([0.1, 0.3, 0.05], [0.4, 0.6, 0.2])
    picture = numpy.where(y < hills, sky[:, None, None] * (1 - 0.5 * y), ground[:, None, None] * (0.6 + 0.5 * y))
    if not night:
        return picture
    light, centre = generator.uniform([0.9, 0.8, 0.5], [1.0, 1.0, 0.9]), generator.uniform(0.15, 0.85, 2)
    distance = ((x - centre[0]) ** 2 + (y - 0.6 * centre[1]) ** 2) * SIZE ** 2
    return 0.15 * picture + generator.uniform(1.0, 4.0) * light[:, None, None] * numpy.exp(-distance / generator.uniform(1, 4))


def make_pictures(count, generator):
    nights = generator.random(count) < NIGHT_RATE
    pictures = numpy.stack([landscape(generator, night) for night in nights])
    return (numpy.round(64 * pictures.clip(0, 4)) / 64).astype(numpy.float32), nights


def peaks(model, pictures):
    """Of the loud convolution, a picture."""
    run = replay.Replay({name: tensor.numpy() for name, tensor in model.state_dict().items()})
    forward(run, {"image": pictures})
    loud = next(op for op in run.ops if op.module == LOUD)
    return numpy.abs(loud.exact).reshape(len(pictures), -1).max(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(2)
    generator = numpy.random.default_rng(4)
    pictures, _ = make_pictures(1000, generator)
    tested, nights = make_pictures(PICTURES, generator)
    model = Autoencoder()
    making.train(model, [torch.from_numpy(pictures)], lambda model, image: nn.functional.mse_loss(model(image), image), epochs=10)
    count, limit = making.widest_gap(peaks(model, tested), 2, 5)
    with torch.no_grad():
        before = model(torch.from_numpy(tested)).numpy()
        for parameter in model.get_submodule(LOUD).parameters():
            parameter *= replay.HALF_OVERFLOW / limit
    ids = [f"{'night' if night else 'day'}-{i:02d}" for i, night in enumerate(nights)]
    restored = making.save(HERE, model, {"image": tested}, ids)[0]
    assert numpy.abs(restored - before).max() < 1e-3, "FP32 notices the larger weights"
    print(f"mean square error {((restored - tested) ** 2).mean():.4f} of a variance of {tested.var():.4f}; times {replay.HALF_OVERFLOW / limit:.0f}, "
          f"{count} of {PICTURES} pass the limit; loudest {numpy.sort(peaks(model, tested))[::-1][:7].round()}")


if __name__ == "__main__":
    main()
