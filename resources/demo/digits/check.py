#!/usr/bin/env python3
"""Says in numpy alone which decisions of this demo flip under BF16 autocast, and that no summation order changes that.

Exit 1 when others flip than demo.json says, when the order of the sums matters, or when numpy's FP32 scores are not the saved ones.
"""
import json
import os
import sys

import h5py
import numpy
import torch

from network import exactly, forward

HERE = os.path.dirname(os.path.abspath(__file__))
ORDERS = 8
sys.path.insert(0, os.path.dirname(HERE))
from replay import hold  # noqa: E402


def margins(scores):
    best = numpy.sort(scores, 1)
    return best[:, -1] - best[:, -2]


def summation_orders():
    yield None  # in float64
    yield range  # first to last
    yield lambda length: range(length - 1, -1, -1)
    for seed in range(ORDERS):
        yield lambda length, seed=seed: numpy.random.RandomState(seed).permutation(length)


def main():
    model = torch.jit.load(os.path.join(HERE, "model.ts"))
    weights = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    with h5py.File(os.path.join(HERE, "inputs.h5")) as file:
        image, reference = file["image"][:], file["expected/output"][:]
        ids, labels = file["sample_ids"].asstr()[:], file["labels"][:]
    difference = numpy.abs(forward(image, weights, exactly) - reference).max()
    if difference > 1e-4:
        sys.exit(f"numpy's FP32 scores differ from the saved ones by {difference}")
    before = reference.argmax(1)
    candidates = [forward(image, weights, order=order) for order in summation_orders()]
    flipped = [tuple(numpy.flatnonzero(candidate.argmax(1) != before)) for candidate in candidates]
    for row in flipped[0]:
        print(f"{ids[row]}: FP32 {before[row]} (margin {margins(reference)[row]:.4f}), BF16 "
              f"{candidates[0][row].argmax()} (margin {margins(candidates[0])[row]:.4f}), label {labels[row]}")
    if len(set(flipped)) != 1:
        sys.exit(f"the order of the sums changes which digits flip: {sorted(set(flipped))}")
    with open(os.path.join(HERE, "demo.json"), encoding="utf-8") as file:
        hold(json.load(file), {"flips": {ids[row]: [int(before[row]), int(candidates[0][row].argmax())] for row in flipped[0]}})
    print(f"{len(flipped[0])} of {len(ids)} decisions flip, in each of {len(flipped)} summation orders")


if __name__ == "__main__":
    main()
