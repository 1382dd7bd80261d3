#!/usr/bin/env python3
"""Trains this demo's network and writes model.ts and inputs.h5 beside itself.

The messages are made up: token ids, 12 words for each of four departments, 15 words that say nothing, and an error code
that some messages quote. The network is trained in FP32. Then one hidden unit of layer 3's feed-forward is made an
outlier, as T5 checkpoints have them: it answers to the error code alone and its weight in the output projection is
large. The layers behind it are trained on with the outlier in place, so that FP32 routes these messages as well as
the others.
"""
import os
import sys

import h5py
import numpy
import torch
from torch import nn

from network import CLASSES, LENGTH, MessageRouter

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from making import scripted  # noqa: E402

DEPARTMENTS = ["billing", "delivery", "returns", "technical"]
ERROR_CODE, OUTLIER_LAYER, OUTLIER_UNIT, OUTLIER_CHANNEL = 63, 3, 17, 29
OUTLIER_PEAK = 80_000.0  # of the weakest training message; FP16 ends at 65,504
MESSAGES, QUOTE_RATE = 64, 0.08


def make_messages(count, generator):
    labels = generator.integers(0, CLASSES, count)
    tokens = generator.integers(48, ERROR_CODE, (count, LENGTH))
    for message, department in zip(tokens, labels):
        places = generator.permutation(LENGTH)
        message[places[:5]] = 12 * department + generator.integers(0, 12, 5)
        message[places[5:7]] = generator.integers(0, 48, 2)
        if generator.random() < QUOTE_RATE:
            message[places[7]] = ERROR_CODE
    return torch.from_numpy(tokens), torch.from_numpy(labels)


def train(model, parameters, tokens, labels, epochs):
    optimizer = torch.optim.Adam(parameters, lr=1e-3)
    for _ in range(epochs):
        for batch in torch.randperm(len(tokens)).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(tokens[batch]), labels[batch]).backward()
            optimizer.step()


def normed_inputs(model, tokens):
    """What the outlier's feed-forward receives, [message, position, channel]."""
    received = []
    feed_forward = model.layers[OUTLIER_LAYER].feed_forward
    hook = feed_forward.register_forward_pre_hook(lambda _, inputs: received.append(inputs[0]))
    with torch.no_grad():
        model(tokens)
    hook.remove()
    return received[0]


def separating_direction(inside, outside):
    """Fisher's linear discriminant, of length 1."""
    spread = torch.cov(outside.T) + torch.cov(inside.T) + 1e-2 * torch.eye(len(outside[0]))
    return nn.functional.normalize(torch.linalg.solve(spread, inside.mean(0) - outside.mean(0)), dim=0)


def make_outlier(model, tokens):
    seen = normed_inputs(model, tokens)
    quoted = tokens == ERROR_CODE
    direction = separating_direction(seen[quoted], seen[~quoted])
    answers = seen @ direction
    weakest, loudest_other = answers[quoted].min(), answers[~quoted].max()
    assert weakest > 1.2 * loudest_other, f"the error code does not stand out: {weakest} against {loudest_other}"
    threshold, gain = 0.5 * (weakest + loudest_other), 200.0 / (0.5 * (weakest - loudest_other))
    feed_forward = model.layers[OUTLIER_LAYER].feed_forward
    with torch.no_grad():
        feed_forward.wi.weight[OUTLIER_UNIT] = gain * direction
        feed_forward.wi.bias[OUTLIER_UNIT] = -gain * threshold
        feed_forward.wo.weight[:, OUTLIER_UNIT] = 0.0
        feed_forward.wo.weight[OUTLIER_CHANNEL, OUTLIER_UNIT] = OUTLIER_PEAK / 200.0


def build_model(generator):
    torch.set_num_threads(1)
    torch.manual_seed(5)
    model = MessageRouter()
    tokens, labels = make_messages(3000, generator)
    train(model, model.parameters(), tokens, labels, epochs=4)
    make_outlier(model, tokens)
    behind = [*model.layers[OUTLIER_LAYER + 1].parameters(), *model.norm.parameters(), *model.classifier.parameters()]
    train(model, behind, tokens, labels, epochs=4)
    return model.eval()


def write_inputs(path, tokens, labels, scores):
    with h5py.File(path, "w") as file:
        file["tokens"] = tokens.numpy()
        file["sample_ids"] = [f"message-{i:02d}" for i in range(len(tokens))]
        file["labels"] = labels.numpy()
        file["class_names"] = DEPARTMENTS
        file["expected/output"] = scores.numpy()


def main():
    generator = numpy.random.default_rng(1)
    model = build_model(generator)
    tokens, labels = make_messages(MESSAGES, generator)
    with torch.no_grad():
        scores = model(tokens)
    torch.jit.save(scripted(model, HERE), os.path.join(HERE, "model.ts"))
    write_inputs(os.path.join(HERE, "inputs.h5"), tokens, labels, scores)
    quoting = [f"message-{i:02d}" for i in range(MESSAGES) if ERROR_CODE in tokens[i]]
    print(f"{(scores.argmax(1) == labels).sum()} of {MESSAGES} messages are routed rightly; the error code is in {quoting}")


if __name__ == "__main__":
    main()
