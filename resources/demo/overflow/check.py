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
sys.path.insert(0, os.path.dirname(HERE))
import replay as shared  # noqa: E402


def first_overflow(outputs, ids):
    """The first linear layer whose result leaves FP16; no sample's peak may come within 1 % of the limit."""
    first = None
    for path, result in outputs.items():
        peak = numpy.abs(result).reshape(len(result), -1).max(1) / shared.HALF_OVERFLOW
        if ((peak > 0.99) & (peak < 1.01)).any():
            sys.exit(f"{path}: {peak} of the limit is too close to it")
        if (peak >= 1).any() and first is None:
            values = shared.kinds(shared.round_half(result[peak >= 1]))
            first = {"op": "aten::linear", "module": path, "samples": list(ids[peak >= 1]), "values": values}
    return first


def finding(weights, tokens, ids, reference, fp32, wide):
    replay = Replay(weights, fp32=fp32, wide=wide)
    scores = replay(tokens)
    undecided = numpy.isnan(scores).any(1)
    before, after = reference.argmax(1), scores.argmax(1)
    flips = {ids[i]: [int(before[i]), int(after[i])] for i in numpy.flatnonzero((before != after) & ~undecided)}
    autocast = {path: result for path, result in replay.outputs.items() if path not in fp32}
    return {"first_nonfinite": first_overflow(autocast, ids), "flips": flips, "no_decision": list(ids[undecided]),
            "nonfinite_samples": list(ids[~numpy.isfinite(scores).all(1)])}


def main():
    numpy.seterr(over="ignore", invalid="ignore")
    weights = {n: t.numpy() for n, t in torch.jit.load(os.path.join(HERE, "model.ts")).state_dict().items()}
    with open(os.path.join(HERE, "demo.json"), encoding="utf-8") as file:
        says = json.load(file)
    with h5py.File(os.path.join(HERE, "inputs.h5")) as file:
        tokens, reference, ids = file["tokens"][:], file["expected/output"][:], file["sample_ids"].asstr()[:]
    difference = numpy.abs(Replay(weights, reference=True)(tokens) - reference).max()
    if difference > 1e-3:
        sys.exit(f"numpy's FP32 scores differ from the saved ones by {difference}")
    for wide in (numpy.float64, numpy.float32):
        found = finding(weights, tokens, ids, reference, (), wide)
        print(f"FP16, sums in {wide.__name__}: {json.dumps(found)}")
        shared.hold(says, found)
        cured = finding(weights, tokens, ids, reference, says["cure"], wide)
        if not shared.is_clean(cured):
            sys.exit(f"the cure does not cure: {json.dumps(cured)}")
        print(f"with {says['cure']} in FP32: clean")


if __name__ == "__main__":
    main()
