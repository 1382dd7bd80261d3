#!/usr/bin/env python3
"""Holds a scan of the demo `digits` against numpy: check_scan.py SCAN.json DEMO_FOLDER

x(t) is worked out here in float64 and rounded once; the scores are those of the demo's own forward pass in numpy (network.py), FP32 and
BF16 autocast, with sums in float64. Kernels sum in another order, so FP32 scores may differ by their last bits and a rounding to bfloat16
may go the other way. Exit 1 with what differs.
"""
import json
import os
import sys

import h5py
import numpy
import torch


def main(scan_path, demo):
    sys.path.insert(0, demo)
    from network import exactly, forward
    with open(scan_path, encoding="utf-8") as file:
        scan = json.load(file)
    weights = {name: tensor.numpy() for name, tensor in torch.jit.load(os.path.join(demo, "model.ts")).state_dict().items()}
    with h5py.File(os.path.join(demo, "inputs.h5")) as file:
        ids, images = list(file["sample_ids"].asstr()[:]), file["image"][:]
    a, b = (images[ids.index(sample)].astype(numpy.float64) for sample in scan["sample_ids"])

    def scores(ts):
        x = (a + numpy.asarray(ts, numpy.float64)[:, None, None, None] * (b - a)).astype(numpy.float32)
        return forward(x, weights, exactly), forward(x, weights)

    points = scan["samples"] + scan["refined"]
    reference, candidate = scores([point["t"] for point in points])
    told = [numpy.array([point[key] for point in points]) for key in ("reference_scores", "candidate_scores")]
    worst = numpy.abs(told[0] - reference).max()
    assert worst < 1e-4, f"FP32 scores differ by {worst}"
    step = 2.0 ** -7 * numpy.abs(candidate).max()  # of bfloat16, at the largest score
    assert numpy.abs(told[1] - candidate).max() <= step, f"BF16 scores differ by {numpy.abs(told[1] - candidate).max()}, a step is {step}"
    same = (told[1] == candidate).mean()
    assert same > 0.95, f"only {same} of the BF16 scores are numpy's"
    for point, scored in zip(points, reference):
        order = numpy.sort(scored)
        if order[-1] - order[-2] > 1e-4:
            assert point["reference"] == scored.argmax(), f"FP32 decides otherwise at {point['t']}"
        assert abs(point["reference_margin"] - (order[-1] - order[-2])) < 2e-4, f"FP32's margin is another at {point['t']}"
    assert scan["crossings"]["reference"] and scan["crossings"]["candidate"], "nothing crosses"
    for run, rows in (("reference", 0), ("candidate", 1)):
        for crossing in scan["details"]["crossings"][run]:
            assert numpy.nextafter(numpy.float32(crossing["before"]), numpy.float32(1)) == numpy.float32(crossing["t"]), "not the last step"
            there = scores([crossing["t"]])[rows][0]
            gap = abs(there[crossing["from"]] - there[crossing["to"]])
            assert gap <= (1e-4, step)[rows], f"{run}: the two scores are {gap} apart where it crosses"
    at = numpy.linspace(0, 1, scan["steps"]).astype(numpy.float32)
    assert [point["t"] for point in scan["samples"]] == [float(t) for t in at], "another grid"


if __name__ == "__main__":
    main(*sys.argv[1:])
