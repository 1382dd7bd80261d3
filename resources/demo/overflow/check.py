#!/usr/bin/env python3
"""Says in numpy alone what FP16 autocast does to this demo, and that keeping the cure of demo.json in FP32 undoes it.

Exit 1 when what it finds depends on the width of the sums, or is not what the demo is there to show.
"""
import json
import os
import sys

import h5py
import numpy
import torch

from network import Replay

HERE = os.path.dirname(os.path.abspath(__file__))
HALF_OVERFLOW = 65520.0  # the smallest magnitude that rounds to infinity


def overflows(outputs, ids):
    """{path: ids} of the linear layers whose result leaves FP16; none may come within 1 % of the limit."""
    found = {}
    for path, result in outputs.items():
        peak = numpy.abs(result).reshape(len(result), -1).max(1) / HALF_OVERFLOW
        if ((peak > 0.99) & (peak < 1.01)).any():
            sys.exit(f"{path}: {peak} of the limit is too close to it")
        if (peak >= 1).any():
            found[path] = list(ids[peak >= 1])
    return found


def findings(weights, tokens, ids, reference, fp32, wide):
    replay = Replay(weights, fp32=fp32, wide=wide)
    scores = replay(tokens)
    undecided = numpy.isnan(scores).any(1)
    flipped = (scores.argmax(1) != reference.argmax(1)) & ~undecided
    autocast = {path: result for path, result in replay.outputs.items() if path not in fp32}
    return overflows(autocast, ids), list(ids[undecided]), list(ids[flipped])


def main():
    numpy.seterr(over="ignore", invalid="ignore")
    weights = {n: t.numpy() for n, t in torch.jit.load(os.path.join(HERE, "model.ts")).state_dict().items()}
    with open(os.path.join(HERE, "demo.json"), encoding="utf-8") as file:
        cure = json.load(file)["cure"]
    with h5py.File(os.path.join(HERE, "inputs.h5")) as file:
        tokens, reference, ids = file["tokens"][:], file["expected/output"][:], file["sample_ids"].asstr()[:]
    difference = numpy.abs(Replay(weights, reference=True)(tokens) - reference).max()
    if difference > 1e-3:
        sys.exit(f"numpy's FP32 scores differ from the saved ones by {difference}")
    for wide in (numpy.float64, numpy.float32):
        broken, undecided, flipped = findings(weights, tokens, ids, reference, (), wide)
        print(f"FP16, sums in {wide.__name__}: overflow {broken}, no decision {undecided}, flips {flipped}")
        if list(broken) != cure or broken[cure[0]] != undecided or not 2 <= len(undecided) <= 5 or flipped:
            sys.exit("that is not what the demo is there to show")
        cured = findings(weights, tokens, ids, reference, cure, wide)
        print(f"with {cure} in FP32: overflow {cured[0]}, no decision {cured[1]}, flips {cured[2]}")
        if cured != ({}, [], []):
            sys.exit("the cure does not cure")


if __name__ == "__main__":
    main()
