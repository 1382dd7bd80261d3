#!/usr/bin/env python3
"""Trains this demo's network and writes model.ts and inputs.h5 beside itself.

The vibrations are made up: 192 readings of a pump that is healthy, out of balance, loose or has a bad bearing; the sensor's
distance makes them loud or faint, and the norm takes that out again. So the unit of the readings is free: FP32 gives the same
scores in volts and in millivolts. It is chosen so that the squares of the loudest pumps pass 65,504.
"""
import os

import numpy
import torch
from torch import nn

from network import PumpMonitor, forward, replay
import making

HERE = os.path.dirname(os.path.abspath(__file__))
STATES = ["healthy", "unbalanced", "loose", "bad bearing"]
PUMPS, LENGTH = 48, 192


def make_vibrations(count, generator):
    labels = generator.integers(0, len(STATES), count)
    time = numpy.arange(LENGTH) / LENGTH
    vibrations = numpy.empty((count, 1, LENGTH))
    for vibration, label in zip(vibrations, labels):
        turns = 2 * numpy.pi * (generator.uniform(5, 8) * time + generator.uniform(0, 1))
        parts = [0.5 * numpy.sin(turns), 2.5 * numpy.sin(turns), 0.6 * numpy.sin(turns) + numpy.sin(2 * turns) + 0.8 * numpy.sin(3 * turns),
                 0.5 * numpy.sin(turns) + 1.2 * numpy.sin(9.3 * turns) * (numpy.sin(1.7 * turns) > 0.6)]
        vibration[0] = parts[label] + generator.normal(0, 0.35, LENGTH)
        vibration *= numpy.exp(generator.normal(0, 0.8))
    return vibrations.astype(numpy.float32), labels


def largest_squares(model, vibrations):
    run = replay.Replay({name: tensor.numpy() for name, tensor in model.state_dict().items()})
    forward(run, {"vibration": vibrations})
    squares = next(op for op in run.ops if op.name == "aten::mul")
    return squares.exact.reshape(len(vibrations), -1).max(1)


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    generator = numpy.random.default_rng(2)
    vibrations, labels = make_vibrations(3000, generator)
    model = PumpMonitor()
    with torch.no_grad():
        model.stem.bias.zero_()
    model.stem.bias.requires_grad_(False)  # else the unit of the readings would matter
    tensors = [torch.from_numpy(vibrations), torch.from_numpy(labels)]
    making.train(model, tensors, lambda model, vibration, label: nn.functional.cross_entropy(model(vibration), label), epochs=12)
    tested, truth = make_vibrations(PUMPS, generator)
    count, limit = making.widest_gap(largest_squares(model, tested), 3, 6)
    unit = (replay.HALF_OVERFLOW / limit) ** 0.5
    with torch.no_grad():
        before = model(torch.from_numpy(tested)).numpy()
    tested = numpy.round(unit * tested)
    scores = making.save(HERE, model, {"vibration": tested}, [f"pump-{i:02d}" for i in range(PUMPS)], truth, STATES)[0]
    assert numpy.abs(scores - before).max() < 0.3, "FP32 notices the unit"  # the readings were rounded to whole numbers
    print(f"{(scores.argmax(1) == truth).sum()} of {PUMPS} pumps are judged rightly; times {unit:.0f}; {count} squares pass the limit: "
          f"{numpy.sort(largest_squares(model, tested))[::-1][:8].round()}")


if __name__ == "__main__":
    main()
