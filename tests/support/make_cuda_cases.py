#!/usr/bin/env python3
"""Writes the CUDA autocast cases that the emulator is held against: make_cuda_cases.py OUTFILE

OUTFILE is JSON, {"cases": [...], "left_out": [...]}; cuda_cases/table.py says what an entry has."""
import json
import os
import sys
import warnings

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cuda_cases.elementwise import binary, ternary, unary  # noqa: E402
from cuda_cases.fills_and_casts import casts, factories, fills, in_place  # noqa: E402
from cuda_cases.indexing import indexing, joining, orders, views  # noqa: E402
from cuda_cases.losses_and_layers import composed, losses, pools, recurrent  # noqa: E402
from cuda_cases.products import convolutions, products  # noqa: E402
from cuda_cases.reductions import normalizations, reductions, softmaxes  # noqa: E402
from cuda_cases.table import Table  # noqa: E402

FAMILIES = (unary, binary, ternary, reductions, softmaxes, normalizations, products, convolutions, pools, joining, indexing,
            fills, orders, in_place, factories, casts, losses, recurrent, views, composed)


def main(arguments):
    if len(arguments) != 2:
        sys.exit("usage: make_cuda_cases.py OUTFILE")
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    table = Table()
    for family in FAMILIES:
        family(table)
    with open(arguments[1], "w") as out:
        json.dump({"cases": table.cases, "left_out": table.left_out}, out, indent=1)
    summary(table)


def summary(table):
    counts = {}
    for case in table.cases:
        counts[case["family"]] = counts.get(case["family"], 0) + 1
    for family, count in counts.items():
        print(f"{family:14} {count}", file=sys.stderr)
    refused = sum(case["raises"] is not None for case in table.cases)
    valued = sum(case["values"] is not None for case in table.cases)
    print(f"{len(table.cases)} cases, {valued} with values, {refused} raise, {len(table.left_out)} left out", file=sys.stderr)
    for case in table.left_out:
        print(f"left out: {case['name']}: {case['why']}", file=sys.stderr)


if __name__ == "__main__":
    main(sys.argv)
