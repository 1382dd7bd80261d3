#!/usr/bin/env python3
"""Trains this demo's network and writes model.ts and inputs.h5 beside itself.

The photos are made up: a yard from above with one or two containers, 512x512 pixels, of which the network sees every 16th.
Each of 4x4 cells whose middle lies on a container learns to say so and where its four sides are; suppression then leaves one
box a container. Of the photos tested those are taken that FP32 counts rightly and in which no area, no overlap and no pair of
scores is a close call, so that only what this demo is about can change a count.
"""
import os

import numpy
import torch
from torch import nn

from network import CELLS, OVERLAP, STRIDE, ContainerCounter, forward, replay
import making

HERE = os.path.dirname(os.path.abspath(__file__))
PHOTOS, SIZE, SIDE, LARGE_RATE = 24, 32, 512, 0.25


def place_boxes(generator):
    """One large container, or one or two small ones apart from each other."""
    large = generator.random() < LARGE_RATE
    boxes, wanted = [], 1 if large else generator.integers(1, 3)
    while len(boxes) < wanted:
        width, height = generator.uniform(260, 430, 2) if large else generator.uniform(130, 175, 2)
        left, top = generator.uniform(10, SIDE - 10 - width), generator.uniform(10, SIDE - 10 - height)
        box = numpy.array([left, top, left + width, top + height])
        if all((numpy.maximum(box[:2], other[:2]) > numpy.minimum(box[2:], other[2:]) + 20).any() for other in boxes):
            boxes.append(box)
    return boxes


def make_photo(generator):
    """The picture, its boxes, and the training targets [found, left, top, right, bottom] of each cell."""
    boxes = place_boxes(generator)
    y, x = numpy.mgrid[0:SIZE, 0:SIZE] * (SIDE / SIZE) + SIDE / SIZE / 2
    picture = generator.uniform(0.1, 0.25) + generator.normal(0, 0.02, (SIZE, SIZE))
    middle = STRIDE * (numpy.arange(CELLS) + 0.5)
    cx, cy = numpy.tile(middle, CELLS), numpy.repeat(middle, CELLS)
    target = numpy.zeros((5, CELLS * CELLS))
    for box in boxes:
        inside = (x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])
        ribs = 0.05 * numpy.sin(x / 9.0)
        picture = numpy.where(inside, generator.uniform(0.5, 0.95) + ribs, picture)
        sides = numpy.stack([cx - box[0], cy - box[1], box[2] - cx, box[3] - cy])
        target = numpy.where(sides.min(0) > 0, numpy.concatenate([numpy.ones((1, CELLS * CELLS)), sides / STRIDE]), target)
    return (numpy.round(64 * picture.clip(0, 1)) / 64)[None], len(boxes), target


def make_photos(count, generator):
    photos, counts, targets = zip(*[make_photo(generator) for _ in range(count)])
    return numpy.float32(photos), numpy.array(counts), numpy.float32(targets)


def loss(model, photo, target):
    boxes, scores = model.boxes_and_scores(photo)
    sides = torch.cat([model.centres - boxes[:, :, :2], boxes[:, :, 2:] - model.centres], 2) / STRIDE
    wrong = (sides - target[:, 1:].transpose(1, 2)).abs().mean(2)
    return nn.functional.binary_cross_entropy_with_logits(scores, target[:, 0]) + (wrong * target[:, 0]).sum() / target[:, 0].sum()


def is_clear(photo, weights, count):
    """No close call: counted rightly, and areas, overlaps and scores far from where another decision begins."""
    run = replay.Replay(weights)
    if forward(run, {"photo": photo[None]})[0][0] != count:
        return False
    ops = {(op.module, op.name, op.exact.ndim): op.result[0] for op in run.ops}
    areas = numpy.concatenate([op.result.ravel() for op in run.ops if op.module == "nms" and op.name in ("aten::add", "aten::mul", "aten::sub")])
    scores = ops["score_head", "aten::conv2d", 4].ravel()
    found = scores > 0
    pairs = numpy.abs(scores[found][:, None] - scores[found])[~numpy.eye(found.sum(), dtype=bool)]
    overlaps = ops["nms", "aten::div", 3][found][:, found]
    return (numpy.abs(areas / replay.HALF_OVERFLOW - 1).min() > 0.015 and numpy.abs(scores).min() > 0.05
            and (not pairs.size or pairs.min() > 0.02) and numpy.abs(overlaps - OVERLAP).min() > 0.02)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(4)
    numpy.seterr(all="ignore")
    generator = numpy.random.default_rng(6)
    photos, _, targets = make_photos(4000, generator)
    model = ContainerCounter()
    making.train(model, [torch.from_numpy(photos), torch.from_numpy(targets)], loss, epochs=24, rate=3e-3)
    weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    photos, counts, _ = make_photos(300, generator)
    clear = [i for i in range(len(photos)) if is_clear(photos[i], weights, counts[i])]
    pairs = [i for i in clear if counts[i] == 2][:PHOTOS // 3]
    chosen = sorted(pairs + [i for i in clear if counts[i] == 1][:PHOTOS - len(pairs)])
    found = making.save(HERE, model, {"photo": photos[chosen]}, [f"yard-{i:03d}" for i in chosen], counts[chosen])[0]
    print(f"{len(clear)} of 300 photos are clear; the {len(chosen)} taken hold {numpy.bincount(found)[1:]} with one, two containers")


if __name__ == "__main__":
    main()
