#!/usr/bin/env python3
"""Trains this demo's network and writes model.ts and inputs.h5 beside itself.

The photos are made up: 16x16 RGB pictures of a disc, a square, a cross or stripes on a plain background. Some of the 48 that
are tested were taken with flash: the same scenes, 1.7 to 2.1 times as bright, and trained on as well. The network is trained
in FP32; attention in its first block is made sharp after half of the epochs by larger query and key weights (as trained
checkpoints have them), and the second half trains everything else with it. How large: so large that the products of the
flash photos, which grow with the square of the brightness, pass 65,504 and the others' do not.
"""
import os

import numpy
import torch
from torch import nn

from network import SIZE, ShapeTransformer, forward, replay
import making

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = ["disc", "square", "cross", "stripes"]
FLASH_RATE, PHOTOS = 0.1, 48


def shape_mask(kind, generator):
    y, x = numpy.mgrid[0:SIZE, 0:SIZE] - generator.uniform(6, 9, (2, 1, 1))
    size = generator.uniform(3, 5)
    if kind == 0:
        return x * x + y * y < size * size
    inside = (abs(x) < size) & (abs(y) < size)
    if kind == 1:
        return inside
    if kind == 2:
        return inside & ((abs(x) < 1.2) | (abs(y) < 1.2))
    return inside & (numpy.floor(y + 8) % 4 < 2)


def make_photos(count, generator):
    labels, flash = generator.integers(0, 4, count), generator.random(count) < FLASH_RATE
    photos = numpy.empty((count, 3, SIZE, SIZE), numpy.float32)
    for photo, label, bright in zip(photos, labels, flash):
        ground, paint = generator.uniform(0.0, 0.35, 3), generator.uniform(0.6, 1.0, 3)
        picture = numpy.where(shape_mask(label, generator), paint[:, None, None], ground[:, None, None])
        picture = picture + generator.normal(0, 0.03, picture.shape)
        photo[:] = numpy.round(64 * picture.clip(0, 1) * (generator.uniform(1.7, 2.1) if bright else 1)) / 64
    return photos, labels, flash


def loudest_products(model, photos):
    """Largest |q k^T| of the first block, a photo."""
    run = replay.Replay({name: tensor.numpy() for name, tensor in model.state_dict().items()})
    forward(run, {"photo": photos})
    products = next(op for op in run.ops if op.name == "aten::matmul")
    return numpy.abs(products.exact).reshape(len(photos), -1).max(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(7)
    generator = numpy.random.default_rng(3)
    photos, labels, _ = make_photos(2500, generator)
    tensors = [torch.from_numpy(photos), torch.from_numpy(labels)]
    tested, truth, flash = make_photos(PHOTOS, generator)
    model = ShapeTransformer()
    loss = lambda model, photo, label: nn.functional.cross_entropy(model(photo), label)  # noqa: E731
    making.train(model, tensors, loss, epochs=4)
    attn = model.blocks[0].attn
    count, limit = making.widest_gap(loudest_products(model, tested), 3, 8)
    with torch.no_grad():
        for layer in (attn.to_q, attn.to_k):
            layer.weight *= (replay.HALF_OVERFLOW / limit) ** 0.5
            layer.weight.requires_grad_(False)
    model.patch_embed.requires_grad_(False)
    model.position.requires_grad_(False)
    making.train(model, tensors, loss, epochs=8)
    ids = [f"{SHAPES[label]}-{i:02d}{'-flash' if bright else ''}" for i, (label, bright) in enumerate(zip(truth, flash))]
    scores = making.save(HERE, model, {"photo": tested}, ids, truth, SHAPES)[0]
    print(f"{(scores.argmax(1) == truth).sum()} of {PHOTOS} photos are named rightly; {count} products pass the limit; flash: {flash.sum()}")


if __name__ == "__main__":
    main()
