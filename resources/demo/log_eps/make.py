#!/usr/bin/env python3
"""Trains this demo's network and writes model.ts and inputs.h5 beside itself.

The star fields are made up: 32x32 pictures with a few stars of different brightness and noise; the target is a 16x16 heatmap
with 1 at each star and less around it. A few of the fields that are tested hold one star far brighter than any in training.
"""
import os

import numpy
import torch

from network import StarFinder, forward, replay
import making

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE, FIELDS, BRIGHT = 32, 24, 3
ONE_IN_HALF = 2.0 ** -12  # a heatmap closer to 1 than this is 1 in FP16


def make_fields(count, generator, brightest, bright=()):
    y, x = numpy.mgrid[0:SIZE, 0:SIZE]
    fields, targets = generator.normal(0.05, 0.02, (count, 1, SIZE, SIZE)), numpy.zeros((count, 1, SIZE // 2, SIZE // 2))
    for i, (field, target) in enumerate(zip(fields, targets)):
        stars = generator.integers(1, 5)
        for star in range(stars):
            cy, cx = generator.integers(2, SIZE // 2 - 2, 2)
            strength = brightest * numpy.exp(generator.uniform(-2, 0)) if star or i not in bright else generator.uniform(5.0, 8.0)
            field[0] += strength * numpy.exp(-((y - 2 * cy - 0.5) ** 2 + (x - 2 * cx - 0.5) ** 2) / 3.0)
            near = (y[:SIZE // 2, :SIZE // 2] - cy) ** 2 + (x[:SIZE // 2, :SIZE // 2] - cx) ** 2
            target[0] = numpy.maximum(target[0], numpy.exp(-near / 1.0))
    return (numpy.round(64 * fields.clip(0)) / 64).astype(numpy.float32), targets.astype(numpy.float32)


def surest(model, fields, targets):
    """The least 1 - p that sigmoid gives in FP32, a field."""
    run = replay.Replay({name: tensor.numpy() for name, tensor in model.state_dict().items()})
    forward(run, {"field": fields, "target": targets})
    logits = next(op for op in run.ops if op.module == "heatmap_head.2").result
    return 1 / (1 + numpy.exp(logits.astype(numpy.float64).reshape(len(fields), -1).max(1)))


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    generator = numpy.random.default_rng(9)
    training = [torch.from_numpy(array) for array in make_fields(1500, generator, 2.0)]
    model = StarFinder()
    making.train(model, training, lambda model, field, target: model(field, target)[0].mean(), epochs=6)
    bright = sorted(generator.choice(FIELDS, BRIGHT, replace=False))
    fields, targets = make_fields(FIELDS, generator, 1.2, bright)
    ids = [f"field-{i:02d}{'-bright' if i in bright else ''}" for i in range(FIELDS)]
    loss, heatmap = making.save(HERE, model, {"field": fields, "target": targets}, ids)
    rest = surest(model, fields, targets) / ONE_IN_HALF
    print(f"loss {loss.mean():.2f}; 1 - p, in units of what FP16 rounds away: {numpy.sort(rest)[:6].round(3)} in {[ids[i] for i in numpy.argsort(rest)[:6]]}")


if __name__ == "__main__":
    main()
