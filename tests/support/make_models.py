#!/usr/bin/env python3
"""Writes the model fixtures of the tests: make_models.py OUTDIR

Each fixture is a folder OUTDIR/<name> with model.ts, inputs.pt (a TorchScript holder whose buffers are named as forward's
arguments), inputs.h5 (the same tensors for HDF5 readers) and expected.json (see README.md beside this file).
"""
import os
import sys
import warnings

import numpy
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from fixtures import axes, field_reports, fused, kinds, lockstep, lost_values, observed, odd, ordinary, reported, scan, training  # noqa: E402


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: make_models.py OUTDIR")
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")  # tracing checks and unused constants inside torchvision's and PyTorch's own code
    numpy.seterr(over="ignore", invalid="ignore", divide="ignore")
    for kind in (ordinary, reported, field_reports, lost_values, odd, axes, lockstep, observed, kinds, fused, scan, training):
        for make in kind.MAKERS:
            make(arguments[1])


if __name__ == "__main__":
    main(sys.argv)
